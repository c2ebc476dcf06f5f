// SPDX-License-Identifier: Apache-2.0
// The analysis looks at a buffer in the smallest region that holds its allocation and all its views. When a view enters
// that region anew with each iteration of a loop, it takes the region one level up. There, each use stands for the
// whole operation of the region that contains it, which covers inner loops. Among the blocks of the region the buffer
// lives wherever control has come from the allocation and can still reach a use. The interval spans all these places,
// whatever the order of blocks in the text.
#include "compiler/analysis/buffer_lifetimes.h"

#include <algorithm>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/IR/Dominance.h"

namespace tritond::compiler {
namespace {

using mlir::Block;
using mlir::Operation;
using mlir::Region;
using mlir::Value;
using BlockSet = llvm::SmallPtrSet<Block*, 8>;

// `from` and all blocks that repeated steps of `next` lead to. Nothing is followed beyond `barrier`.
template <typename Next>
BlockSet Reached(llvm::ArrayRef<Block*> from, Block* barrier, Next next) {
  BlockSet reached(from.begin(), from.end());
  llvm::SmallVector<Block*> pending(from);
  while (!pending.empty()) {
    Block* block = pending.pop_back_val();
    if (block == barrier) continue;
    for (Block* other : next(block)) {
      if (reached.insert(other).second) pending.push_back(other);
    }
  }
  return reached;
}

template <typename Blocks>
bool AnyOf(Blocks&& blocks, const BlockSet& set) {
  return llvm::any_of(blocks, [&](Block* block) { return set.contains(block); });
}

}  // namespace

BufferLifetimes::BufferLifetimes(mlir::FunctionOpInterface function, const BufferAliases& aliases)
    : aliases_(aliases), function_(function) {
  int step = 0;
  function->walk([&](Operation* op, const mlir::WalkStage& stage) {
    if (stage.isBeforeAllRegions()) first_[op] = step++;
    if (stage.isAfterAllRegions()) end_[op] = step;
  });
  for (ttg::LocalAllocOp allocation : aliases.Allocations()) lifetimes_[allocation] = Compute(allocation);
}

Steps BufferLifetimes::Compute(ttg::LocalAllocOp allocation) const {
  llvm::SmallVector<Value> views = aliases_.Views(allocation);
  llvm::SmallVector<Operation*> uses{allocation};
  for (Value view : views) uses.append(view.user_begin(), view.user_end());
  AddEndsOfPartitions(uses);
  AddEndsOfCopies(uses);
  // Where the views and their users are.
  Region* region = allocation->getParentRegion();
  auto outside = [&](Value view) {
    if (!region->isAncestor(view.getParentRegion())) return true;
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(view);
    return argument && argument.getOwner() == &region->front();
  };
  auto used_outside = [&](Operation* op) { return !region->isAncestor(op->getParentRegion()); };
  while (llvm::any_of(views, outside) || llvm::any_of(uses, used_outside)) region = region->getParentRegion();
  Operation* begin = region->findAncestorOpInRegion(*allocation);
  bool carried = llvm::any_of(
      views, [&](Value view) { return llvm::isa<mlir::BlockArgument>(view) && view.getParentRegion() == region; });
  return InBlocks(region, uses, begin, /*fresh=*/!carried);
}

// What a partition may use is in use until the partition is waited for.
void BufferLifetimes::AddEndsOfPartitions(llvm::SmallVectorImpl<Operation*>& uses) const {
  for (size_t i = 0, count = uses.size(); i < count; ++i)
    if (auto start = llvm::dyn_cast<ttg::StartPartitionsOp>(uses[i]))
      uses.append(start.getToken().user_begin(), start.getToken().user_end());
}

Steps BufferLifetimes::Of(ttg::StartPartitionsOp start) const {
  Steps steps = WithRegions(start);
  for (Operation* join : start.getToken().getUsers()) steps.last = std::max(steps.last, end_.lookup(join));
  return steps;
}

void BufferLifetimes::AddEndsOfCopies(llvm::SmallVectorImpl<Operation*>& uses) const {
  llvm::MapVector<Region*, llvm::SmallVector<Operation*>> copies;
  for (Operation* use : uses)
    if (llvm::isa<ttg::AsyncCopyGlobalToLocalOp>(use))
      copies[ttg::PartitionAround(use->getParentRegion())].push_back(use);
  for (auto& [partition, of_partition] : copies) AddEndOfCopies(partition, of_partition, uses);
}

void BufferLifetimes::AddEndOfCopies(Region* partition, llvm::ArrayRef<Operation*> copies,
                                     llvm::SmallVectorImpl<Operation*>& uses) const {
  mlir::FunctionOpInterface function = function_;
  mlir::PostDominanceInfo dominance(function);
  Operation* end = nullptr;
  function->walk([&](ttg::AsyncWaitOp wait) {
    bool ends_all = wait.getNum() == 0 && ttg::PartitionAround(wait->getParentRegion()) == partition &&
                    llvm::all_of(copies, [&](Operation* copy) { return dominance.properlyPostDominates(wait, copy); });
    if (ends_all) end = wait;
    return ends_all ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  if (end) return uses.push_back(end);
  // A partition returns when its copies have ended.
  for (Block& block : partition ? *partition : function.getFunctionBody()) uses.push_back(block.getTerminator());
}

Steps BufferLifetimes::InBlocks(Region* region, llvm::ArrayRef<Operation*> uses, Operation* begin, bool fresh) const {
  Steps steps = WithRegions(begin);
  llvm::SmallVector<Block*> using_blocks;
  for (Operation* use : uses) {
    Operation* op = region->findAncestorOpInRegion(*use);
    Steps at = WithRegions(op);
    steps = {std::min(steps.first, at.first), std::max(steps.last, at.last)};
    if (!llvm::is_contained(using_blocks, op->getBlock())) using_blocks.push_back(op->getBlock());
  }
  if (region->hasOneBlock()) return steps;
  Block* start = begin->getBlock();
  // Blocks at whose end the allocation may have happened, and blocks at whose beginning a use may be ahead.
  BlockSet allocated = Reached(start, nullptr, [](Block* block) { return block->getSuccessors(); });
  BlockSet needed =
      Reached(using_blocks, fresh ? start : nullptr, [](Block* block) { return block->getPredecessors(); });
  if (fresh) needed.erase(start);  // uses there come after the allocation
  for (Block& block : *region) {
    if (needed.contains(&block) && AnyOf(block.getPredecessors(), allocated)) {
      steps.first = std::min(steps.first, first_.lookup(&block.front()));
    }
    if (allocated.contains(&block) && AnyOf(block.getSuccessors(), needed)) {
      steps.last = std::max(steps.last, end_.lookup(&block.back()));
    }
  }
  return steps;
}

}  // namespace tritond::compiler
