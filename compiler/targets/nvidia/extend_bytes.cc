// SPDX-License-Identifier: Apache-2.0
// A byte of a word that is multiplied as a number of 32 bits is taken out of the word by one instruction:
//
//   %b = extractelement <4 x i8> %w, 2                 %v = bitcast <4 x i8> %w to i32
//   %x = zext i8 %b to i32                       ->    %x = call i32 @llvm.nvvm.prmt(i32 %v, i32 0, i32 0x7772)
//   %r = mul i32 %x, 129                               %r = mul i32 %x, 129
//
// LLVM multiplies what is extended as numbers of 16 bits (mul.wide.u16). The assembler then clears the upper half of
// each byte's register, which it does not know to be zero.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr unsigned kBytesOfWord = 4;
constexpr uint32_t kZeros = 0x7770;  // selects byte 0 of the first operand; above it, the last byte of the second one

// LLVM takes a shift by a constant as a product, too.
bool IsMultiplied(const llvm::Instruction& number) {
  return llvm::any_of(number.users(), [](const llvm::User* user) {
    auto* op = llvm::dyn_cast<llvm::BinaryOperator>(user);
    return op && llvm::isa<llvm::ConstantInt>(op->getOperand(1)) &&
           (op->getOpcode() == llvm::Instruction::Mul || op->getOpcode() == llvm::Instruction::Shl);
  });
}

// The number that `extension` makes of a byte of a word; null: it makes none of one.
llvm::Value* OutOfWord(llvm::ZExtInst& extension) {
  using namespace llvm::PatternMatch;
  llvm::Value* bytes;
  uint64_t index;
  if (!match(extension.getOperand(0), m_ExtractElt(m_Value(bytes), m_ConstantInt(index)))) return nullptr;
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(bytes->getType());
  if (!type || !type->getElementType()->isIntegerTy(8) || type->getNumElements() % kBytesOfWord != 0) return nullptr;
  llvm::IRBuilder<> b(&extension);
  auto* words = llvm::FixedVectorType::get(b.getInt32Ty(), type->getNumElements() / kBytesOfWord);
  llvm::Value* word = b.CreateExtractElement(b.CreateBitCast(bytes, words), index / kBytesOfWord);
  const auto selector = static_cast<uint32_t>(kZeros + index % kBytesOfWord);
  return b.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {word, b.getInt32(0), b.getInt32(selector)});
}

}  // namespace

void ExtendBytes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& op : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* extension = llvm::dyn_cast<llvm::ZExtInst>(&op);
      if (!extension || !extension->getType()->isIntegerTy(32) || !IsMultiplied(*extension)) continue;
      if (llvm::Value* number = OutOfWord(*extension)) {
        extension->replaceAllUsesWith(number);
        extension->eraseFromParent();
      }
    }
  }
}

}  // namespace tritond::compiler::nvidia
