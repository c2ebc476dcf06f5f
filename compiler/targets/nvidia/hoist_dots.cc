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
// Where a dot of the iteration before may still run, the copies stay in front. A warp cannot go on while its next
// products wait for the tensor cores. Nor does a dot pass them that has more accumulators than a thread has registers:
// the assembler then waits for each product, and addresses of copies beside it are more values that it stores. Nor does
// one whose products threads add up or round: they wait for it where it stands, and the copies would wait, too.
//
// Likewise the tensor cores need not wait for what threads make of one dot's result, where another dot is ready:
//
//   %s = ttng.warp_group_dot %k, %q, %zero               %s = ttng.warp_group_dot %k, %q, %zero
//   %p = math.exp2 %s                                    %e = ttng.warp_group_dot %v, %g, %zero
//   %d = ttng.warp_group_dot %p, %g, %sum         ->     %p = math.exp2 %s
//   %e = ttng.warp_group_dot %v, %g, %zero               %d = ttng.warp_group_dot %p, %g, %sum
//
// Dots that no other dot of the block feeds are ready. They pass those that wait, and what these wait for, unless the
// block would then need more registers than leave room for as many blocks.
#include "compiler/targets/nvidia/hoist_dots.h"

#include "compiler/dots/loop_registers.h"
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

// What a thread has in registers beside tensors, as measured of real kernels.
constexpr int64_t kLeastOtherRegisters = 24, kMostOtherRegisters = 40;

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

// Whether neither another dot of the block feeds it, nor threads that fill one of its buffers.
bool IsReady(WarpGroupDotOp dot, const BufferAliases& aliases) {
  auto fills = [&](Operation& op) {
    return llvm::isa<ttg::LocalStoreOp, ttg::LocalAllocOp>(op) && MayWrite(&op, dot, /*iterations=*/0, aliases);
  };
  return llvm::none_of(*dot->getBlock(), fills) &&
         llvm::none_of(SliceOf(dot), [](Operation* op) { return llvm::isa<WarpGroupDotOp>(op); });
}

bool MayPass(WarpGroupDotOp dot, Operation* op, const Slice& slice, const BufferAliases& aliases) {
  if (mlir::isPure(op)) return true;
  if (slice.contains(op) || llvm::isa<WarpGroupDotOp>(op)) return false;
  if (llvm::isa<ttg::AsyncCommitGroupOp>(op) || OnlyReads(op)) return true;
  return llvm::isa<ttg::AsyncCopyGlobalToLocalOp>(op) && !MayWrite(op, dot, /*iterations=*/0, aliases);
}

// Moves `dot` and `slice`, what it is made of, in front of `first`, which comes before it.
void MoveBefore(Operation* first, WarpGroupDotOp dot, const Slice& slice) {
  llvm::SmallVector<Operation*> moving;
  for (Operation* op = first; op != dot.getOperation(); op = op->getNextNode())
    if (slice.contains(op)) moving.push_back(op);
  moving.push_back(dot);
  while (llvm::is_contained(moving, first) && first != dot.getOperation()) first = first->getNextNode();
  for (Operation* op : moving)
    if (op != first) op->moveBefore(first);
}

void Hoist(WarpGroupDotOp dot, const BufferAliases& aliases) {
  Slice slice = SliceOf(dot);
  Operation* first = nullptr;  // of what the dot passes
  bool passes_copies = false;
  for (Operation* op = dot->getPrevNode(); op && MayPass(dot, op, slice, aliases); op = op->getPrevNode()) {
    first = op;
    passes_copies |= llvm::isa<ttg::AsyncCopyGlobalToLocalOp>(op);
  }
  if (passes_copies) MoveBefore(first, dot, slice);
}

// What threads compute, with a value for each of a tensor's elements.
bool IsWork(Operation* op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() && llvm::isa<mlir::RankedTensorType>(op->getResult(0).getType());
}

// Whether `dot`, which is ready, may pass `op` on its way to another one that is.
bool MayOvertake(WarpGroupDotOp dot, Operation* op, const Slice& slice, const BufferAliases& aliases) {
  if (auto other = llvm::dyn_cast<WarpGroupDotOp>(op)) return !slice.contains(op) && !IsReady(other, aliases);
  if (llvm::isa<ttg::LocalAllocOp, ttg::LocalStoreOp>(op))
    return !slice.contains(op) && !MayWrite(op, dot, /*iterations=*/0, aliases);
  return MayPass(dot, op, slice, aliases);
}

// Whether the order of `block` leaves a multiprocessor room for as many blocks as one whose tensors take `before` at
// their most. How much else there is depends on the kernel: at least this much before, at most that much after.
bool KeepsBlocks(mlir::Block& block, int64_t before, const BlockLimits& limits) {
  const int64_t after = PeakRegisters(block) + kMostOtherRegisters;
  if (limits.registers == 0) return true;
  Operation* op = block.getTerminator();
  return after <= kMostRegisters && limits.Blocks(op, after) >= limits.Blocks(op, before + kLeastOtherRegisters);
}

void Advance(WarpGroupDotOp dot, const BufferAliases& aliases, const BlockLimits& limits) {
  Slice slice = SliceOf(dot);
  Operation* first = nullptr;  // of what the dot passes
  bool passes_work = false;
  Operation* op = dot->getPrevNode();
  for (; op && MayOvertake(dot, op, slice, aliases); op = op->getPrevNode()) {
    first = op;
    passes_work |= !slice.contains(op) && IsWork(op);
  }
  if (!passes_work || !op || !llvm::isa<WarpGroupDotOp>(op)) return;
  mlir::Block& block = *dot->getBlock();
  llvm::SmallVector<Operation*> order;
  for (Operation& op : block.without_terminator()) order.push_back(&op);
  const int64_t before = PeakRegisters(block);
  MoveBefore(first, dot, slice);
  if (KeepsBlocks(block, before, limits)) return;
  for (Operation* op : order) op->moveBefore(block.getTerminator());
}

}  // namespace

void AdvanceReadyDots(mlir::Block& block, const BufferAliases& aliases, const BlockLimits& limits) {
  for (WarpGroupDotOp dot : llvm::to_vector(block.getOps<WarpGroupDotOp>()))
    if (ttng::AddsToResult(dot) && IsReady(dot, aliases)) Advance(dot, aliases, limits);
}

void HoistDots(mlir::Block& block, const BufferAliases& aliases) {
  llvm::SmallVector<WarpGroupDotOp> dots(block.getOps<WarpGroupDotOp>());
  auto loop = llvm::dyn_cast_or_null<mlir::scf::ForOp>(block.getParentOp());
  if (loop && llvm::any_of(dots, [&](WarpGroupDotOp dot) { return AccumulatorsOutliveIteration(dot, loop); })) return;
  for (WarpGroupDotOp dot : dots)
    if (ttng::AddsToResult(dot) && RegistersOf(dot.getD()) <= kMostRegisters) Hoist(dot, aliases);
}

}  // namespace tritond::compiler
