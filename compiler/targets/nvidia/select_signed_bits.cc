// SPDX-License-Identifier: Apache-2.0
// LLVM's back end for NVIDIA extends a bit without its sign where it becomes bf16 (seen in 22): 1 instead of -1. Its
// passes make such a conversion of an extension to bytes, f32 and a rounding, too.
//
//   sitofp i1 %b to bfloat   ->   select i1 %b, bfloat -1.0, bfloat 0.0
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {

void SelectSignedBits(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* conversion = llvm::dyn_cast<llvm::SIToFPInst>(&instruction);
      if (!conversion || !conversion->getOperand(0)->getType()->isIntegerTy(1)) continue;
      llvm::Type* type = conversion->getType();
      llvm::IRBuilder<> b(conversion);
      conversion->replaceAllUsesWith(b.CreateSelect(conversion->getOperand(0), llvm::ConstantFP::get(type, -1.0),
                                                    llvm::ConstantFP::get(type, 0.0)));
      conversion->eraseFromParent();
    }
  }
}

}  // namespace tritond::compiler::nvidia
