// SPDX-License-Identifier: Apache-2.0
// A loop may carry a value that the first iteration does not read, such as that of an inner loop which became one with
// it. LLVM says poison, and PTX has a register that nothing has written. ptxas then takes other values of the loop for
// it, also in later iterations (seen in 12.8 and 13.0). So it begins as zero.
//
//   %x = phi i32 [ poison, %entry ], [ %y, %loop ]   ->   %x = phi i32 [ 0, %entry ], [ %y, %loop ]
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {

void DefinePhis(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::PHINode& phi : block.phis())
        for (llvm::Use& value : phi.incoming_values())
          if (llvm::isa<llvm::UndefValue>(value)) value.set(llvm::Constant::getNullValue(phi.getType()));
}

}  // namespace tritond::compiler::nvidia
