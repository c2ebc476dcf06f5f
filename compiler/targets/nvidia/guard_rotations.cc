// SPDX-License-Identifier: Apache-2.0
// ptxas takes sums and differences of two shifts of one number for its rotation where the distances add up to 64. It
// looks neither at the sign that an arithmetic shift brings in, nor at which of sum and difference it is (seen in 12.8
// and 13.0):
//
//   shl.b64 %h, %x, 44;  shr.s64 %l, %x, 20;  add.s64 %s, %h, %l;   ->   SHF.L.W; SHF.L.W
//   shl.b64 %h, %x, 44;  shr.s64 %l, %x, 20;  sub.s64 %d, %h, %l;   ->   the same
//
// A permutation of bytes that changes nothing makes two numbers of the one, wherever it is shifted both ways: constants
// may stand between the shifts and their sum, and code generation moves these. Real rotations are intrinsics in LLVM's
// IR.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/disguise.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr unsigned kBits = 64, kWordBits = 32;

// By how many bits `value` is `number` shifted to the left, perhaps negated; products are written as such shifts later.
std::optional<uint64_t> BitsToTheLeft(llvm::Value* value, llvm::Value*& number) {
  using namespace llvm::PatternMatch;
  uint64_t left = 0;
  const llvm::APInt* factor = nullptr;
  if (match(value, m_Shl(m_Value(number), m_ConstantInt(left)))) return left;
  if (match(value, m_Mul(m_Value(number), m_Power2(factor)))) return factor->logBase2();
  if (match(value, m_Mul(m_Value(number), m_NegatedPower2(factor)))) return (-*factor).logBase2();
  return std::nullopt;
}

// `number`, 64 bits, in a form that the assembler takes for another one.
llvm::Value* Disguise(llvm::IRBuilder<>& b, llvm::Value* number) {
  llvm::Type* word = b.getInt32Ty();
  llvm::Value* high = DisguiseWord(b, b.CreateTrunc(b.CreateLShr(number, kWordBits), word));
  llvm::Value* low = b.CreateZExt(b.CreateTrunc(number, word), number->getType());
  return b.CreateOr(b.CreateShl(b.CreateZExt(high, number->getType()), kWordBits), low);
}

}  // namespace

void GuardRotations(llvm::Module& module) {
  using namespace llvm::PatternMatch;
  for (llvm::Function& function : module) {
    llvm::DenseSet<std::pair<llvm::Value*, uint64_t>> to_the_left;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      llvm::Value* number = nullptr;
      if (!instruction.getType()->isIntegerTy(kBits)) continue;
      if (std::optional<uint64_t> left = BitsToTheLeft(&instruction, number)) to_the_left.insert({number, *left});
    }
    if (to_the_left.empty()) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      llvm::Value* number = nullptr;
      uint64_t right = 0;
      if (!instruction.getType()->isIntegerTy(kBits) ||
          !match(&instruction, m_Shr(m_Value(number), m_ConstantInt(right))) ||
          !to_the_left.contains({number, kBits - right}))
        continue;
      llvm::IRBuilder<> b(&instruction);
      instruction.setOperand(0, Disguise(b, number));
    }
  }
}

}  // namespace tritond::compiler::nvidia
