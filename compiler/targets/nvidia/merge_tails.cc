// SPDX-License-Identifier: Apache-2.0
// Versions of a kernel that end alike share their end. A kernel has versions for arguments that are multiples of a
// width (passes/version_divisible.cc). Their loops differ, and the code after these is often the same: a reduction over
// all threads, or the store of a tile. The assembler's time goes by the instructions that it gets:
//
//   wide:                                       wide:
//     …                                           …
//     %x = add %a, %b                             br ends
//     store %x, %p                       ->     narrow:
//     ret                                         …
//   narrow:                                       br ends
//     …                                         ends:
//     %y = add %c, %b                             %v = phi [%a, wide], [%c, narrow]
//     store %y, %p                                %x = add %v, %b
//     ret                                         store %x, %p
//                                                 ret
//
// Two blocks that return, or go on to the same block, are compared from their ends on. Values that differ there become
// phis. Constants must be equal, and so must what allocas make. A wait for wgmma stays: accumulators that it still
// writes are none of a phi's. All threads take the same way: the branch that leads to the one block or to the other
// depends only on what they all know, and is in no loop. So barriers and shuffles are executed together as before. It
// pays where the end is long beside the phis, each of which may take an instruction.
//
// After what counts loads of each version (block_target.cc).
#include <optional>

#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/memory_instructions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Of an end, without the last one; and of these for each phi.
constexpr size_t kLeastInstructions = 16, kInstructionsOfPhi = 4;

// Whether all threads of a block have the same value, in a kernel.
bool IsSameForAll(const Value* value) {
  llvm::SmallSetVector<const Value*, 16> needed;
  needed.insert(value);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (llvm::isa<llvm::Constant, llvm::Argument>(needed[i])) continue;
    if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(needed[i])) {
      const llvm::StringRef name = intrinsic->getCalledFunction()->getName();
      if (name.starts_with("llvm.nvvm.read.ptx.sreg.ctaid") || name.starts_with("llvm.nvvm.read.ptx.sreg.nctaid"))
        continue;
    }
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst>(needed[i])) return false;
    const auto& operands = llvm::cast<Instruction>(needed[i])->operands();
    needed.insert(operands.begin(), operands.end());
  }
  return true;
}

// What a block does, from its end on: the last instruction first.
llvm::SmallVector<Instruction*> FromTheEnd(BasicBlock& block) {
  llvm::SmallVector<Instruction*> instructions;
  for (Instruction& instruction : llvm::reverse(block))
    if (!llvm::isa<llvm::PHINode, llvm::DbgInfoIntrinsic>(instruction)) instructions.push_back(&instruction);
  return instructions;
}

bool AreAlike(const Instruction& a, const Instruction& b) {
  if (!a.isSameOperationAs(&b) || llvm::isa<llvm::AllocaInst>(a) || AssemblyOf(a).contains("wgmma")) return false;
  auto *call = llvm::dyn_cast<llvm::CallBase>(&a), *other = llvm::dyn_cast<llvm::CallBase>(&b);
  return !call || (call->getCalledOperand() == other->getCalledOperand() && !call->hasOperandBundles());
}

// The ends of two blocks, as far as they are alike.
class Ends final {
 public:
  Ends(BasicBlock& a, BasicBlock& b) : a_(FromTheEnd(a)), b_(FromTheEnd(b)) {
    while (length_ < std::min(a_.size(), b_.size()) && AreAlike(*a_[length_], *b_[length_])) ++length_;
    for (size_t i = 0; i < length_; ++i) at_[a_[i]] = at_[b_[i]] = i;
    // What is cut off may be an operand of the rest, which is a phi then.
    for (size_t before = length_ + 1; before != length_;) {
      before = length_;
      for (size_t i = 0; i < length_; ++i)
        for (auto [x, y] : llvm::zip(a_[i]->operands(), b_[i]->operands())) Cut(i, x, y);
    }
  }

  bool Pay() const { return length_ > kLeastInstructions && length_ - 1 >= kInstructionsOfPhi * Phis().size(); }

