// SPDX-License-Identifier: Apache-2.0
// Divides numbers of 32 bits in 32 bits where the program has made them longer before:
//
//   %i = arith.extsi %index : i32 to i64
//   %d = arith.extsi %width : i32 to i64        ->     %n = arith.remsi %index, %width : i32
//   %r = arith.remsi %i, %d : i64                      %r = arith.extsi %n : i32 to i64
//
// A division of 64 bits is a loop's worth of instructions. Both give the same number, unless the least one of 32 bits
// is divided by -1. So %index must not be negative. What a quotient or a remainder of such a number is divided by is
// divided in 32 bits, too: its magnitude is no larger.
#include "compiler/analysis/axis_info.h"
#include "compiler/ir/operands.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_NARROWQUOTIENTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;

constexpr unsigned kWide = 64, kNarrow = 32;
// Of shapes that are looked through.
constexpr int kMostDepth = 8;

bool ChangesShape(Operation* op) {
  return llvm::isa_and_present<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp>(op) && op->getDiscardableAttrs().empty();
}

class NarrowQuotientsPass : public impl::NarrowQuotientsPassBase<NarrowQuotientsPass> {
  // Whether `value`, of 64 bits, is a number of 32; one that is not the least of these, if it `has_magnitude`.
  bool IsNarrow(Value value, bool has_magnitude, int depth = 0) const {
    Operation* op = value.getDefiningOp();
    if (!op || depth > kMostDepth) return false;
    llvm::APInt constant;
    if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
      return constant.getSignificantBits() <= kNarrow && !(has_magnitude && constant.isNegative());
    if (ChangesShape(op)) return IsNarrow(op->getOperand(0), has_magnitude, depth + 1);
    auto extend = llvm::dyn_cast<arith::ExtSIOp>(op);
    if (!extend || !op->getDiscardableAttrs().empty()) return false;
    if (!tt::ElementOf(extend.getIn().getType()).isInteger(kNarrow)) return false;
    return !has_magnitude || quotients_.contains(value) || axes_->Get(extend.getIn()).non_negative;
  }

  // The same number in 32 bits, of what IsNarrow.
  static Value Narrowed(mlir::OpBuilder& b, Value value) {
    Operation* op = value.getDefiningOp();
    mlir::Type type = tt::WithElement(value.getType(), b.getI32Type());
    if (auto extend = llvm::dyn_cast<arith::ExtSIOp>(op)) return extend.getIn();
    if (!ChangesShape(op)) return arith::TruncIOp::create(b, value.getLoc(), type, value);
    mlir::OperationState state(op->getLoc(), op->getName(), Narrowed(b, op->getOperand(0)), type);
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return b.create(state)->getResult(0);
  }

  void runOnOperation() override {
    llvm::SmallVector<Operation*> divisions;
    getOperation().walk([&](Operation* op) {
      if (llvm::isa<arith::DivSIOp, arith::RemSIOp>(op) && tt::ElementOf(op->getResult(0).getType()).isInteger(kWide))
        divisions.push_back(op);
    });
    if (divisions.empty()) return;
    const AxisInfoAnalysis axes(getOperation());
    axes_ = &axes;
    for (Operation* op : divisions) {
      Value dividend = op->getOperand(0), divisor = op->getOperand(1);
      if (!op->getDiscardableAttrs().empty()) continue;
      if (!IsNarrow(dividend, /*has_magnitude=*/true) || !IsNarrow(divisor, /*has_magnitude=*/false)) continue;
      mlir::OpBuilder b(op);
      mlir::OperationState state(op->getLoc(), op->getName(), {Narrowed(b, dividend), Narrowed(b, divisor)},
                                 tt::WithElement(dividend.getType(), b.getI32Type()));
      Value narrow = b.create(state)->getResult(0);
      Value wide = arith::ExtSIOp::create(b, op->getLoc(), dividend.getType(), narrow);
      quotients_.insert(wide);
      op->getResult(0).replaceAllUsesWith(wide);
      replaced_.push_back(op);
    }
    for (Operation* op : llvm::reverse(replaced_)) op->erase();
    quotients_.clear();
    replaced_.clear();
    axes_ = nullptr;
  }

  const AxisInfoAnalysis* axes_ = nullptr;
  llvm::DenseSet<Value> quotients_;  // that are made, as numbers of 64 bits
  llvm::SmallVector<Operation*> replaced_;
};

}  // namespace
}  // namespace tritond::compiler
