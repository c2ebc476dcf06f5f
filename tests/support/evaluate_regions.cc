// SPDX-License-Identifier: Apache-2.0
// Operations with regions, and calls. Reductions and scans go through their axis one element after another; a region
// of scalars runs once for each element.
#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tests/support/evaluation.h"

namespace tritond::tests {
namespace {

using mlir::Operation;
namespace scf = mlir::scf;

Data Copies(Operands operands) {
  Data data;
  for (const Datum* operand : operands) data.push_back(*operand);
  return data;
}

Data For(Evaluation& e, Operation* op, Operands x) {
  auto loop = llvm::cast<scf::ForOp>(op);
  unsigned width = WidthOf(x[0]->type);
  int64_t values[3];
  for (int i = 0; i < 3; ++i) values[i] = SignedOf(Element{e.Steering(op, *x[i])}, width);
  auto [lower, upper, step] = values;
  mlir::Type type = x[0]->type;
  if (step <= 0) e.Fail(op, "a step must be positive");
  Data carried = Copies(x.drop_front(3));
  for (int64_t i = lower; i < upper && !e.failed(); i += step) {
    Data arguments = {Datum{type, {FromInt(llvm::APInt(64, i).trunc(width))}}};
    for (Datum& datum : carried) arguments.push_back(std::move(datum));
    carried = e.RunRegion(loop.getRegion(), std::move(arguments));
  }
  return carried;
}

Data If(Evaluation& e, Operation* op, Operands x) {
  auto branch = llvm::cast<scf::IfOp>(op);
  mlir::Region& region = e.Steering(op, *x[0]) ? branch.getThenRegion() : branch.getElseRegion();
  if (e.failed() || region.empty()) return {};
  return e.RunRegion(region, {});
}

Data While(Evaluation& e, Operation* op, Operands x) {
  auto loop = llvm::cast<scf::WhileOp>(op);
  Data carried = Copies(x);
  while (!e.failed()) {
    Data results = e.RunRegion(loop.getBefore(), std::move(carried));
    if (e.failed()) break;
    bool go_on = e.Steering(op, results[0]);
    results.erase(results.begin());
    if (!go_on) return results;
    carried = e.RunRegion(loop.getAfter(), std::move(results));
  }
  return {};
}

Data Call(Evaluation& e, Operation* op, Operands x) {
  auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(op, llvm::cast<tt::CallOp>(op).getCalleeAttr());
  if (!callee || callee.getBody().empty()) return e.Fail(op, "calls a function without a body"), Data();
  return e.RunFunction(callee.getBody(), Copies(x));
}

// The elements at `flat` of several operands, as scalars.
void AppendScalars(Data& scalars, Operands operands, int64_t flat) {
  for (const Datum* operand : operands) scalars.push_back({tt::ElementOf(operand->type), {operand->elements[flat]}});
}

// A way through a tensor: all lines along `axis`, as the place of their first element; neighbours lie `stride` apart.
struct Lines {
  Lines(llvm::ArrayRef<int64_t> shape, int64_t axis) : length(shape[axis]), stride(StridesOf(shape)[axis]) {
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    for (int64_t i = 0; i < count; ++i)
      if (i / stride % length == 0) first.push_back(i);
  }
  int64_t length, stride;
  std::vector<int64_t> first;
};

Data Reduce(Evaluation& e, Operation* op, Operands x) {
  auto reduce = llvm::cast<tt::ReduceOp>(op);
  Lines lines(ShapeOf(x[0]->type), reduce.getAxis());
  Data results;
  for (mlir::Type type : op->getResultTypes()) results.push_back({type, {}});
  for (int64_t first : lines.first) {
    Data running;
    AppendScalars(running, x, first);
    for (int64_t i = 1; i < lines.length && !e.failed(); ++i) {
      AppendScalars(running, x, first + i * lines.stride);
      running = e.RunRegion(reduce.getCombineOp(), std::move(running));
    }
    if (e.failed()) return {};
    for (auto [result, value] : llvm::zip(results, running)) result.elements.push_back(value.elements[0]);
  }
  return results;
}

Data Scan(Evaluation& e, Operation* op, Operands x) {
  auto scan = llvm::cast<tt::ScanOp>(op);
  Lines lines(ShapeOf(x[0]->type), scan.getAxis());
  Data results = Copies(x);
  for (int64_t first : lines.first) {
    Data running;
    for (int64_t i = 0; i < lines.length; ++i) {
      int64_t at = first + (scan.getReverse() ? lines.length - 1 - i : i) * lines.stride;
      AppendScalars(running, x, at);
      if (i > 0) running = e.RunRegion(scan.getCombineOp(), std::move(running));
      if (e.failed()) return {};
      for (auto [result, value] : llvm::zip(results, running)) result.elements[at] = value.elements[0];
    }
  }
  return results;
}

// `pack` neighbours of each operand at a time: all of the first operand's, then all of the second's.
Data MapElementwise(Evaluation& e, Operation* op, Operands x) {
  auto map = llvm::cast<tt::MapElementwiseOp>(op);
  int64_t pack = map.getPack();
  Data results;
  for (mlir::Type type : op->getResultTypes()) results.push_back({type, {}});
  for (int64_t i = 0; i < static_cast<int64_t>(x[0]->elements.size()); i += pack) {
    Data arguments;
    for (const Datum* operand : x)
      for (int64_t k = 0; k < pack; ++k) AppendScalars(arguments, operand, i + k);
    Data values = e.RunRegion(map.getScalarOp(), std::move(arguments));
    if (e.failed()) return {};
    for (size_t k = 0; k < values.size(); ++k) results[k / pack].elements.push_back(values[k].elements[0]);
  }
  return results;
}

}  // namespace

void AddRegions(HandlerTable& table) {
  table["scf.for"] = For;
  table["scf.if"] = If;
  table["scf.while"] = While;
  table["tt.call"] = Call;
  table["tt.reduce"] = Reduce;
  table["tt.scan"] = Scan;
  table["tt.map_elementwise"] = MapElementwise;
}

}  // namespace tritond::tests
