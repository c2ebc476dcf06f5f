// SPDX-License-Identifier: Apache-2.0
// Two floats are rounded into one word, and masks of its halves go to different words. ptxas then loses the mask of the
// upper half, and takes the lower one for it. Where only upper halves are masked, it does not end (both seen in 13.0).
//
//   cvt.rn.f16x2.f32 %w, %x, %y;
//   mov.b32 {%l, %h}, %w;  and.b16 %a, %l, 0x7fff;  and.b16 %b, %h, 0x7fff;   ->   {%l & 0x7fff, %l}
//
// So the word is masked, and taken apart afterwards. It is inline assembly, for LLVM narrows what it sees.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {
namespace {

struct MaskedHalf {
  llvm::Value* word = nullptr;  // a vector of two elements; null: the operation is no such mask
  uint64_t half = 0;
  uint64_t mask = 0;
};

MaskedHalf Find(llvm::Instruction& op) {
  using namespace llvm::PatternMatch;
  MaskedHalf found;
  llvm::Value *element, *word;
  if (!op.getType()->isIntegerTy(16) || !match(&op, m_And(m_Value(element), m_ConstantInt(found.mask)))) return {};
  match(element, m_BitCast(m_Value(element)));
  if (!match(element, m_ExtractElt(m_Value(word), m_ConstantInt(found.half))) || found.half > 1) return {};
  if (word->getType()->getPrimitiveSizeInBits() == 32) found.word = word;
  return found;
}

}  // namespace

void MaskWords(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& op : llvm::make_early_inc_range(llvm::instructions(function))) {
      const MaskedHalf found = Find(op);
      if (!found.word) continue;
      llvm::IRBuilder<> b(&op);
      llvm::Type* type = b.getInt32Ty();
      auto* text = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type, type}, false), "and.b32 $0, $1, $2;",
                                        "=r,r,n", /*hasSideEffects=*/false);
      const uint64_t mask = found.half ? found.mask << 16 | 0xffff : 0xffff0000 | (found.mask & 0xffff);
      llvm::Value* masked =
          b.CreateCall(text, {b.CreateBitCast(found.word, type), b.getInt32(static_cast<uint32_t>(mask))});
      auto* halves = llvm::FixedVectorType::get(b.getInt16Ty(), 2);
      op.replaceAllUsesWith(b.CreateExtractElement(b.CreateBitCast(masked, halves), found.half));
      op.eraseFromParent();
    }
  }
}

}  // namespace tritond::compiler::nvidia
