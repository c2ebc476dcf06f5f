// SPDX-License-Identifier: Apache-2.0
// Scales the maximum of a row rather than all that it is the maximum of:
//
//   %s = arith.mulf %x, splat(%c)                          %r = tt.reduce<maxnumf, axis 1>(%x)
//   %m = tt.reduce<maxnumf, axis 1>(%s)               ->   %m = arith.mulf %r, splat(%c)
//   %d = arith.subf %s, broadcast(%m)                      %s = arith.mulf %x, splat(%c)
//                                                          %d = arith.subf %s, broadcast(%m)
//
// Only sums need %s then, so that each product and its sum are one instruction. %c must not be negative. The scale of
// attention is an argument, whose sign nobody knows. There %x is a dot, and takes the sign: the operand that the loop
// does not change is multiplied by 1 or -1, once, and %c becomes its absolute value. Both are exact.
//
// Scores that a mask selects from get such a scale, too. passes/skip_full_masks.cc makes use of it.
#include "compiler/dots/score_scale.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SCALEMAXIMAPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

// Floats narrower than these cannot be multiplied.
constexpr unsigned kLeastWidth = 16;

// A dot's operand that `loop` does not change, and that threads have in registers.
bool TakesSign(Value operand, ForOp loop) {
  auto element = llvm::dyn_cast<mlir::FloatType>(tt::ElementOf(operand.getType()));
  return element && element.getWidth() >= kLeastWidth && loop.isDefinedOutsideOfLoop(operand) &&
         !operand.getDefiningOp<tt::DescriptorLoadOp>();
}

// The operands to multiply by a sign so that `scores` get it: one of each dot that adds to them. Empty: that is not
// possible.
llvm::SmallVector<mlir::OpOperand*> SignedOperands(Value scores, ForOp loop) {
  llvm::SmallVector<mlir::OpOperand*> operands;
  for (Value sum = scores; !mlir::matchPattern(sum, mlir::m_AnyZeroFloat());) {
    auto dot = sum.getDefiningOp<tt::DotOp>();
    if (!dot || !dot->hasOneUse() || dot->getParentOp() != loop) return {};
    const bool first = TakesSign(dot.getA(), loop);
    if (!first && !TakesSign(dot.getB(), loop)) return {};
    operands.push_back(first ? &dot.getAMutable() : &dot.getBMutable());
    sum = dot.getC();
  }
  return operands;
}

// Moves the sign of the scale to the operands of the dot; false where it cannot.
bool MakePositive(ScaledScores& scaled) {
  auto loop = llvm::dyn_cast<ForOp>(scaled.product->getParentOp());
  if (!loop || llvm::isa<RankedTensorType>(scaled.scale.getType()) || !loop.isDefinedOutsideOfLoop(scaled.scale))
    return false;
  llvm::SmallVector<mlir::OpOperand*> operands = SignedOperands(scaled.scores, loop);
  if (operands.empty()) return false;
  mlir::OpBuilder b(loop);
  mlir::Location loc = scaled.product.getLoc();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(scaled.scale.getType()));
  Value negative = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, scaled.scale, zero);
  for (mlir::OpOperand* operand : operands) {
    mlir::Type element = tt::ElementOf(operand->get().getType());
    auto number = [&](double value) { return arith::ConstantOp::create(b, loc, b.getFloatAttr(element, value)); };
    Value sign = arith::SelectOp::create(b, loc, negative, number(-1), number(1));
    operand->set(Scale(b, loc, operand->get(), sign));
  }
  scaled.scale = mlir::math::AbsFOp::create(b, loc, scaled.scale);
  b.setInsertionPoint(scaled.product);
  Value product = Scale(b, loc, scaled.scores, scaled.scale);
  scaled.product.replaceAllUsesWith(product);
  scaled.product.erase();
  scaled.product = product.getDefiningOp<arith::MulFOp>();
  return true;
}

// Selections from `product` by a mask, where nothing else needs it, and where their maxima and sums alone are needed.
bool HasMaskedMaxima(Value product) {
  return llvm::all_of(product.getUsers(), [&](mlir::Operation* user) {
    auto select = llvm::dyn_cast<arith::SelectOp>(user);
    if (!select || select.getTrueValue() != product) return false;
    auto maxima = MaximaOf(select);
    return maxima && !maxima->empty();
  });
}

void Visit(arith::MulFOp product) {
  std::optional<ScaledScores> scaled = ScaledScores::Of(product);
  if (!scaled || product->use_empty()) return;
  auto maxima = MaximaOf(product);
  const bool is_masked = !maxima && HasMaskedMaxima(product);
  if (!is_masked && (!maxima || maxima->empty())) return;
  if (!scaled->IsNeverNegative() && !MakePositive(*scaled)) return;
  if (is_masked) return;
  mlir::OpBuilder b(scaled->product);
  Value scale = scaled->Scalar(b);
  for (tt::ReduceOp maximum : *maxima) {
    maximum->setOperand(0, scaled->scores);
    ScaleMaximum(maximum, scale);
  }
}

class ScaleMaximaPass : public impl::ScaleMaximaPassBase<ScaleMaximaPass> {
  void runOnOperation() override {
    llvm::SmallVector<arith::MulFOp> products;
    getOperation().walk([&](arith::MulFOp product) { products.push_back(product); });
    for (arith::MulFOp product : products) Visit(product);
  }
};

}  // namespace
}  // namespace tritond::compiler