  void Merge() {
    BasicBlock *a = a_[0]->getParent(), *b = b_[0]->getParent();
    BasicBlock* ends = a->splitBasicBlock(a_[length_ - 1]);
    llvm::DenseMap<std::pair<Value*, Value*>, llvm::PHINode*> phis;
    for (auto [x, y] : Phis()) {
      auto* phi = phis[{x, y}] = llvm::PHINode::Create(x->getType(), 2, "", ends->begin());
      phi->addIncoming(x, a);
      phi->addIncoming(y, b);
    }
    for (size_t i = 0; i < length_; ++i)
      for (auto [use, other] : llvm::zip(a_[i]->operands(), b_[i]->operands()))
        if (llvm::PHINode* phi = phis.lookup({use.get(), other.get()})) use.set(phi);
    for (size_t i = 1; i < length_; ++i) {
      llvm::combineMetadataForCSE(a_[i], b_[i], /*DoesKMove=*/true);
      a_[i]->andIRFlags(b_[i]);
      a_[i]->applyMergedLocation(a_[i]->getDebugLoc(), b_[i]->getDebugLoc());
    }
    for (size_t i = 0; i < length_; ++i) b_[i]->eraseFromParent();
    llvm::BranchInst::Create(ends, b);
  }

 private:
  // Where a value of the end that both have stands; nothing: it comes from before.
  std::optional<size_t> At(const Value* value) const {
    auto found = at_.find(value);
    return found != at_.end() && found->second < length_ ? std::optional(found->second) : std::nullopt;
  }

  // Ends where the operands of instruction `i` are neither the same nor what a phi may join.
  void Cut(size_t i, const Value* x, const Value* y) {
    if (x == y || i >= length_) return;
    const std::optional<size_t> at_x = At(x), at_y = At(y);
    if (at_x && at_x == at_y) return;
    if (at_x || at_y) length_ = std::max(at_x.value_or(0), at_y.value_or(0));
    // What an alloca makes stays in registers where no phi hides it, and its lifetime begins and ends by its own name.
    const bool varies =
        !llvm::isa<llvm::Constant, llvm::AllocaInst>(x) && !llvm::isa<llvm::Constant, llvm::AllocaInst>(y);
    if (!varies || !x->getType()->isFirstClassType() || x->getType()->isTokenTy() || x->getType()->isMetadataTy() ||
        x->getType()->isLabelTy())
      length_ = std::min(length_, i);
  }

  // The pairs of values that differ.
  llvm::SmallSetVector<std::pair<Value*, Value*>, 16> Phis() const {
    llvm::SmallSetVector<std::pair<Value*, Value*>, 16> phis;
    for (size_t i = 0; i < length_; ++i)
      for (auto [x, y] : llvm::zip(a_[i]->operands(), b_[i]->operands()))
        if (x.get() != y.get() && !At(x.get())) phis.insert({x.get(), y.get()});
    return phis;
  }

  llvm::SmallVector<Instruction*> a_, b_;
  llvm::DenseMap<const Value*, size_t> at_;
  size_t length_ = 0;
};

// Whether one branch that all threads take alike leads to the one block or to the other.
bool AreVersions(BasicBlock* a, BasicBlock* b) {
  llvm::DominatorTree dominators(*a->getParent());
  const llvm::LoopInfo loops(dominators);
  const BasicBlock* both = dominators.findNearestCommonDominator(a, b);
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(both->getTerminator());
  return both != a && both != b && branch && branch->isConditional() && !loops.getLoopFor(both) &&
         !loops.getLoopFor(a) && !loops.getLoopFor(b) && IsSameForAll(branch->getCondition());
}

// Merges two ends that are worth it. Returns whether there were such.
bool MergeTwo(llvm::Function& function) {
  // By what the blocks go on to; null: they return.
  llvm::MapVector<const BasicBlock*, llvm::SmallVector<BasicBlock*>> ways;
  for (BasicBlock& block : function) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    const bool returns = llvm::isa<llvm::ReturnInst>(block.getTerminator());
    // Phis of the block that follows would need what differs.
    if (branch && branch->isUnconditional() && !llvm::isa<llvm::PHINode>(branch->getSuccessor(0)->front()))
      ways[branch->getSuccessor(0)].push_back(&block);
    if (returns) ways[nullptr].push_back(&block);
  }
  for (auto& [next, blocks] : ways)
    for (size_t i = 0; i < blocks.size(); ++i)
      for (size_t j = i + 1; j < blocks.size(); ++j) {
        Ends ends(*blocks[i], *blocks[j]);
        if (!ends.Pay() || !AreVersions(blocks[i], blocks[j])) continue;
        ends.Merge();
        return true;
      }
  return false;
}

}  // namespace

void MergeTails(llvm::Module& module) {
  for (llvm::Function& function : module)
    while (function.getCallingConv() == llvm::CallingConv::PTX_Kernel && MergeTwo(function)) {
    }
}

}  // namespace tritond::compiler::nvidia
