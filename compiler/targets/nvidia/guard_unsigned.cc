// SPDX-License-Identifier: Apache-2.0
// ptxas converts a number that is a sign-extended byte or half to a float at once. It does so with the sign where the
// conversion is that of unsigned numbers (seen in 13.0):
//
//   bfe.s32 %x, %w, 8, 8;  cvt.rn.f32.u32 %f, %x;   ->   I2F.S8: -1 for 4294967295
//
// A permutation of bytes that changes nothing keeps the two apart.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {

void GuardUnsigned(llvm::Module& module) {
  using namespace llvm::PatternMatch;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      llvm::Value* narrow = nullptr;
      if (!match(&instruction, m_UIToFP(m_SExt(m_Value(narrow))))) continue;
      llvm::Value* number = instruction.getOperand(0);
      if (!number->getType()->isIntegerTy(32)) continue;
      llvm::IRBuilder<> b(&instruction);
      llvm::Type* word = b.getInt32Ty();
      auto* same = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, false), "prmt.b32 $0, $1, 0, 0x3210;",
                                        "=r,r", /*hasSideEffects=*/false);
      instruction.setOperand(0, b.CreateCall(same, {number}));
    }
  }
}

}  // namespace tritond::compiler::nvidia
