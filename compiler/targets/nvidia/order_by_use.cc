// SPDX-License-Identifier: Apache-2.0
// Computes values where they are needed. Lowering emits an operation for all elements of a thread, then the next one:
//
//   %p0 = gep …; %p1 = gep …                           %p0 = gep …; %a0 = load %p0
//   %a0 = load %p0; %a1 = load %p1                     %p1 = gep …; %a1 = load %p1
//   %b0 = f %a0; %b1 = f %a1                      ->   %b0 = f %a0; %c0 = g %b0; %s = add %x, %c0
//   %c0 = g %b0; %c1 = g %b1                           %b1 = f %a1; %c1 = g %b1; %t = add %s, %c1
//   %s = add %x, %c0; %t = add %s, %c1
//
// In the order on the left, what all elements need is live at once. Where this takes too many registers, ptxas orders
// the instructions anew, and starts loads one after another.
//
// An instruction without effects moves to the first one in its block that needs it, if one alone needs it, or if all
// its operands move or come from elsewhere, as those of indices do. All others keep their order: several instructions
// need them, as in a sort, and none of these is more urgent. Functions that use the matrix units stay as they are, for
// their tiles decide what is live.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

bool IsPure(const Instruction& instruction) {
  return !llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction) && !instruction.isTerminator() &&
         !instruction.mayHaveSideEffects() && !instruction.mayReadFromMemory();
}

// The instruction of `block`, after its phis, that makes `value`; or null.
Instruction* MadeIn(const BasicBlock& block, llvm::Value* value) {
  auto* made = llvm::dyn_cast<Instruction>(value);
  return made && made->getParent() == &block && !llvm::isa<llvm::PHINode>(made) ? made : nullptr;
}

// Finds the new order of a block's instructions, without its phis.
class BlockOrder final {
 public:
  explicit BlockOrder(BasicBlock& block) : block_(block) {}

  std::vector<Instruction*> Find() {
    std::vector<Instruction*> all;
    for (Instruction& instruction : block_) {
      if (llvm::isa<llvm::PHINode>(instruction)) continue;
      all.push_back(&instruction);
      if (IsPure(instruction) && (instruction.hasOneUse() || AllMove(instruction))) moving_.insert(&instruction);
    }
    for (Instruction* instruction : all)
      if (!moving_.contains(instruction) && !instruction->isTerminator()) Place(instruction);
    // What other blocks need, as it was, and the terminator.
    for (Instruction* instruction : all) Place(instruction);
    return std::move(order_);
  }

 private:
  bool AllMove(Instruction& instruction) {
    return llvm::all_of(instruction.operands(), [&](llvm::Value* operand) {
      const Instruction* made = MadeIn(block_, operand);
      return !made || moving_.contains(made);
    });
  }

  // After the operands that it has in this block.
  void Place(Instruction* root) {
    std::vector<std::pair<Instruction*, unsigned>> pending{{root, 0}};
    while (!pending.empty()) {
      auto& [instruction, next] = pending.back();
      if (placed_.contains(instruction)) {
        pending.pop_back();
      } else if (next < instruction->getNumOperands()) {
        Instruction* operand = MadeIn(block_, instruction->getOperand(next++));
        if (operand) pending.push_back({operand, 0});
      } else {
        placed_.insert(instruction);
        order_.push_back(instruction);
        pending.pop_back();
      }
    }
  }

  BasicBlock& block_;
  llvm::DenseSet<const Instruction*> moving_, placed_;
  std::vector<Instruction*> order_;
};

}  // namespace

void OrderByUse(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (llvm::any_of(llvm::instructions(function), IsMatrixInstruction)) continue;
    for (BasicBlock& block : function) {
      Instruction* terminator = block.getTerminator();
      for (Instruction* instruction : BlockOrder(block).Find())
        if (instruction != terminator) instruction->moveBefore(terminator->getIterator());
    }
  }
}

}  // namespace tritond::compiler::nvidia
