// SPDX-License-Identifier: Apache-2.0
// Where a tensor ends inside of 16 bytes, each element that was loaded is selected on its own, at an instruction each
// and one more to take the upper one out of its word. The conditions are those of columns, so that many words have the
// same:
//
//   %x = extractelement <2 x bfloat> %w, 0 ; %s = select i1 %c, %x, %other
//   %y = extractelement <2 x bfloat> %w, 1 ; %t = select i1 %d, %y, %other
//     ->
//   %m = (%c ? 0xffff : 0) | (%d ? 0xffff0000 : 0)                         ; once for all such words
//   %v = (%w & %m) | (%others & ~%m) ; %s = %v[0] ; %t = %v[1]             ; one instruction
//
// A mask costs three instructions itself, and a register as long as it is used, so it takes four words that share it.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned kWordBits = 32;
constexpr size_t kLeastWords = 4;
constexpr int kMostMoved = 64;  // instructions, to have a condition earlier

// The elements of one word that are selected, each by a condition of its own: null where an element is not.
struct SelectedWord {
  llvm::SmallVector<llvm::SelectInst*, 4> selects;
  Value* Word() const { return llvm::cast<llvm::ExtractElementInst>(selects[0]->getTrueValue())->getVectorOperand(); }
  Value* Other() const { return selects[0]->getFalseValue(); }  // where the conditions are false
  llvm::SmallVector<Value*, 4> Conditions() const {
    llvm::SmallVector<Value*, 4> conditions;
    for (llvm::SelectInst* select : selects) conditions.push_back(select->getCondition());
    return conditions;
  }
};

// Moves `value` and what it is computed from in its block in front of `at`. False where that cannot be.
bool MoveBefore(Value* value, Instruction& at, int& left) {
  auto* made = llvm::dyn_cast<Instruction>(value);
  if (!made || made->getParent() != at.getParent() || made->comesBefore(&at)) return true;
  if (made == &at || llvm::isa<llvm::PHINode>(made) || made->mayReadOrWriteMemory() ||
      !llvm::isSafeToSpeculativelyExecute(made) || --left < 0)
    return false;
  for (Value* operand : made->operands())
    if (!MoveBefore(operand, at, left)) return false;
  made->moveBefore(at.getIterator());
  return true;
}

// Those of a block, in its order, by the words that they are elements of.
class BlockWords final {
 public:
  explicit BlockWords(llvm::BasicBlock& block) {
    for (Instruction& op : block)
      if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&op)) Add(*select);
  }

  void Mask() {
    llvm::MapVector<llvm::SmallVector<Value*, 4>, llvm::SmallVector<SelectedWord*>> by_conditions;
    for (auto& [key, word] : words_)
      if (!llvm::is_contained(word.selects, nullptr)) by_conditions[word.Conditions()].push_back(&word);
    for (auto& [conditions, words] : by_conditions) {
      if (words.size() < kLeastWords) continue;
      Value* mask = nullptr;
      for (SelectedWord* word : words) MaskWord(*word, mask);
    }
  }

 private:
  void Add(llvm::SelectInst& select) {
    auto* element = llvm::dyn_cast<llvm::ExtractElementInst>(select.getTrueValue());
    auto* at = element ? llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand()) : nullptr;
    if (!at || select.getCondition()->getType() != llvm::Type::getInt1Ty(select.getContext())) return;
    Value* word = element->getVectorOperand();
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(word->getType());
    if (!type || type->getPrimitiveSizeInBits() != kWordBits || type->getNumElements() < 2) return;
    if (at->getValue().uge(type->getNumElements())) return;
    SelectedWord& found = words_[{word, select.getFalseValue()}];
    found.selects.resize(type->getNumElements());
    if (llvm::SelectInst*& known = found.selects[at->getZExtValue()]; !known) known = &select;
  }

  // `mask` is made in front of the first word, and used by all that follow.
  static void MaskWord(const SelectedWord& found, Value*& mask) {
    const llvm::SmallVector<Value*, 4> conditions = found.Conditions();
    Value *word = found.Word(), *other = found.Other();
    Instruction& first =
        **llvm::min_element(found.selects, [](llvm::SelectInst* a, llvm::SelectInst* b) { return a->comesBefore(b); });
    int left = kMostMoved;
    for (Value* condition : conditions)
      if (!MoveBefore(condition, first, left)) return;
    if (!MoveBefore(other, first, left) || (mask && !MoveBefore(mask, first, left))) return;
    llvm::IRBuilder<> b(&first);
    const auto width = static_cast<unsigned>(kWordBits / conditions.size());
    auto bits_of = [&](size_t element) {
      return llvm::APInt::getBitsSet(kWordBits, element * width, (element + 1) * width);
    };
    if (!mask) {
      for (auto [element, condition] : llvm::enumerate(conditions)) {
        Value* bits = b.CreateSelect(condition, b.getInt(bits_of(element)), b.getInt32(0));
        mask = mask ? b.CreateOr(mask, bits) : bits;
      }
    }
    Value* masked = b.CreateAnd(b.CreateBitCast(word, b.getInt32Ty()), mask);
    Value* others = b.CreateBitCast(b.CreateVectorSplat(conditions.size(), other), b.getInt32Ty());
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(others); !constant || !constant->isZero())
      masked = b.CreateOr(masked, b.CreateAnd(others, b.CreateNot(mask)));
    Value* elements = b.CreateBitCast(masked, word->getType());
    for (auto [element, select] : llvm::enumerate(found.selects))
      select->replaceAllUsesWith(b.CreateExtractElement(elements, element));
    for (llvm::SelectInst* select : found.selects) select->eraseFromParent();
  }

  llvm::MapVector<std::pair<Value*, Value*>, SelectedWord> words_;
};

}  // namespace

void SelectWords(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function) BlockWords(block).Mask();
}

}  // namespace tritond::compiler::nvidia
