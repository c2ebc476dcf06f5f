// SPDX-License-Identifier: Apache-2.0
// Each value is what its operands make of it:
//
//   %range = make_range               the same in each iteration
//   %i1 = splat %i                    even: one number for all elements
//   %sum = %range + %i1               moved evenly: the sum of both kinds
//   %product = %sum * dense<5>        the same, for the factor is of the first two kinds
//   %remainder = %sum % dense<64>     neither: moved unevenly
#include "compiler/analysis/pointer_motion.h"

#include "compiler/analysis/pointer_distance.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Block;
using mlir::Operation;
using mlir::Value;

struct Motion {
  bool is_same = true;  // in each iteration
  bool is_even = true;  // of all elements
  bool is_moved_evenly = true;
};

Motion Both(const Motion& a, const Motion& b) {
  return {a.is_same && b.is_same, a.is_even && b.is_even, a.is_moved_evenly && b.is_moved_evenly};
}

class Motions final {
 public:
  Motion Of(Value value) {
    // What a loop carries depends on itself.
    const auto [found, is_new] = known_.try_emplace(value, Motion{false, false, true});
    if (!is_new) return found->second;
    Motion motion = Find(value);
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!type || type.getNumElements() == 1) motion = {motion.is_same, true, true};
    if (IsStill(value)) motion = {true, motion.is_even, true};
    return known_[value] = motion;
  }

 private:
  // The block alone tells whether a loop makes the value again.
  bool IsStill(Value value) {
    const auto [found, is_new] = still_.try_emplace(value.getParentBlock());
    if (is_new) found->second = IsFixed(value);
    return found->second;
  }

  Motion Find(Value value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) return OfCarried(argument);
    Operation* op = value.getDefiningOp();
    // Places that memory or scans name: IsGathered asks for these. A number may be another one in each iteration.
    if (!mlir::isMemoryEffectFree(op) || op->getNumRegions() > 0)
      return {llvm::isa<mlir::RankedTensorType>(value.getType()), false, true};
    if (op->getNumOperands() == 0) {
      mlir::SplatElementsAttr splat;
      return {true, mlir::matchPattern(value, mlir::m_Constant(&splat)), true};
    }
    Motion all;
    for (Value operand : op->getOperands()) all = Both(all, Of(operand));
    if (llvm::isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, ttg::ConvertLayoutOp,
                  mlir::arith::ExtSIOp, mlir::arith::ExtUIOp, mlir::arith::TruncIOp, tt::AddPtrOp, mlir::arith::AddIOp,
                  mlir::arith::SubIOp>(op))
      return all;
    all.is_moved_evenly = all.is_same || all.is_even;
    if (llvm::isa<mlir::arith::MulIOp, mlir::arith::ShLIOp>(op)) {
      const Motion left = Of(op->getOperand(0)), right = Of(op->getOperand(1));
      all.is_moved_evenly |= left.is_moved_evenly && right.is_same && right.is_even;
      if (llvm::isa<mlir::arith::MulIOp>(op))
        all.is_moved_evenly |= right.is_moved_evenly && left.is_same && left.is_even;
    }
    return all;
  }

  Motion OfCarried(mlir::BlockArgument argument) {
    Motion all{/*is_same=*/false, /*is_even=*/true, /*is_moved_evenly=*/true};
    for (Block* from : argument.getOwner()->getPredecessors()) {
      auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(from->getTerminator());
      for (unsigned i = 0; branch && i < branch->getNumSuccessors(); ++i)
        if (branch->getSuccessor(i) == argument.getOwner())
          if (Value passed = branch.getSuccessorOperands(i)[argument.getArgNumber()]) all = Both(all, Of(passed));
    }
    return all;
  }

  llvm::DenseMap<Value, Motion> known_;
  llvm::DenseMap<Block*, bool> still_;
};

bool IsQuotient(Operation* op) {
  return llvm::isa<mlir::arith::DivSIOp, mlir::arith::DivUIOp, mlir::arith::ShRSIOp, mlir::arith::ShRUIOp>(op);
}

bool LeavesRest(Operation* op) {
  return llvm::isa<mlir::arith::RemSIOp, mlir::arith::RemUIOp, mlir::arith::AndIOp, mlir::arith::XOrIOp>(op);
}

// What is divided in the end: a quotient may be divided again.
Value Dividend(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    const bool is_same = llvm::isa<tt::BroadcastOp, tt::ExpandDimsOp, ttg::ConvertLayoutOp, mlir::arith::ExtSIOp>(op);
    if (!is_same && !IsQuotient(op)) break;
    value = op->getOperand(0);
  }
  return value;
}

}  // namespace

bool MovesUnevenly(Value pointer) { return !IsFixed(pointer) && !Motions().Of(pointer).is_moved_evenly; }

bool ComesBack(Value pointer) {
  Motions motions;
  llvm::SmallVector<Value> pending{pointer};
  llvm::SmallPtrSet<Value, 16> seen, rests, quotients;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation* op = value.getDefiningOp();
    if (!op || !mlir::isMemoryEffectFree(op) || !seen.insert(value).second) continue;
    llvm::append_range(pending, op->getOperands());
    if (IsQuotient(op)) quotients.insert(Dividend(op->getOperand(0)));
    if (LeavesRest(op) && !motions.Of(value).is_moved_evenly) rests.insert(Dividend(op->getOperand(0)));
  }
  return llvm::any_of(rests, [&](Value rest) { return !quotients.contains(rest); });
}

}  // namespace tritond::compiler
