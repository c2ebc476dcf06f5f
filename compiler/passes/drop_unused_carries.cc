// SPDX-License-Identifier: Apache-2.0
// Drops what a loop carries from iteration to iteration and nothing needs. The canonicaliser sees that only where the
// loop gives the value back as it is. Not where the body computes the next one, or a branch chooses it:
//
//   %r:2 = scf.for … iter_args(%a = %x, %s = %y) {       %r:2 = scf.for … iter_args(%a = %x, %s = %y) {
//     %b:2 = scf.if %c -> … {                              %b:2 = scf.if %c -> … {
//       scf.yield %n, %t                            ->       scf.yield %n, %t
//     } else {                                             } else {
//       scf.yield %a, %s                                     scf.yield %a, %s
//     }                                                    }
//     scf.yield %b#0, %b#1                                 scf.yield %b#0, %s
//   }                                                    }
//   use %r#0                                             use %r#0
//
// The canonicaliser does the rest. A value is needed if an operation with effects uses it, or one whose results are
// needed. Values that loops and branches pass on are followed one by one.
#include "compiler/passes/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_DROPUNUSEDCARRIESPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;
using mlir::scf::IfOp;

// The values of a function that something needs.
class NeededValues final {
 public:
  explicit NeededValues(Operation* function) {
    function->walk([&](Operation* op) {
      const bool passes_on = llvm::isa<mlir::scf::YieldOp>(op) && llvm::isa<ForOp, IfOp>(op->getParentOp());
      if (auto loop = llvm::dyn_cast<ForOp>(op)) {
        for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) Need(bound);
      } else if (auto branch = llvm::dyn_cast<IfOp>(op)) {
        Need(branch.getCondition());
      } else if (!passes_on && !mlir::wouldOpBeTriviallyDead(op)) {
        for (Value operand : op->getOperands()) Need(operand);
      }
    });
    while (!pending_.empty()) Follow(pending_.pop_back_val());
  }

  bool Has(Value value) const { return needed_.contains(value); }

 private:
  void Need(Value value) {
    if (needed_.insert(value).second) pending_.push_back(value);
  }

  void NeedCarried(ForOp loop, unsigned index) {
    Need(loop.getRegionIterArg(index));
    Need(loop.getInitArgs()[index]);
    Need(loop.getYieldedValues()[index]);
  }

  void Follow(Value value) {
    if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
      auto loop = llvm::dyn_cast<ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument != loop.getInductionVar()) NeedCarried(loop, argument.getArgNumber() - 1);
      return;
    }
    Operation* op = value.getDefiningOp();
    const unsigned index = llvm::cast<mlir::OpResult>(value).getResultNumber();
    if (auto loop = llvm::dyn_cast<ForOp>(op)) return NeedCarried(loop, index);
    if (auto branch = llvm::dyn_cast<IfOp>(op)) {
      for (mlir::scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) Need(yield.getOperand(index));
      return;
    }
    for (Value operand : op->getOperands()) Need(operand);
  }

  llvm::DenseSet<Value> needed_;
  llvm::SmallVector<Value> pending_;
};

class DropUnusedCarriesPass : public impl::DropUnusedCarriesPassBase<DropUnusedCarriesPass> {
  void runOnOperation() override {
    const NeededValues needed(getOperation());
    getOperation().walk([&](ForOp loop) {
      mlir::MutableOperandRange yielded =
          llvm::cast<mlir::scf::YieldOp>(loop.getBody()->getTerminator()).getResultsMutable();
      for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
        if (!needed.Has(argument) && !needed.Has(loop.getResult(index))) yielded[index].set(argument);
    });
  }
};

}  // namespace
}  // namespace tritond::compiler
