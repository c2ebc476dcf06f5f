// SPDX-License-Identifier: Apache-2.0
// The scale of scores, as attention has it: a number that multiplies a tensor whose maxima and differences are needed.
#ifndef COMPILER_DOTS_SCORE_SCALE_H_
#define COMPILER_DOTS_SCORE_SCALE_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

namespace arith = mlir::arith;

// product = scores * splat(scale).
struct ScaledScores {
  arith::MulFOp product;
  mlir::Value scores;
  mlir::Value scale;  // a scalar, or a constant tensor of equal elements

  // Nullopt if `value` is no such product.
  static std::optional<ScaledScores> Of(mlir::Value value);
  bool HasPositiveConstant() const;
  // Whether the scale is known to be no negative number. It may be NaN.
  bool IsNeverNegative() const;
  // The scale as a scalar, made where it is a constant tensor.
  mlir::Value Scalar(mlir::OpBuilder& b) const;
};

// Whether it gives the greatest float along its axis.
bool IsMaximum(tt::ReduceOp reduce);

// The maxima along an axis of `value`, where everything else that needs it adds to it or subtracts. Such sums become
// multiply-adds if `value` is a product. Nullopt where something else needs it.
std::optional<llvm::SmallVector<tt::ReduceOp>> MaximaOf(mlir::Value value);

// Multiplies `value`, a tensor or a scalar, by `scale`.
mlir::Value Scale(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Value scale);

// max(x * scale) = max(x) * scale, for scales that are not negative: products are rounded, but keep their order. Gives
// all that needs the maximum its product by `scale`.
void ScaleMaximum(tt::ReduceOp maximum, mlir::Value scale);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_SCORE_SCALE_H_
