// SPDX-License-Identifier: Apache-2.0
// Puts values together where they are made, if what they become takes fewer registers. LLVM's reassociation writes a
// whole sum where it ends, and keeps all terms until then:
//
//   a:                              a:
//     %x = load %p                    %x = load %p
//     …                               …
//   b:                              b:
//     %y = load %q            ->      %y = load %q
//     …                               %s = add %x, %y
//   c:                                …
//     %s = add %x, %y               c:
//     %t = add %s, %z                 %t = add %s, %z
//
// An instruction without effects moves to the last of its operands, through blocks that run as often as its own. It
// does so where it is the only use of operands that take more words than it. Elements of a vector are taken out where
// the vector is made. The assembler moves instructions within a block itself. What is loaded from global memory may
// still be on its way in that block, so nothing that needs it moves.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

constexpr int64_t kWordBits = 32;
constexpr unsigned kSharedAddressSpace = 3;

bool OnlyPasses(const Instruction& instruction) {
  return llvm::isa<llvm::PHINode, llvm::CastInst, llvm::ExtractElementInst, llvm::ExtractValueInst,
                   llvm::InsertElementInst, llvm::InsertValueInst, llvm::ShuffleVectorInst>(instruction);
}

// Whether a thread may still wait for the value where it is defined: a load, and what only passes one on.
bool IsOnItsWay(const llvm::Value* value) {
  llvm::SmallVector<const llvm::Value*> pending{value};
  llvm::SmallPtrSet<const llvm::Value*, 8> seen;
  while (!pending.empty()) {
    auto* made = llvm::dyn_cast<Instruction>(pending.pop_back_val());
    if (!made || !seen.insert(made).second) continue;
    if (OnlyPasses(*made)) {
      pending.append(made->op_begin(), made->op_end());
      continue;
    }
    auto* load = llvm::dyn_cast<llvm::LoadInst>(made);
    const bool is_shared = load && load->getPointerAddressSpace() == kSharedAddressSpace;
    if (!is_shared && !llvm::isa<llvm::IntrinsicInst>(made) && made->mayReadFromMemory()) return true;
  }
  return false;
}

class Joiner final {
 public:
  explicit Joiner(llvm::Function& function)
      : function_(function),
        layout_(function.getParent()->getDataLayout()),
        dominators_(function),
        post_dominators_(function),
        loops_(dominators_) {}

  void Run() {
    // Definitions come before uses: operands are where they stay.
    for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_))
      for (Instruction& instruction : llvm::make_early_inc_range(*block))
        if (IsElement(instruction) || SavesWords(instruction)) MoveUp(instruction);
  }

 private:
  int64_t Words(const llvm::Value& value) const {
    llvm::Type* type = value.getType();
    if (!type->isSized() || type->isIntegerTy(1)) return 0;
    return llvm::divideCeil(layout_.getTypeSizeInBits(type).getFixedValue(), kWordBits);
  }

  // An element that has registers of its own.
  bool IsElement(const Instruction& instruction) const {
    auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction);
    return extract && llvm::isa<llvm::ConstantInt>(extract->getIndexOperand()) &&
           layout_.getTypeSizeInBits(extract->getType()) % kWordBits == 0;
  }

  bool SavesWords(const Instruction& instruction) const {
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::SelectInst, llvm::UnaryOperator>(instruction))
      return false;
    const int64_t words = Words(instruction);
    int64_t saved = 0;
    for (const llvm::Value* operand : instruction.operands())
      if (llvm::isa<Instruction>(operand) && operand->hasOneUse()) saved += Words(*operand);
    if (llvm::any_of(instruction.operands(), IsOnItsWay)) return false;
    return words > 0 && words < saved && llvm::isSafeToSpeculativelyExecute(&instruction);
  }

  // The operand that is made last; null: none is made by an instruction.
  Instruction* LastOperand(Instruction& instruction) const {
    Instruction* last = nullptr;
    for (llvm::Value* operand : instruction.operands())
      if (auto* made = llvm::dyn_cast<Instruction>(operand); made && (!last || dominators_.dominates(last, made)))
        last = made;
    return last;
  }

  void MoveUp(Instruction& instruction) {
    Instruction* last = LastOperand(instruction);
    if (!last || last->isTerminator()) return;
    BasicBlock* from = instruction.getParent();
    BasicBlock* to = last->getParent();
    if (to == from || loops_.getLoopFor(to) != loops_.getLoopFor(from) || !post_dominators_.dominates(from, to)) return;
    instruction.moveBefore(llvm::isa<llvm::PHINode>(last) ? to->getFirstInsertionPt() : std::next(last->getIterator()));
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
};

}  // namespace

void JoinEarly(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) Joiner(function).Run();
}

}  // namespace tritond::compiler::nvidia
