// SPDX-License-Identifier: Apache-2.0
// wgmma holds two f16 sums in a register. Lowering takes them apart for what else computes with them, so that loops
// carry halves, which must not be put together again while the product that adds to them runs:
//
//   %x = phi half [ 0.0, %entry ], [ %x1, %loop ]          %w = phi i32 [ 0, %entry ], [ %w1, %loop ]
//   %y = phi half [ 0.0, %entry ], [ %y1, %loop ]
//   %p = insertelement <2 x half> poison, half %x, 0
//   %v = insertelement <2 x half> %p, half %y, 1     ->
//   %w = bitcast <2 x half> %v to i32
//   %w1 = (wgmma that adds to %w)                          %w1 = (wgmma that adds to %w)
//   %v1 = bitcast i32 %w1 to <2 x half>
//   %x1 = extractelement <2 x half> %v1, 0
//   %y1 = extractelement <2 x half> %v1, 1
//
// Such a word is carried instead of its halves in functions with wgmma.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tritond::compiler::nvidia {
namespace {

namespace match = llvm::PatternMatch;
using Halves = std::pair<llvm::Value*, llvm::Value*>;

// The halves of which `value` is a word; null ones if it is none.
Halves HalvesOf(llvm::Value* value) {
  Halves halves{nullptr, nullptr};
  auto first = match::m_InsertElt(match::m_Undef(), match::m_Value(halves.first), match::m_ZeroInt());
  auto both = match::m_InsertElt(first, match::m_Value(halves.second), match::m_One());
  const bool is_word = value->getType()->isIntegerTy(32) && match::match(value, match::m_BitCast(both)) &&
                       halves.first->getType()->isHalfTy();
  return is_word ? halves : Halves(nullptr, nullptr);
}

// The word of two halves, made in front of `at` if there is none.
llvm::Value* WordOf(Halves halves, llvm::Instruction* at) {
  llvm::Value *word = nullptr, *vector = nullptr;
  auto element = [&](auto index) { return match::m_ExtractElt(match::m_Value(vector), index); };
  if (match::match(halves.first, element(match::m_ZeroInt())) &&
      match::match(halves.second, match::m_ExtractElt(match::m_Specific(vector), match::m_One())) &&
      match::match(vector, match::m_BitCast(match::m_Value(word))) && word->getType()->isIntegerTy(32))
    return word;
  llvm::IRBuilder<> b(at);
  llvm::Value* made = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getHalfTy(), 2));
  made = b.CreateInsertElement(made, halves.first, uint64_t{0});
  return b.CreateBitCast(b.CreateInsertElement(made, halves.second, uint64_t{1}), b.getInt32Ty());
}

void CarryWordsIn(llvm::Function& function) {
  llvm::DenseMap<Halves, llvm::PHINode*> words;
  llvm::SmallVector<llvm::WeakTrackingVH> replaced;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    Halves halves = HalvesOf(&instruction);
    auto *low = llvm::dyn_cast_or_null<llvm::PHINode>(halves.first),
         *high = llvm::dyn_cast_or_null<llvm::PHINode>(halves.second);
    if (!low || !high || low->getParent() != high->getParent()) continue;
    llvm::PHINode*& word = words[halves];
    if (!word) {
      word = llvm::PHINode::Create(instruction.getType(), low->getNumIncomingValues(), "", low->getIterator());
      for (auto [block, value] : llvm::zip(low->blocks(), low->incoming_values())) {
        const int known = word->getBasicBlockIndex(block);  // of a block that branches here twice
        word->addIncoming(known >= 0 ? word->getIncomingValue(known)
                                     : WordOf({value, high->getIncomingValueForBlock(block)}, block->getTerminator()),
                          block);
      }
    }
    instruction.replaceAllUsesWith(word);
    replaced.push_back(&instruction);
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(replaced);
}

}  // namespace

void CarryWords(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (llvm::any_of(llvm::instructions(function), IsWgmma)) CarryWordsIn(function);
}

}  // namespace tritond::compiler::nvidia
