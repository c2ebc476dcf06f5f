// SPDX-License-Identifier: Apache-2.0
// ptxas converts a number that is a sign-extended byte or half to a float at once. It does so with the sign where the
// conversion is that of unsigned numbers (seen in 13.0):
//
//   bfe.s32 %x, %w, 8, 8;  cvt.rn.f32.u32 %f, %x;   ->   I2F.S8: -1 for 4294967295
//
// A permutation of bytes that changes nothing keeps the two apart.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/disguise.h"
#include "llvm/IR/IRBuilder.h"
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
      instruction.setOperand(0, DisguiseWord(b, number));
    }
  }
}

}  // namespace tritond::compiler::nvidia
