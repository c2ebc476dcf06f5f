// SPDX-License-Identifier: Apache-2.0
// Where control flow parts the lanes of a wave, a GPU runs one side and then the other, and all together after both.
// Lanes of an emulated wave run on their own and wait for each other at instructions of the whole wave. When they wait
// at different ones, those at the earlier one are to go on first, without the others. They will come to the later one.
// So blocks need an order in which each is after those that lead to it, and a loop's blocks all lie before what
// follows it.
#include "compiler/targets/emulated/amdgcn_calls.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"

namespace tritond::compiler::emulated {
namespace {

// Kahn's algorithm over edges that do not lead back to a loop's header. Of the blocks that can come next, one of the
// innermost loop that the last block is in.
class Order {
 public:
  explicit Order(llvm::Function& function) : function_(function), dominators_(function), loops_(dominators_) {}

  llvm::SmallVector<llvm::BasicBlock*> Blocks() {
    for (llvm::BasicBlock& block : function_)
      for (llvm::BasicBlock* next : llvm::successors(&block))
        if (!IsBackEdge(&block, next)) ++missing_[next];
    ready_.push_back(&function_.getEntryBlock());
    llvm::SmallVector<llvm::BasicBlock*> order;
    llvm::BasicBlock* last = ready_[0];
    while (!ready_.empty()) {
      last = TakeNext(last);
      order.push_back(last);
      for (llvm::BasicBlock* next : llvm::successors(last))
        if (!IsBackEdge(last, next) && --missing_[next] == 0) ready_.push_back(next);
    }
    // What nothing leads to, and loops with several entries.
    llvm::DenseSet<llvm::BasicBlock*> done(order.begin(), order.end());
    for (llvm::BasicBlock& block : function_)
      if (!done.contains(&block)) order.push_back(&block);
    return order;
  }

 private:
  bool IsBackEdge(llvm::BasicBlock* from, llvm::BasicBlock* to) const { return dominators_.dominates(to, from); }

  llvm::BasicBlock* TakeNext(llvm::BasicBlock* last) {
    for (const llvm::Loop* loop = loops_.getLoopFor(last);; loop = loop->getParentLoop()) {
      auto found = llvm::find_if(ready_, [&](llvm::BasicBlock* block) { return !loop || loop->contains(block); });
      if (found != ready_.end()) {
        llvm::BasicBlock* next = *found;
        ready_.erase(found);
        return next;
      }
      if (!loop) return nullptr;
    }
  }

  llvm::Function& function_;
  const llvm::DominatorTree dominators_;
  const llvm::LoopInfo loops_;
  llvm::DenseMap<llvm::BasicBlock*, int> missing_;  // edges from blocks that have no place yet
  llvm::SmallVector<llvm::BasicBlock*> ready_;
};

}  // namespace

llvm::SmallVector<llvm::BasicBlock*> BlocksInOrder(llvm::Function& function) { return Order(function).Blocks(); }

}  // namespace tritond::compiler::emulated
