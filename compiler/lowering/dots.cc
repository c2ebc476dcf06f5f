// SPDX-License-Identifier: Apache-2.0
// tt.dot by multiply-adds, for encodings without a matrix unit: each thread computes its elements of the result alone.
// The operands' encodings (dot_op of the result's) give it the rows of a and the columns of b that these need. It has
// all of K in its registers. Narrow floats are multiplied and summed in f32, integers in the result's type.
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

LogicalResult LowerDot(FunctionLowering& f, tt::DotOp op) {
  Emitter& e = f.e;
  auto type_a = llvm::cast<RankedTensorType>(op.getA().getType()),
       type_b = llvm::cast<RankedTensorType>(op.getB().getType());
  auto type = llvm::cast<RankedTensorType>(op.getType());
  auto sum_float = llvm::dyn_cast<mlir::FloatType>(type.getElementType());
  if (sum_float && sum_float.getWidth() == 8) return op.emitOpError() << "accumulates in 8-bit floats: " << type;
  for (RankedTensorType operand : {type_a, type_b})
    if (operand.getElementTypeBitWidth() > DotAccumulatorType(e.b, type.getElementType()).getIntOrFloatBitWidth())
      return op.emitOpError() << "accumulates in fewer bits than its operands have: " << operand << " in " << type;
  if (auto instruction = f.target.FindMatrixInstruction(op)) return LowerMatrixDot(f, op, *instruction);
  const LinearLayout a = f.LayoutOf(type_a), b = f.LayoutOf(type_b), c = f.LayoutOf(type);
  int rank = type.getRank(), m = rank - 2, n = rank - 1;
  auto names = ttg::DimNames(rank);
  bool aligned = a.IsZero({"lane", "warp"}, {names[n]}) && b.IsZero({"lane", "warp"}, {names[m]}) &&
                 SameThreads(a, c, names[m]) && SameThreads(b, c, names[n]);
  if (rank == 3) aligned = aligned && SameThreads(a, c, names[0]) && SameThreads(b, c, names[0]);
  if (!aligned) return op.emitOpError("has operand encodings that are not dot_op of its result's");
  int64_t k_size = type_a.getDimSize(n), count = k_size * c.InSize("register");
  if (count > kMaxMultiplyAdds)
    return op.emitOpError() << "takes " << count << " multiply-adds a thread without a matrix unit; at most "
                            << kMaxMultiplyAdds << " are supported";
  RegisterAt at_a = RegistersByCoordinates(a), at_b = RegistersByCoordinates(b);
  mlir::Type sum_type = DotAccumulatorType(e.b, type.getElementType());
  auto widen_all = [&](Value operand, mlir::Type element) {
    Values wide;
    for (Value x : f.Get(operand)) wide.push_back(WidenForDot(e, x, element, sum_type));
    return wide;
  };
  Values wide_a = widen_all(op.getA(), type_a.getElementType()), wide_b = widen_all(op.getB(), type_b.getElementType());
  bool is_float = llvm::isa<mlir::FloatType>(sum_type);
  Values accumulators;
  for (Value initial : f.Get(op.getC()))
    accumulators.push_back(is_float ? WidenForDot(e, initial, type.getElementType(), sum_type) : initial);
  // One k after another: what has been read of the operands is used up before more is needed.
  for (int32_t k = 0; k < k_size; ++k) {
    for (auto [r, sum] : llvm::enumerate(accumulators)) {
      Coordinates row = c.ApplyNamed({{"register", static_cast<int32_t>(r)}}), column(row);
      row[n] = k;
      column[m] = k;
      Value x = wide_a[at_a.at(row)], y = wide_b[at_b.at(column)];
      sum = is_float ? Value(LLVM::FMAOp::create(e.b, e.loc, x, y, sum))
                     : Value(LLVM::AddOp::create(e.b, e.loc, LLVM::MulOp::create(e.b, e.loc, x, y), sum));
    }
  }
  Values results;
  for (Value sum : accumulators) results.push_back(NarrowDotAccumulator(e, sum, type.getElementType()));
  f.Set(op, results);
  return mlir::success();
}

}  // namespace

void AddDots(LoweringTable& table) {
  table.Add<tt::DotOp>(LowerDot);
  table.Add<tt::DotScaledOp>(LowerScaledDot);
}

}  // namespace tritond::compiler
