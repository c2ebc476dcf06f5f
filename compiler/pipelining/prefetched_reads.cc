// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipelining/prefetched_reads.h"

#include "compiler/ir/prefetchable.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/pipelining/loop_schedule.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

// Whether pure operations on scalars make all operands of `op`, through iterations, so that they can be made early.
bool IsOfScalars(Operation* op, ForOp loop) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    if (llvm::isa<mlir::RankedTensorType>(value.getType())) return false;
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      if (argument.getOwner() == loop.getBody() && argument != loop.getInductionVar())
        values.insert(loop.getTiedLoopYieldedValue(argument)->get());
      continue;
    }
    Operation* made = value.getDefiningOp();
    if (made->getBlock() != loop.getBody()) continue;
    if (made->getNumRegions() > 0 || !(mlir::isPure(made) || IsDivision(made))) return false;
    values.insert(made->operand_begin(), made->operand_end());
  }
  return true;
}

// Whether a read of the same iteration depends on what `op` reads.
bool FeedsReads(Operation* op, ForOp loop) {
  llvm::SetVector<Operation*> users;
  users.insert(op);
  for (size_t i = 0; i < users.size(); ++i) {
    for (Operation* user : users[i]->getUsers()) {
      Operation* inner = loop.getBody()->findAncestorOpInBlock(*user);
      if (!inner || llvm::isa<mlir::scf::YieldOp>(inner)) continue;
      if (llvm::isa<tt::LoadOp, ttg::PrefetchableOpInterface>(inner)) return true;
      users.insert(inner);
    }
  }
  return false;
}

}  // namespace

llvm::SmallVector<Operation*> PrefetchedReads(ForOp loop) {
  llvm::SmallVector<Operation*> reads;
  for (Operation& op : loop.getBody()->without_terminator())
    if (llvm::isa<ttg::PrefetchableOpInterface>(op) && IsOfScalars(&op, loop) && !FeedsReads(&op, loop))
      reads.push_back(&op);
  return reads;
}

}  // namespace tritond::compiler
