// SPDX-License-Identifier: Apache-2.0
// A copy to a place that a dot of the iteration before still reads has to wait for that dot. Where the threads make an
// operand of the next dot themselves, they do it meanwhile:
//
//   ttg.async_copy_global_to_local %p, %bufs[%i + 2]          %y = … (ttg.local_load %other)
//   ttg.async_commit_group                                    ttg.local_store %y, %made[%j]
//   %y = … (ttg.local_load %other)                      ->    ttg.async_copy_global_to_local %p, %bufs[%i + 2]
//   ttg.local_store %y, %made[%j]                             ttg.async_commit_group
//   %d = ttng.warp_group_dot %bufs[%i], %made[%j], %sum       %d = ttng.warp_group_dot %bufs[%i], %made[%j], %sum
//
// All copies of the iteration move together, as they stand in front of the dot, or none: their groups stay what they
// are. The wait for the dot before then stands in front of the barrier that %made needs anyway.
#include "compiler/targets/nvidia/delay_copies.h"

#include "compiler/targets/nvidia/dot_buffers.h"
#include "compiler/targets/nvidia/multibuffer_operands.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;
using ttng::WarpGroupDotOp;

// The last store of registers to a buffer that a dot of this iteration reads; null: the threads make none.
Operation* LastMadeOperand(llvm::ArrayRef<WarpGroupDotOp> dots, const BufferAliases& aliases) {
  for (Operation* op = dots.front()->getPrevNode(); op; op = op->getPrevNode())
    if (llvm::isa<ttg::LocalStoreOp>(op) &&
        llvm::any_of(dots, [&](WarpGroupDotOp dot) { return MayWrite(op, dot, /*iterations=*/0, aliases); }))
      return op;
  return nullptr;
}

// Whether `moved`, a copy or the end of a group, may run after `op`.
bool MayFollow(Operation* moved, Operation* op, ForOp loop, const BufferAliases& aliases) {
  if (llvm::any_of(moved->getUsers(), [&](Operation* user) { return op->isAncestor(user); })) return false;
  if (mlir::isPure(op) || llvm::isa<tt::LoadOp>(op)) return true;
  if (!llvm::isa<ttg::LocalLoadOp, ttg::LocalStoreOp, ttg::LocalAllocOp>(op)) return false;
  llvm::SmallVector<Value> buffers;
  for (Value operand : op->getOperands())
    if (llvm::isa<ttg::MemDescType>(operand.getType())) buffers.push_back(operand);
  return llvm::isa<ttg::AsyncCommitGroupOp>(moved) || !MayWrite(moved, buffers, loop, /*iterations=*/0, aliases);
}

}  // namespace

void DelayCopies(mlir::Block& block, const BufferAliases& aliases) {
  auto loop = llvm::dyn_cast_or_null<ForOp>(block.getParentOp());
  llvm::SmallVector<WarpGroupDotOp> dots(block.getOps<WarpGroupDotOp>());
  if (!loop || !llvm::all_of(dots, [&](WarpGroupDotOp dot) { return AccumulatorsOutliveIteration(dot, loop); })) return;
  Operation* made = LastMadeOperand(dots, aliases);
  if (!made) return;
  llvm::SetVector<Operation*> moving;
  bool waits = false;
  for (Operation* op = &block.front(); op != made; op = op->getNextNode()) {
    if (llvm::isa<ttg::AsyncCopyGlobalToLocalOp>(op) || (llvm::isa<ttg::AsyncCommitGroupOp>(op) && !moving.empty()))
      moving.insert(op);
    waits |= moving.contains(op) &&
             llvm::any_of(dots, [&](WarpGroupDotOp dot) { return MayWrite(op, dot, /*iterations=*/1, aliases); });
  }
  if (!waits) return;
  for (Operation* moved : moving)
    for (Operation* op = moved->getNextNode(); op != dots.front(); op = op->getNextNode())
      if (!moving.contains(op) && !MayFollow(moved, op, loop, aliases)) return;
  for (Operation* moved : moving) moved->moveBefore(dots.front());
}

}  // namespace tritond::compiler
