// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/score_scale.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

std::optional<llvm::APFloat> ConstantOf(Value value) {
  llvm::APFloat number(0.0);
  if (mlir::matchPattern(value, mlir::m_ConstantFloat(&number))) return number;
  return std::nullopt;
}

// The scalar, or the constant tensor, whose copies make up `value`; null if there is none.
Value ScaleIn(Value value) {
  if (auto splat = value.getDefiningOp<tt::SplatOp>()) return splat.getSrc();
  return ConstantOf(value) ? value : Value();
}

}  // namespace

std::optional<ScaledScores> ScaledScores::Of(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !llvm::isa<RankedTensorType>(product.getType())) return std::nullopt;
  if (Value scale = ScaleIn(product.getRhs())) return ScaledScores{product, product.getLhs(), scale};
  if (Value scale = ScaleIn(product.getLhs())) return ScaledScores{product, product.getRhs(), scale};
  return std::nullopt;
}

bool ScaledScores::HasPositiveConstant() const {
  std::optional<llvm::APFloat> number = ConstantOf(scale);
  return number && number->isFiniteNonZero() && !number->isNegative();
}

bool ScaledScores::IsNeverNegative() const {
  return HasPositiveConstant() || scale.getDefiningOp<mlir::math::AbsFOp>();
}

Value ScaledScores::Scalar(mlir::OpBuilder& b) const {
  auto type = llvm::dyn_cast<RankedTensorType>(scale.getType());
  if (!type) return scale;
  auto number = b.getFloatAttr(type.getElementType(), *ConstantOf(scale));
  return arith::ConstantOp::create(b, scale.getLoc(), number);
}

bool IsMaximum(tt::ReduceOp reduce) {
  return reduce.getSrcs().size() == 1 &&
         llvm::isa_and_nonnull<arith::MaxNumFOp, arith::MaximumFOp>(reduce.SingleCombiner());
}

std::optional<llvm::SmallVector<tt::ReduceOp>> MaximaOf(Value value) {
  llvm::SmallVector<tt::ReduceOp> maxima;
  for (Operation* user : value.getUsers()) {
    if (llvm::isa<arith::AddFOp, arith::SubFOp>(user)) continue;
    auto reduce = llvm::dyn_cast<tt::ReduceOp>(user);
    if (!reduce || !IsMaximum(reduce)) return std::nullopt;
    maxima.push_back(reduce);
  }
  return maxima;
}

Value Scale(mlir::OpBuilder& b, mlir::Location loc, Value value, Value scale) {
  if (auto type = llvm::dyn_cast<RankedTensorType>(value.getType())) scale = tt::SplatOp::create(b, loc, type, scale);
  return arith::MulFOp::create(b, loc, value, scale);
}

void ScaleMaximum(tt::ReduceOp maximum, Value scale) {
  mlir::OpBuilder b(maximum.getContext());
  b.setInsertionPointAfter(maximum);
  Value result = maximum->getResult(0), scaled = Scale(b, maximum.getLoc(), result, scale);
  result.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
}

}  // namespace tritond::compiler
