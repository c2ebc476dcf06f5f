// SPDX-License-Identifier: Apache-2.0
// Computes values where they take fewer registers while they wait. LLVM moves an instruction into the last block of a
// function if all that needs it is there, whatever its operands take until then. Where a function of the device library
// has a branch, as cosine, its second half ends up behind the branches of all elements:
//
//   head0: … br i1 %large0, %slow0, %join0             head0: … br i1 %large0, %slow0, %join0
//   join0: %r0 = phi … ; %q0 = phi …                   join0: %r0 = phi … ; %q0 = phi … ; %y0 = f(%r0, %q0)
//          br i1 %large1, %slow1, %join1         ->           br i1 %large1, %slow1, %join1
//   join1: %r1 = phi … ; %q1 = phi …                   join1: %r1 = phi … ; %q1 = phi … ; %y1 = f(%r1, %q1)
//          store f(%r0, %q0), f(%r1, %q1)                     store %y0, %y1
//
// What makes fewer words of those that nothing else needs moves back to the end of the block that joins them, if both
// blocks are always executed together. What takes a loaded value stays: it would wait before the next branch. Functions
// that use the matrix units stay as they are, for their tiles decide what is live.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/memory_instructions.h"
#include "compiler/targets/nvidia/register_pressure.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

bool IsMovable(const Instruction& op) {
  auto* call = llvm::dyn_cast<llvm::CallBase>(&op);
  return !op.isTerminator() && !llvm::isa<llvm::PHINode, llvm::AllocaInst>(op) && !op.mayHaveSideEffects() &&
         !op.mayReadFromMemory() && !op.getType()->isTokenTy() && !(call && call->isConvergent());
}

// Whether it is, or is part of, what a load gives.
bool IsLoaded(const Instruction& op) {
  if (llvm::isa<llvm::ExtractValueInst, llvm::ExtractElementInst, llvm::BitCastInst>(op))
    if (auto* whole = llvm::dyn_cast<Instruction>(op.getOperand(0))) return IsLoaded(*whole);
  return IsGlobalLoad(op);
}

class Mover final {
 public:
  explicit Mover(llvm::Function& function)
      : function_(function), dominators_(function), post_dominators_(function), loops_(dominators_) {}

  void Run() {
    for (BasicBlock& block : function_) {
      auto* node = dominators_.getNode(&block);
      if (!node) continue;
      llvm::SmallVector<BasicBlock*> before;  // the nearest first
      while ((node = node->getIDom())) before.push_back(node->getBlock());
      for (BasicBlock* to : llvm::reverse(before))
        if (JoinsBranch(*to) && post_dominators_.dominates(&block, to) &&
            loops_.getLoopFor(to) == loops_.getLoopFor(&block))
          Move(block, *to);
    }
  }

 private:
  int64_t Words(const Value& value) const { return RegisterWords(value, function_.getDataLayout()); }

  // Not of a loop's iterations, nor where a loop ends.
  bool JoinsBranch(const BasicBlock& block) const {
    return !block.phis().empty() && !loops_.isLoopHeader(&block) &&
           llvm::all_of(llvm::predecessors(&block), [&](const BasicBlock* before) {
             return loops_.getLoopFor(before) == loops_.getLoopFor(&block);
           });
  }

  // Whether it is there at the end of `to`.
  bool IsThere(const Value* value, const BasicBlock& to) const {
    auto* op = llvm::dyn_cast<Instruction>(value);
    return !op || dominators_.dominates(op->getParent(), &to);
  }

  void Move(BasicBlock& from, BasicBlock& to) {
    llvm::SmallSetVector<Instruction*, 16> can;
    for (Instruction& op : from)
      if (IsMovable(op) && llvm::all_of(op.operands(), [&](const llvm::Use& use) {
            return IsThere(use, to) || can.contains(llvm::dyn_cast<Instruction>(use));
          }))
        can.insert(&op);
    // What only these need; they belong together.
    auto ends = [&](const Instruction& made) {
      return llvm::all_of(made.users(), [&](const llvm::User* user) {
        auto* op = llvm::cast<Instruction>(user);
        return can.contains(const_cast<Instruction*>(op)) ||
               (!llvm::isa<llvm::PHINode>(op) && dominators_.dominates(op->getParent(), &to));
      });
    };
    llvm::EquivalenceClasses<const Instruction*> together;
    llvm::SmallSetVector<const Instruction*, 16> saved;
    for (Instruction* op : can) {
      together.insert(op);
      for (Value* operand : op->operands()) {
        auto* made = llvm::dyn_cast<Instruction>(operand);
        if (!made || (!can.contains(made) && !ends(*made))) continue;
        if (!can.contains(made)) saved.insert(made);
        together.unionSets(op, made);
      }
    }
    llvm::DenseMap<const Instruction*, int64_t> more;  // words that wait, by groups
    llvm::DenseSet<const Instruction*> loaded, joined;
    for (const Instruction* made : saved) {
      const Instruction* leader = together.getLeaderValue(made);
      more[leader] -= Words(*made);
      if (IsLoaded(*made)) loaded.insert(leader);
      if (llvm::isa<llvm::PHINode>(made) && made->getParent() == &to) joined.insert(leader);
    }
    for (Instruction* op : can)
      if (!llvm::all_of(op->users(), [&](llvm::User* user) { return can.contains(llvm::cast<Instruction>(user)); }))
        more[together.getLeaderValue(op)] += Words(*op);
    for (Instruction* op : can) {
      const Instruction* leader = together.getLeaderValue(op);
      if (more.lookup(leader) < 0 && joined.contains(leader) && !loaded.contains(leader))
        op->moveBefore(to.getTerminator()->getIterator());
    }
  }

  llvm::Function& function_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
};

}  // namespace

void UndoSinking(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (function.size() > 1 && llvm::none_of(llvm::instructions(function), IsMatrixInstruction)) Mover(function).Run();
}

}  // namespace tritond::compiler::nvidia
