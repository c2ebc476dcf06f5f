// SPDX-License-Identifier: Apache-2.0
// Threads are busy for a while with the copies of an iteration. The tensor cores need not wait for that:
//
//   ttg.async_wait                                      ttg.async_wait
//   ttg.async_copy_global_to_local %p, %bufs[%i]        %d = ttng.warp_group_dot %bufs[%j], …
//   ttg.async_commit_group                      ->      ttg.async_copy_global_to_local %p, %bufs[%i]
//   %d = ttng.warp_group_dot %bufs[%j], …               ttg.async_commit_group
//
// With a dot goes what its operands are made of, as far as it has no effects. The dot passes copies that fill other
// memory, and what only reads; it stays after all else, and after what it needs.
//
// Where a dot of the iteration before may still run, the copies stay in front: a warp cannot go on while its next
// products wait for the tensor cores.
#include "compiler/targets/nvidia/hoist_dots.h"

#include "compiler/targets/nvidia/dot_buffers.h"
#include "compiler/targets/nvidia/multibuffer_operands.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using ttng::WarpGroupDotOp;
using Slice = llvm::SetVector<Operation*>;

// What `dot` is made of in its block.
Slice SliceOf(WarpGroupDotOp dot) {
  mlir::BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation* op) { return op->getBlock() == dot->getBlock(); };
  Slice slice;
  (void)mlir::getBackwardSlice(dot.getOperation(), &slice, options);
  return slice;
}

bool OnlyReads(Operation* op) {
  auto effects = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  return effects && effects.onlyHasEffect<mlir::MemoryEffects::Read>();
}

bool MayPass(WarpGroupDotOp dot, Operation* op, const Slice& slice, const BufferAliases& aliases) {
  if (mlir::isPure(op)) return true;
  if (slice.contains(op) || llvm::isa<WarpGroupDotOp>(op)) return false;
  if (llvm::isa<ttg::AsyncCommitGroupOp>(op) || OnlyReads(op)) return true;
  return llvm::isa<ttg::AsyncCopyGlobalToLocalOp>(op) && !MayWrite(op, dot, /*iterations=*/0, aliases);
}

void Hoist(WarpGroupDotOp dot, const BufferAliases& aliases) {
  Slice slice = SliceOf(dot);
  Operation* first = nullptr;  // of what the dot passes
  bool passes_copies = false;
  for (Operation* op = dot->getPrevNode(); op && MayPass(dot, op, slice, aliases); op = op->getPrevNode()) {
    first = op;
    passes_copies |= llvm::isa<ttg::AsyncCopyGlobalToLocalOp>(op);
  }
  if (!passes_copies) return;
  llvm::SmallVector<Operation*> moving;
  for (Operation* op = first; op != dot.getOperation(); op = op->getNextNode())
    if (slice.contains(op)) moving.push_back(op);
  moving.push_back(dot);
  while (llvm::is_contained(moving, first) && first != dot.getOperation()) first = first->getNextNode();
  for (Operation* op : moving)
    if (op != first) op->moveBefore(first);
}

}  // namespace

void HoistDots(mlir::Block& block, const BufferAliases& aliases) {
  llvm::SmallVector<WarpGroupDotOp> dots(block.getOps<WarpGroupDotOp>());
  auto loop = llvm::dyn_cast_or_null<mlir::scf::ForOp>(block.getParentOp());
  if (loop && llvm::any_of(dots, [&](WarpGroupDotOp dot) { return AccumulatorsOutliveIteration(dot, loop); })) return;
  for (WarpGroupDotOp dot : dots) Hoist(dot, aliases);
}

}  // namespace tritond::compiler
