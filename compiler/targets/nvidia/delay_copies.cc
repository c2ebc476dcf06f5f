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
// Where they make none, the copies follow the dot:
//
//   ttg.async_copy_global_to_local %p, %bufs[%i + 2]          %d = ttng.warp_group_dot %bufs[%i], …, %sum
//   ttg.async_commit_group                              ->    ttg.async_copy_global_to_local %p, %bufs[%i + 2]
//   %d = ttng.warp_group_dot %bufs[%i], …, %sum               ttg.async_commit_group
//
// The tensor cores have it while the threads wait for the one before and copy. The dot that reads what is copied begins
// when the one before it is still running, so the copies have the time of one dot less. They must have enough: of the
// other iterations' dots, and those of the other blocks on a multiprocessor.
//
// All copies of the iteration move together, as they stand in front of the dot, or none: their groups stay what they
// are. The wait for the dot before then stands in front of the barrier that %made needs anyway.
#include "compiler/targets/nvidia/delay_copies.h"

#include "compiler/dots/loop_registers.h"
#include "compiler/targets/nvidia/dot_buffers.h"
#include "compiler/targets/nvidia/multibuffer_operands.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;
using ttng::WarpGroupDotOp;

// From a copy's start to its end if the second cache has the data and others copy as well. Measured: products that
// leave copies 768 cycles lose 2 % by the later start, others with 1024 gain 2 to 20 %.
constexpr int64_t kCopyCycles = 900;
// Of all blocks on a multiprocessor. Where a scheduler has more than two, others issue dots meanwhile, and the second
// barrier of an iteration costs 1 to 3 % (measured).
constexpr int64_t kMostWarps = 8;
// In registers beside accumulators, in words.
constexpr int64_t kOtherRegisters = 40;

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
  if (!llvm::isa<ttg::LocalLoadOp, ttg::LocalStoreOp, ttg::LocalAllocOp, WarpGroupDotOp>(op)) return false;
  llvm::SmallVector<Value> buffers;
  for (Value operand : op->getOperands())
    if (llvm::isa<ttg::MemDescType>(operand.getType())) buffers.push_back(operand);
  return llvm::isa<ttg::AsyncCommitGroupOp>(moved) || !MayWrite(moved, buffers, loop, /*iterations=*/0, aliases);
}

// The copies of an iteration and the ends of their groups, in front of `end`.
llvm::SmallVector<Operation*> CopiesBefore(Operation* end) {
  llvm::SmallVector<Operation*> copies;
  for (Operation* op = &end->getBlock()->front(); op != end; op = op->getNextNode())
    if (llvm::isa<ttg::AsyncCopyGlobalToLocalOp>(op) || (llvm::isa<ttg::AsyncCommitGroupOp>(op) && !copies.empty()))
      copies.push_back(op);
  return copies;
}

// Whether it pays to issue the dot of the iteration first, and copies arrive in time all the same. `products`:
// multiply-adds of 16-bit numbers in a cycle.
bool MayFollowDots(llvm::ArrayRef<Operation*> copies, llvm::ArrayRef<WarpGroupDotOp> dots, const BlockLimits& limits,
                   int64_t products) {
  int64_t slots = std::numeric_limits<int64_t>::max();
  for (Operation* copy : copies) {
    if (llvm::isa<ttg::AsyncCommitGroupOp>(copy)) continue;
    auto index = llvm::cast<ttg::AsyncCopyGlobalToLocalOp>(copy).getResult().getDefiningOp<ttg::MemDescIndexOp>();
    if (!index) return false;
    slots = std::min(slots, index.getSrc().getType().getShape()[0]);
  }
  int64_t words = kOtherRegisters, cycles = 0;
  for (WarpGroupDotOp dot : dots) {
    const auto sums = llvm::cast<mlir::RankedTensorType>(dot.getType());
    const auto b = llvm::cast<ttg::MemDescType>(dot.getB().getType());
    words += RegistersOf(dot.getD());
    cycles += ttg::Product(sums.getShape()) * b.getShape().drop_back().back() *
              b.getElementType().getIntOrFloatBitWidth() / (16 * products);
  }
  const int64_t blocks = std::max<int64_t>(limits.Blocks(copies.front(), words), 1);
  return blocks * ttg::NumWarps(copies.front()) <= kMostWarps && (slots - 2) * cycles * blocks >= kCopyCycles;
}

// Moves `copies` to in front of `target`, if they may follow all that is there in between.
void MoveTogether(llvm::ArrayRef<Operation*> copies, Operation* target, ForOp loop, const BufferAliases& aliases) {
  for (Operation* copy : copies)
    for (Operation* op = copy->getNextNode(); op != target; op = op->getNextNode())
      if (!llvm::is_contained(copies, op) && !MayFollow(copy, op, loop, aliases)) return;
  for (Operation* copy : copies) copy->moveBefore(target);
}

}  // namespace

void DelayCopies(mlir::Block& block, const BufferAliases& aliases, const BlockLimits& limits, int64_t products) {
  auto loop = llvm::dyn_cast_or_null<ForOp>(block.getParentOp());
  llvm::SmallVector<WarpGroupDotOp> dots(block.getOps<WarpGroupDotOp>());
  if (!loop || !llvm::all_of(dots, [&](WarpGroupDotOp dot) { return AccumulatorsOutliveIteration(dot, loop); })) return;
  Operation* made = LastMadeOperand(dots, aliases);
  const llvm::SmallVector<Operation*> copies = CopiesBefore(made ? made : dots.front());
  const bool waits = llvm::any_of(copies, [&](Operation* copy) {
    return llvm::any_of(dots, [&](WarpGroupDotOp dot) { return MayWrite(copy, dot, /*iterations=*/1, aliases); });
  });
  if (!waits || (!made && (products == 0 || !MayFollowDots(copies, dots, limits, products)))) return;
  MoveTogether(copies, made ? dots.front() : dots.back()->getNextNode(), loop, aliases);
}

}  // namespace tritond::compiler
