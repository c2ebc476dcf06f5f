// SPDX-License-Identifier: Apache-2.0
// tt.dot by multiply-adds, for encodings without a matrix unit: each thread computes its elements of the result alone.
// The operands' encodings (dot_op of the result's) give it the rows of a and the columns of b that these need. It has
// all of K in its registers. Narrow floats are multiplied and summed in f32, integers in the result's type.
//
// Dots of a block that share operands go through K together, as the four of a product of complex numbers. What a thread
// reads of an operand then serves all of them at once. One after the other, the first would leave all of K in registers
// for the next. A dot that adds to the sums of another one adds to them as these come, in another order.
#include "compiler/lowering/dots.h"

#include "compiler/lowering/elementwise.h"
#include "compiler/lowering/float_format.h"

namespace tritond::compiler {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

RegisterAt RegistersByCoordinates(const LinearLayout& layout) {
  RegisterAt at;
  for (int r = 0; r < layout.InSize("register"); ++r) at.try_emplace(layout.ApplyNamed({{"register", r}}), r);
  return at;
}

mlir::Type DotAccumulatorType(mlir::OpBuilder& b, mlir::Type result) {
  return result.isF16() || result.isBF16() ? mlir::Type(b.getF32Type()) : result;
}

Value WidenForDot(Emitter& e, Value x, mlir::Type element, mlir::Type sum) {
  if (auto narrow = llvm::dyn_cast<mlir::FloatType>(element)) {
    if (narrow.getWidth() == 8) x = DecodeFloat(e, FloatFormat::Of(narrow), x);
    return x.getType() == sum ? x : Value(LLVM::FPExtOp::create(e.b, e.loc, sum, x));
  }
  return x.getType() == sum ? x : Value(LLVM::SExtOp::create(e.b, e.loc, sum, x));
}

Value NarrowDotAccumulator(Emitter& e, Value sum, mlir::Type result) {
  return llvm::isa<mlir::FloatType>(result) ? TruncFromF32(e, sum, result) : sum;
}

namespace {

// More multiply-adds than this in one thread would take minutes to compile; ttg-tile-dots makes loops of them.
constexpr int64_t kMaxMultiplyAdds = 1 << 12;

// Whether the threads of `operand` and `result` lie alike in the dimension that they share.
bool SameThreads(const LinearLayout& operand, const LinearLayout& result, absl::string_view dim) {
  for (const char* in : {"lane", "warp"})
    for (int bit = 0; bit < result.InBits(in); ++bit)
      if (operand.Basis(in, bit, dim) != result.Basis(in, bit, dim)) return false;
  return true;
}

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

LogicalResult CheckMultiplyAdds(FunctionLowering& f, tt::DotOp op) {
  RankedTensorType type_a = TypeOf(op.getA()), type_b = TypeOf(op.getB()), type = TypeOf(op);
  const LinearLayout a = f.LayoutOf(type_a), b = f.LayoutOf(type_b), c = f.LayoutOf(type);
  int rank = type.getRank(), m = rank - 2, n = rank - 1;
  auto names = ttg::DimNames(rank);
  bool aligned = a.IsZero({"lane", "warp"}, {names[n]}) && b.IsZero({"lane", "warp"}, {names[m]}) &&
                 SameThreads(a, c, names[m]) && SameThreads(b, c, names[n]);
  if (rank == 3) aligned = aligned && SameThreads(a, c, names[0]) && SameThreads(b, c, names[0]);
  if (!aligned) return op.emitOpError("has operand encodings that are not dot_op of its result's");
  int64_t count = type_a.getDimSize(n) * c.InSize("register");
  if (count > kMaxMultiplyAdds)
    return op.emitOpError() << "takes " << count << " multiply-adds a thread without a matrix unit; at most "
                            << kMaxMultiplyAdds << " are supported";
  return mlir::success();
}

// `first` and the dots after it that go through K with it: those of the same types whose operands are there, one of
// which another of them has, too. Only such a dot may see the sums that it adds to.
llvm::SmallVector<tt::DotOp> Together(FunctionLowering& f, tt::DotOp first) {
  const mlir::Type element = first.getType().getElementType();
  const bool goes_on = DotAccumulatorType(f.e.b, element) == element;
  llvm::SetVector<mlir::Operation*> together;
  together.insert(first);
  const auto joins = [&](tt::DotOp dot) {
    if (f.Has(dot) || dot->getOperandTypes() != first->getOperandTypes()) return false;
    if (!f.Has(dot.getA()) || !f.Has(dot.getB())) return false;
    mlir::Operation* sum = dot.getC().getDefiningOp();
    if (!f.Has(dot.getC()) && !(goes_on && together.contains(sum) && dot.getC().hasOneUse())) return false;
    return llvm::any_of(together, [&](mlir::Operation* other) {
      return llvm::cast<tt::DotOp>(other).getA() == dot.getA() || llvm::cast<tt::DotOp>(other).getB() == dot.getB();
    });
  };
  for (size_t before = 0; before != together.size();) {
    before = together.size();
    for (mlir::Operation* op = first; op; op = op->getNextNode())
      if (auto dot = llvm::dyn_cast<tt::DotOp>(op); dot && joins(dot)) together.insert(dot);
  }
  return llvm::map_to_vector(together, [](mlir::Operation* op) { return llvm::cast<tt::DotOp>(op); });
}

LogicalResult LowerDot(FunctionLowering& f, tt::DotOp op) {
  Emitter& e = f.e;
  if (f.Has(op)) return mlir::success();  // beside one before it
  RankedTensorType type_a = TypeOf(op.getA()), type_b = TypeOf(op.getB()), type = TypeOf(op);
  auto sum_float = llvm::dyn_cast<mlir::FloatType>(type.getElementType());
  if (sum_float && sum_float.getWidth() == 8) return op.emitOpError() << "accumulates in 8-bit floats: " << type;
  for (RankedTensorType operand : {type_a, type_b})
    if (operand.getElementTypeBitWidth() > DotAccumulatorType(e.b, type.getElementType()).getIntOrFloatBitWidth())
      return op.emitOpError() << "accumulates in fewer bits than its operands have: " << operand << " in " << type;
  if (auto instruction = f.target.FindMatrixInstruction(op)) return LowerMatrixDot(f, op, *instruction);
  if (failed(CheckMultiplyAdds(f, op))) return mlir::failure();
  const LinearLayout& c = f.LayoutOf(type);
  const int rank = type.getRank(), m = rank - 2, n = rank - 1;
  const RegisterAt at_a = RegistersByCoordinates(f.LayoutOf(type_a)), at_b = RegistersByCoordinates(f.LayoutOf(type_b));
  mlir::Type sum_type = DotAccumulatorType(e.b, type.getElementType());
  bool is_float = llvm::isa<mlir::FloatType>(sum_type);
  llvm::MapVector<Value, Values> wide, sums;  // by operand, and by the first of the dots that share them
  const auto widen = [&](Value operand) {
    if (Values& values = wide[operand]; values.empty())
      for (Value x : f.Get(operand)) values.push_back(WidenForDot(e, x, TypeOf(operand).getElementType(), sum_type));
  };
  const llvm::SmallVector<tt::DotOp> dots = Together(f, op);
  llvm::DenseMap<Value, Value> sum_of;
  for (tt::DotOp dot : dots) {
    widen(dot.getA());
    widen(dot.getB());
    if (!f.Has(dot.getC())) {
      sum_of[dot] = sum_of.at(dot.getC());
      continue;
    }
    sum_of[dot] = dot;
    for (Value initial : f.Get(dot.getC()))
      sums[dot].push_back(is_float ? WidenForDot(e, initial, type.getElementType(), sum_type) : initial);
  }
  // One k after another: what has been read of the operands is used up before more is needed.
  for (int32_t k = 0; k < type_a.getDimSize(n); ++k) {
    for (tt::DotOp dot : dots) {
      for (auto [r, sum] : llvm::enumerate(sums[sum_of.at(dot)])) {
        Coordinates row = c.ApplyNamed({{"register", static_cast<int32_t>(r)}}), column(row);
        row[n] = k;
        column[m] = k;
        Value x = wide[dot.getA()][at_a.at(row)], y = wide[dot.getB()][at_b.at(column)];
        sum = is_float ? Value(LLVM::FMAOp::create(e.b, e.loc, x, y, sum))
                       : Value(LLVM::AddOp::create(e.b, e.loc, LLVM::MulOp::create(e.b, e.loc, x, y), sum));
      }
    }
  }
  for (tt::DotOp dot : dots) {
    Values results;
    for (Value sum : sums[sum_of.at(dot)]) results.push_back(NarrowDotAccumulator(e, sum, type.getElementType()));
    f.Set(dot, results);
  }
  return mlir::success();
}

}  // namespace

void AddDots(LoweringTable& table) {
  table.Add<tt::DotOp>(LowerDot);
  table.Add<tt::DotScaledOp>(LowerScaledDot);
}

}  // namespace tritond::compiler
