// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/computed_values.h"

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

bool IsComputed(mlir::Value tensor) {
  llvm::SmallVector<mlir::Value> pending{tensor};
  llvm::DenseSet<mlir::Value> seen;
  while (!pending.empty()) {
    mlir::Value value = pending.pop_back_val();
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    // A truth value adds one at most.
    if (!type || type.getElementType().isInteger(1) || !seen.insert(value).second) continue;
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      auto loop = llvm::dyn_cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop) return false;
      pending.push_back(loop.getTiedLoopInit(argument)->get());
      pending.push_back(loop.getTiedLoopYieldedValue(argument)->get());
      continue;
    }
    mlir::Operation* op = value.getDefiningOp();
    // Its results grow slowly, whatever is scanned.
    if (llvm::isa<tt::ScanOp>(op)) continue;
    if (!mlir::isPure(op) || op->getNumRegions() != 0) return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

}  // namespace tritond::compiler
