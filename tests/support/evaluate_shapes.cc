// SPDX-License-Identifier: Apache-2.0
// Operations that move elements or count them: each is a function from a result's coordinates to an operand's.
#include "compiler/ir/tt_dialect.h"
#include "tests/support/evaluation.h"

namespace tritond::tests {
namespace {

using mlir::Operation;

mlir::Type ResultType(Operation* op) { return op->getResult(0).getType(); }

int64_t Flat(llvm::ArrayRef<int64_t> at, llvm::ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [index, size] : llvm::zip(at, shape)) flat = flat * size + index;
  return flat;
}

Data Splat(Evaluation&, Operation* op, Operands x) {
  return {MakeDatum(ResultType(op), [&](int64_t) { return x[0]->elements[0]; })};
}

// The elements in their order, under another shape.
Data Keep(Evaluation&, Operation* op, Operands x) { return {Datum{ResultType(op), x[0]->elements}}; }

Data Broadcast(Evaluation&, Operation* op, Operands x) {
  llvm::ArrayRef<int64_t> from = ShapeOf(x[0]->type), to = ShapeOf(ResultType(op));
  return {MakeDatum(ResultType(op), [&](int64_t i) {
    std::vector<int64_t> at = CoordinatesOf(i, to);
    for (size_t dim = 0; dim < at.size(); ++dim)
      if (from[dim] == 1) at[dim] = 0;
    return x[0]->elements[Flat(at, from)];
  })};
}

Data Trans(Evaluation&, Operation* op, Operands x) {
  llvm::ArrayRef<int32_t> order = llvm::cast<tt::TransOp>(op).getOrder();
  llvm::ArrayRef<int64_t> from = ShapeOf(x[0]->type), to = ShapeOf(ResultType(op));
  return {MakeDatum(ResultType(op), [&](int64_t i) {
    std::vector<int64_t> at = CoordinatesOf(i, to), source(at.size());
    for (size_t dim = 0; dim < at.size(); ++dim) source[order[dim]] = at[dim];
    return x[0]->elements[Flat(source, from)];
  })};
}

Data Join(Evaluation&, Operation* op, Operands x) {
  return {MakeDatum(ResultType(op), [&](int64_t i) { return x[i % 2]->elements[i / 2]; })};
}

Data Split(Evaluation&, Operation* op, Operands x) {
  auto half = [&](int which) {
    return MakeDatum(ResultType(op), [&](int64_t i) { return x[0]->elements[2 * i + which]; });
  };
  return {half(0), half(1)};
}

// The order of the result is open; this is one of the allowed ones.
Data Cat(Evaluation&, Operation* op, Operands x) {
  int64_t half = x[0]->elements.size();
  return {
      MakeDatum(ResultType(op), [&](int64_t i) { return i < half ? x[0]->elements[i] : x[1]->elements[i - half]; })};
}

Data MakeRange(Evaluation&, Operation* op, Operands) {
  uint32_t start = llvm::cast<tt::MakeRangeOp>(op).getStart();
  return {MakeDatum(ResultType(op), [&](int64_t i) { return Element{static_cast<uint32_t>(start + i)}; })};
}

// An index outside the source gives nothing that is defined.
Data Gather(Evaluation&, Operation* op, Operands x) {
  uint32_t axis = llvm::cast<tt::GatherOp>(op).getAxis();
  llvm::ArrayRef<int64_t> from = ShapeOf(x[0]->type), to = ShapeOf(ResultType(op));
  unsigned width = WidthOf(tt::ElementOf(x[1]->type));
  return {MakeDatum(ResultType(op), [&](int64_t i) {
    Element index = x[1]->elements[i];
    int64_t position = SignedOf(index, width);
    if (index.poison || position < 0 || position >= from[axis]) return Element::Poison();
    std::vector<int64_t> at = CoordinatesOf(i, to);
    at[axis] = position;
    return x[0]->elements[Flat(at, from)];
  })};
}

Data Histogram(Evaluation& e, Operation* op, Operands x) {
  std::vector<uint64_t> counts(CountOf(ResultType(op)));
  for (size_t i = 0; i < x[0]->elements.size(); ++i) {
    Element mask = x.size() > 1 ? x[1]->elements[i] : Element{1}, value = x[0]->elements[i];
    if (mask.poison || (mask.bits && value.poison)) e.Fail(op, "an undefined value is counted");
    if (mask.bits && value.bits < counts.size()) ++counts[value.bits];
  }
  return {MakeDatum(ResultType(op), [&](int64_t i) { return Element{counts[i]}; })};
}

}  // namespace

void AddShapes(HandlerTable& table) {
  table["tt.splat"] = Splat;
  table["tt.unsplat"] = table["tt.expand_dims"] = table["tt.reshape"] = Keep;
  table["tt.broadcast"] = Broadcast;
  table["tt.trans"] = Trans;
  table["tt.join"] = Join;
  table["tt.split"] = Split;
  table["tt.cat"] = Cat;
  table["tt.make_range"] = MakeRange;
  table["tt.gather"] = Gather;
  table["tt.histogram"] = Histogram;
  // Where elements lie does not matter here, only what they are.
  table["ttg.convert_layout"] = Keep;
}

}  // namespace tritond::tests
