// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/disguise.h"

#include "llvm/IR/InlineAsm.h"

namespace tritond::compiler::nvidia {

llvm::Value* DisguiseWord(llvm::IRBuilder<>& b, llvm::Value* word, bool stays) {
  llvm::Type* type = b.getInt32Ty();
  auto* same = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "prmt.b32 $0, $1, 0, 0x3210;", "=r,r",
                                    /*hasSideEffects=*/stays);
  return b.CreateCall(same, {word});
}

}  // namespace tritond::compiler::nvidia
