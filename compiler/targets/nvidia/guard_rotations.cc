// SPDX-License-Identifier: Apache-2.0
// ptxas takes sums and differences of two shifts of one number for its rotation where the distances add up to 64. It
// looks neither at the sign that an arithmetic shift brings in, nor at which of sum and difference it is (seen in 12.8
// and 13.0):
//
//   shl.b64 %h, %x, 44;  shr.s64 %l, %x, 20;  add.s64 %s, %h, %l;   ->   SHF.L.W; SHF.L.W
//   shl.b64 %h, %x, 44;  shr.s64 %l, %x, 20;  sub.s64 %d, %h, %l;   ->   the same
//
// A permutation of bytes that changes nothing makes two numbers of the one. Sums with logical shifts are rotations.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr unsigned kBits = 64, kWordBits = 32;

// The shift to the right, where the two operands shift one number so far; else null.
llvm::Instruction* ShiftToTheRight(llvm::Value* a, llvm::Value* b) {
  using namespace llvm::PatternMatch;
  llvm::Value* number = nullptr;
  uint64_t left = 0, right = 0;
  const bool matches =
      match(a, m_Shl(m_Value(number), m_ConstantInt(left))) && match(b, m_Shr(m_Specific(number), m_ConstantInt(right)));
  return matches && left + right == kBits ? llvm::cast<llvm::Instruction>(b) : nullptr;
}

// `number`, 64 bits, in a form that the assembler takes for another one.
llvm::Value* Disguise(llvm::IRBuilder<>& b, llvm::Value* number) {
  llvm::Type* word = b.getInt32Ty();
  auto* same = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, false), "prmt.b32 $0, $1, 0, 0x3210;", "=r,r",
                                    /*hasSideEffects=*/false);
  llvm::Value* high = b.CreateCall(same, {b.CreateTrunc(b.CreateLShr(number, kWordBits), word)});
  llvm::Value* low = b.CreateZExt(b.CreateTrunc(number, word), number->getType());
  return b.CreateOr(b.CreateShl(b.CreateZExt(high, number->getType()), kWordBits), low);
}

}  // namespace

void GuardRotations(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      const bool is_sum = instruction.getOpcode() == llvm::Instruction::Add;
      if (!(is_sum || instruction.getOpcode() == llvm::Instruction::Sub) || !instruction.getType()->isIntegerTy(kBits))
        continue;
      llvm::Value *a = instruction.getOperand(0), *b = instruction.getOperand(1);
      llvm::Instruction* shift = ShiftToTheRight(a, b) ? ShiftToTheRight(a, b) : ShiftToTheRight(b, a);
      if (!shift || (is_sum && shift->getOpcode() == llvm::Instruction::LShr)) continue;
      llvm::IRBuilder<> builder(&instruction);
      llvm::Value* other = builder.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(shift->getOpcode()),
                                               Disguise(builder, shift->getOperand(0)), shift->getOperand(1));
      instruction.replaceUsesOfWith(shift, other);
    }
  }
}

}  // namespace tritond::compiler::nvidia
