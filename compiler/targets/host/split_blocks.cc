// SPDX-License-Identifier: Apache-2.0
// LLVM selects and schedules instructions a basic block at a time, and its cost grows with the square of the block. A
// thread that holds 4,096 elements has all of its straight-line code, a quarter of a million instructions, in one
// block. Cut into pieces, the cost grows with the code:
//
//   %a = ...                      %a = ...
//   %b = ...                      br label %piece
//                               piece:
//                                 %b = ...
//
// The price is that what lives across a cut goes through the stack. The back end runs without optimisations, so nothing
// joins the pieces before instructions are selected.
#include "compiler/targets/host/codegen.h"
#include "llvm/IR/Instructions.h"

namespace tritond::compiler::host {
namespace {

// At an instruction that LLVM's fast selector does not know, it leaves the block up to there to the slow one. That
// one's scheduler compares each instruction with all that are ready, up to 1,000. For kernels of 75 to 190 kB of LLVM
// IR, the back end executes 5 to 7 percent fewer instructions than with blocks of 500.
constexpr int kMaxBlockInstructions = 100;

// The last stack slot of a block, or null. Slots stay in the first piece: they are the function's frame only as long as
// they are in its entry block.
llvm::Instruction* LastSlot(llvm::BasicBlock& block) {
  llvm::Instruction* last = nullptr;
  for (llvm::Instruction& instruction : block) {
    if (llvm::isa<llvm::AllocaInst>(instruction)) last = &instruction;
  }
  return last;
}

// Where the second piece of a block that is too large begins; null when it is not.
llvm::Instruction* CutOf(llvm::BasicBlock& block) {
  llvm::Instruction* slot = LastSlot(block);
  int count = 0;
  for (llvm::Instruction* at = slot ? slot->getNextNode() : &*block.getFirstNonPHIIt(); at; at = at->getNextNode()) {
    if (at->isTerminator()) break;
    if (++count > kMaxBlockInstructions) return at;
  }
  return nullptr;
}

}  // namespace

void SplitLargeBlocks(llvm::Module& module) {
  for (llvm::Function& function : module) {
    // A new piece is the next block of the walk.
    for (llvm::BasicBlock& block : function) {
      if (llvm::Instruction* cut = CutOf(block)) block.splitBasicBlock(cut, "piece");
    }
  }
}

}  // namespace tritond::compiler::host
