// SPDX-License-Identifier: Apache-2.0
// LLVM makes integers of odd widths where it sees bits that change their order:
//
//   %t = trunc i64 %x to i5                              %t = and i32 (trunc i64 %x to i32), 31
//   %r = call i5 @llvm.bitreverse.i5(i5 %t)       ->     %r = or (shl (and %t, 1), 4), (shl (and %t, 2), 2), …
//   %z = zext i5 %r to i32                               %z = %r
//
// SPIR-V for OpenCL has none of them, and no instruction that reverses bits. Values of other operations than these
// stay, and are refused.
#include "compiler/targets/intel/codegen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tritond::compiler::intel {
namespace {

constexpr unsigned kWide = 32;

bool IsOdd(llvm::Type* type) {
  const unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
  return bits > 1 && bits < kWide && bits != 8 && bits != 16;
}

class Widener final {
 public:
  // The i32 that is `value` with zeros in front; null where that is not known.
  llvm::Value* Widen(llvm::Value* value) {
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value))
      return llvm::ConstantInt::get(llvm::Type::getInt32Ty(value->getContext()), constant->getZExtValue());
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction) return nullptr;
    auto [entry, is_new] = wide_.try_emplace(value, nullptr);
    if (!is_new) return entry->second;
    llvm::Value* wide = Make(*instruction);
    return wide_[value] = wide;
  }

 private:
  // The `bits` lowest bits of `value`, all that it has, in the opposite order.
  static llvm::Value* Reversed(llvm::IRBuilder<>& b, llvm::Value* value, unsigned bits) {
    llvm::Value* reversed = b.getInt32(0);
    for (unsigned from = 0; from < bits; ++from) {
      const unsigned to = bits - 1 - from;
      llvm::Value* bit = b.CreateAnd(value, uint64_t{1} << from);
      bit = to >= from ? b.CreateShl(bit, to - from) : b.CreateLShr(bit, from - to);
      reversed = b.CreateOr(reversed, bit);
    }
    return reversed;
  }

  llvm::Value* Make(llvm::Instruction& instruction) {
    llvm::IRBuilder<> b(&instruction);
    const unsigned bits = instruction.getType()->getIntegerBitWidth();
    if (auto* trunc = llvm::dyn_cast<llvm::TruncInst>(&instruction))
      return b.CreateAnd(b.CreateZExtOrTrunc(trunc->getOperand(0), b.getInt32Ty()), (uint64_t{1} << bits) - 1);
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call && call->getIntrinsicID() == llvm::Intrinsic::bitreverse) {
      llvm::Value* operand = Widen(call->getArgOperand(0));
      if (!operand) return nullptr;
      return Reversed(b, operand, bits);
    }
    if (!instruction.isBitwiseLogicOp()) return nullptr;
    llvm::Value *x = Widen(instruction.getOperand(0)), *y = Widen(instruction.getOperand(1));
    if (!x || !y) return nullptr;
    return b.CreateBinOp(llvm::cast<llvm::BinaryOperator>(instruction).getOpcode(), x, y);
  }

  llvm::DenseMap<llvm::Value*, llvm::Value*> wide_;
};

}  // namespace

void WidenIntegers(llvm::Function& function) {
  llvm::SmallVector<llvm::ZExtInst*> extensions;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* extension = llvm::dyn_cast<llvm::ZExtInst>(&instruction); extension && IsOdd(extension->getSrcTy()))
      extensions.push_back(extension);
  Widener widener;
  for (llvm::ZExtInst* extension : extensions) {
    llvm::Value* wide = widener.Widen(extension->getOperand(0));
    if (!wide) continue;
    llvm::IRBuilder<> b(extension);
    extension->replaceAllUsesWith(b.CreateZExtOrTrunc(wide, extension->getType()));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(extension);
  }
}

}  // namespace tritond::compiler::intel
