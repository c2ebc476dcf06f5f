// SPDX-License-Identifier: Apache-2.0
// ptxas merges the high half of a product, extended to 64 bits, with what is subtracted from it. It negates the low
// word of that number alone, and loses the carry where the word is 0. The result is off by 2^32 (seen
// in 12.8, 12.9, 13.0).
//
//   mul.hi.u32 %h, %x, c;  cvt.u64.u32 %w, %h;  sub.s64 %d, %w, %y;   ->   -y.lo;  IMAD.HI.U32 with a carry;  ~y.hi
//
// Divisions by constants are such products. A permutation of bytes that changes nothing keeps the two apart.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/disguise.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {
namespace {

// Whether the back end may compute `value` as the high half of a product of 32 bits.
bool MayBeHighProduct(llvm::Value* value) {
  using namespace llvm::PatternMatch;
  while (match(value, m_ZExt(m_Value(value))) || match(value, m_Trunc(m_Value(value)))) {
  }
  return match(value, m_UDiv(m_Value(), m_Value())) || match(value, m_LShr(m_Mul(m_Value(), m_Value()), m_Value())) ||
         match(value, m_Intrinsic<llvm::Intrinsic::nvvm_mulhi_ui>());
}

bool HasOneWord(const llvm::Value* value, const llvm::DataLayout& layout) {
  return llvm::computeKnownBits(value, layout).countMinLeadingZeros() >= 32;
}

}  // namespace

void GuardHighProducts(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (instruction.getOpcode() != llvm::Instruction::Sub || !instruction.getType()->isIntegerTy(64)) continue;
      llvm::Value* minuend = instruction.getOperand(0);
      // ptxas negates constants as a whole.
      if (llvm::isa<llvm::ConstantInt>(instruction.getOperand(1))) continue;
      if (!MayBeHighProduct(minuend) || !HasOneWord(minuend, module.getDataLayout())) continue;
      llvm::IRBuilder<> b(&instruction);
      llvm::Value* guarded = DisguiseWord(b, b.CreateTrunc(minuend, b.getInt32Ty()));
      instruction.setOperand(0, b.CreateZExt(guarded, minuend->getType()));
    }
  }
}

}  // namespace tritond::compiler::nvidia
