// SPDX-License-Identifier: Apache-2.0
// Two neighbouring bytes of a word that are put together again are half of that word:
//
//   %a = extractelement <4 x i8> %w, 2 ; %b = extractelement <4 x i8> %w, 3
//   %p = shufflevector or insertelement of %a and %b : <2 x i8>            ->   %h = bitcast <4 x i8> %w to <2 x i16>
//   %r = bitcast <2 x i8> %p to i16                                             %r = extractelement <2 x i16> %h, 1
//
// Conversions of 8-bit floats take pairs, which instructions read out of either half of a register. Taking bytes apart
// and together costs three instructions a pair. Neighbours meet only after PackPhis: until then loops carry bytes.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::Value;

// An element of a vector.
struct Element {
  Value* vector = nullptr;
  uint64_t index = 0;
};

// Where element `index` of `vector` was taken from, as far back as constant positions lead. No vector: unknown.
Element SourceOf(Value* vector, uint64_t index) {
  while (true) {
    if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(vector)) {
      auto* at = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
      if (!at) return {};
      if (at->getZExtValue() != index) {
        vector = insert->getOperand(0);
        continue;
      }
      auto* taken = llvm::dyn_cast<llvm::ExtractElementInst>(insert->getOperand(1));
      auto* from = taken ? llvm::dyn_cast<llvm::ConstantInt>(taken->getIndexOperand()) : nullptr;
      if (!from) return {};
      vector = taken->getVectorOperand();
      index = from->getZExtValue();
      continue;
    }
    auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector);
    if (!shuffle) return {vector, index};
    const int from = shuffle->getMaskValue(index);
    if (from < 0) return {};
    const unsigned width = llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements();
    vector = shuffle->getOperand(static_cast<unsigned>(from) < width ? 0 : 1);
    index = from % width;
  }
}

bool IsVectorOfBytes(llvm::Type* type) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getElementType()->isIntegerTy(8);
}

// The half word that `pair`, a bitcast of two bytes, is; null where it is none.
Value* HalfWord(llvm::BitCastInst& pair) {
  Value* bytes = pair.getOperand(0);
  if (!pair.getType()->isIntegerTy(16) || !IsVectorOfBytes(bytes->getType())) return nullptr;
  const Element low = SourceOf(bytes, 0), high = SourceOf(bytes, 1);
  if (!low.vector || low.vector != high.vector || low.vector == bytes || !IsVectorOfBytes(low.vector->getType()))
    return nullptr;
  const unsigned width = llvm::cast<llvm::FixedVectorType>(low.vector->getType())->getNumElements();
  if (width % 2 != 0 || low.index % 2 != 0 || high.index != low.index + 1) return nullptr;
  llvm::IRBuilder<> b(&pair);
  Value* halves = b.CreateBitCast(low.vector, llvm::FixedVectorType::get(b.getInt16Ty(), width / 2));
  return b.CreateExtractElement(halves, low.index / 2);
}

}  // namespace

void PairBytes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::BitCastInst*> pairs;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction)) pairs.push_back(cast);
    for (llvm::BitCastInst* pair : pairs) {
      Value* half = HalfWord(*pair);
      if (!half) continue;
      pair->replaceAllUsesWith(half);
      llvm::SmallVector<llvm::WeakTrackingVH> unused{pair};
      while (!unused.empty()) {
        auto* instruction = llvm::dyn_cast_or_null<llvm::Instruction>(unused.pop_back_val());
        if (!instruction || !instruction->use_empty() || instruction->mayHaveSideEffects()) continue;
        for (Value* operand : instruction->operands()) unused.push_back(operand);
        instruction->eraseFromParent();
      }
    }
  }
}

}  // namespace tritond::compiler::nvidia
