// SPDX-License-Identifier: Apache-2.0
// ptxas converts a number that is a sign-extended byte or half to a float at once. It does so with the sign where the
// conversion is that of unsigned numbers (seen in 13.0):
//
//   bfe.s32 %x, %w, 8, 8;  cvt.rn.f32.u32 %f, %x;   ->   I2F.S8: -1 for 4294967295
//
// Nor does it always clear the upper half of a word that holds a sign-extended byte of 16 bits (seen in 13.0, where a
// function has the byte as a parameter):
//
//   cvt.u32.u16 %y, %x;  popc.b32 %c, %y;           ->   SGXT ; POPC: 32 for -1
//
// A permutation of bytes that changes nothing keeps the two apart.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/disguise.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {
namespace {

// Whether the instruction takes a number of 16 bits for one of 32 without a sign.
bool TakesHalfAsWord(const llvm::Instruction& instruction) {
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return intrinsic->getIntrinsicID() == llvm::Intrinsic::ctpop ||
           intrinsic->getIntrinsicID() == llvm::Intrinsic::ctlz;
  return llvm::isa<llvm::ZExtInst>(instruction);
}

void Guard(llvm::Instruction& instruction) {
  using namespace llvm::PatternMatch;
  llvm::Value* narrow = nullptr;
  if (instruction.getNumOperands() == 0 || !match(instruction.getOperand(0), m_SExt(m_Value(narrow)))) return;
  llvm::Value* number = instruction.getOperand(0);
  llvm::IRBuilder<> b(&instruction);
  if (llvm::isa<llvm::UIToFPInst>(instruction) && number->getType()->isIntegerTy(32)) {
    instruction.setOperand(0, DisguiseWord(b, number));
  } else if (TakesHalfAsWord(instruction) && number->getType()->isIntegerTy(16)) {
    llvm::Value* word = DisguiseWord(b, b.CreateSExt(narrow, b.getInt32Ty()));
    instruction.setOperand(0, b.CreateTrunc(word, number->getType()));
  }
}

}  // namespace

void GuardUnsigned(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) Guard(instruction);
}

}  // namespace tritond::compiler::nvidia
