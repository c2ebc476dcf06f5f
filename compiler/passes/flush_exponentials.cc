// SPDX-License-Identifier: Apache-2.0
// e^x is a product and a power of two. The device has an instruction for powers of two; but it flushes subnormal
// results to zero, or takes three more instructions not to. Nobody sees the difference in most programs:
//
//   %e = math.exp %x                       %p = arith.mulf %x, log2(e)
//   %s = arith.addf %e, dense<1.0>    ->   %e = math.exp2 %p
//                                          %s = arith.addf %e, dense<1.0>
//
// What may be flushed:
// - terms of a sum with a constant, which is so much greater that the sum is the same;
// - what becomes f16 or narrower, which have no such numbers;
// - operands of dots, and factors of these: what a dot makes of subnormal numbers depends on the device;
// - terms of a sum along an axis, if the greatest x of it has been subtracted. One term is e^0 then, or was in an
//   iteration before.
#include "compiler/dots/score_scale.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_FLUSHEXPONENTIALSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace math = mlir::math;
using mlir::Operation;
using mlir::Value;

constexpr float kLog2E = 1.44269504F;
// Of 24 binary digits, none is a subnormal number's.
constexpr float kLeastConstant = 0x1p-100F;

bool IsView(Operation* op) {
  return llvm::isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, tt::SplitOp, tt::JoinOp>(
      op);
}

// The tensor that `value` is made of: without scales, and without what masks put into it.
Value Unmasked(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (auto select = llvm::dyn_cast<arith::SelectOp>(op)) {
      const bool is_first_constant = mlir::matchPattern(select.getTrueValue(), mlir::m_Constant());
      value = is_first_constant ? select.getFalseValue() : select.getTrueValue();
    } else if (std::optional<ScaledScores> scaled = ScaledScores::Of(value)) {
      value = scaled->scores;
    } else {
      break;
    }
  }
  return value;
}

// Whether `value` is at least the maximum along an axis of `scores`.
bool IsMaximumOf(Value value, Value scores) {
  Operation* op = value.getDefiningOp();
  if (!op) return false;
  if (auto reduce = llvm::dyn_cast<tt::ReduceOp>(op))
    return IsMaximum(reduce) && Unmasked(reduce.getSrcs()[0]) == Unmasked(scores);
  if (llvm::isa<arith::MaxNumFOp, arith::MaximumFOp>(op))
    return IsMaximumOf(op->getOperand(0), scores) || IsMaximumOf(op->getOperand(1), scores);
  if (auto select = llvm::dyn_cast<arith::SelectOp>(op))
    return IsMaximumOf(select.getTrueValue(), scores) || IsMaximumOf(select.getFalseValue(), scores);
  if (auto product = llvm::dyn_cast<arith::MulFOp>(op))
    return IsMaximumOf(product.getLhs(), scores) || IsMaximumOf(product.getRhs(), scores);
  return IsView(op) && IsMaximumOf(op->getOperand(0), scores);
}

// Whether the greatest of them is zero, or was.
bool IsBelowMaximum(Value exponents) {
  if (std::optional<ScaledScores> scaled = ScaledScores::Of(exponents)) exponents = scaled->scores;
  auto difference = exponents.getDefiningOp<arith::SubFOp>();
  return difference && IsMaximumOf(difference.getRhs(), difference.getLhs());
}

bool FeedsDotsAlone(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [](mlir::OpOperand& use) {
    Operation* op = use.getOwner();
    if (auto dot = llvm::dyn_cast<tt::DotOpInterface>(op)) return use.get() != dot.getC();
    return (llvm::isa<arith::TruncFOp, arith::MulFOp>(op) || IsView(op)) &&
           llvm::all_of(op->getResults(), FeedsDotsAlone);
  });
}

bool MayFlush(Value value, bool is_below_maximum) {
  return llvm::all_of(value.getUses(), [&](mlir::OpOperand& use) {
    Operation* op = use.getOwner();
    if (llvm::isa<arith::AddFOp, arith::SubFOp>(op)) {
      llvm::APFloat number(0.0F);
      Value other = op->getOperand(1 - use.getOperandNumber());
      return mlir::matchPattern(other, mlir::m_ConstantFloat(&number)) &&
             std::abs(number.convertToFloat()) >= kLeastConstant;
    }
    if (auto narrow = llvm::dyn_cast<arith::TruncFOp>(op)) {
      auto type = llvm::cast<mlir::FloatType>(tt::ElementOf(narrow.getType()));
      return (type.getWidth() <= 16 && !type.isBF16()) || FeedsDotsAlone(narrow);
    }
    if (auto reduce = llvm::dyn_cast<tt::ReduceOp>(op))
      return is_below_maximum && llvm::isa_and_nonnull<arith::AddFOp>(reduce.SingleCombiner());
    if (auto dot = llvm::dyn_cast<tt::DotOpInterface>(op)) return use.get() != dot.getC();
    if (llvm::isa<arith::MulFOp>(op)) return FeedsDotsAlone(op->getResult(0));
    if (auto select = llvm::dyn_cast<arith::SelectOp>(op)) return MayFlush(select, is_below_maximum);
    return IsView(op) && llvm::all_of(op->getResults(), [&](Value view) { return MayFlush(view, is_below_maximum); });
  });
}

class FlushExponentialsPass : public impl::FlushExponentialsPassBase<FlushExponentialsPass> {
  void runOnOperation() override {
    llvm::SmallVector<math::ExpOp> powers;
    getOperation().walk([&](math::ExpOp power) {
      if (!tt::ElementOf(power.getType()).isF32() || power->use_empty()) return;
      if (MayFlush(power, IsBelowMaximum(power.getOperand()))) powers.push_back(power);
    });
    for (math::ExpOp power : powers) {
      mlir::OpBuilder b(power);
      mlir::Location loc = power.getLoc();
      Value log2e = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(kLog2E));
      Value exponent = Scale(b, loc, power.getOperand(), log2e);
      power.replaceAllUsesWith(math::Exp2Op::create(b, loc, exponent).getResult());
      power.erase();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
