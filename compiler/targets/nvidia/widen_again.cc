// SPDX-License-Identifier: Apache-2.0
// Halves that a thread computes with as floats, again and again with barriers between, take twice the registers while
// they wait. Where a kernel has too few, they wait as the words that were loaded, and are made floats again:
//
//   %w = load <2 x i16>                                        %w = load <2 x i16>
//   %f = float of %w[0] ; %g = float of %w[1]                  %f = float of %w[0] ; %g = float of %w[1]
//   … use %f, %g                                               … use %f, %g
//   barrier                                            ->      barrier
//   … use %f, %g                                               %v = what the assembler takes for another word than %w
//                                                              %h = float of %v[0] ; %i = float of %v[1]
//                                                              … use %h, %i
//
// So is all that is made of one word alone, by operations of one instruction: magnitudes, questions. It is worth it
// where two or more values, wider than halves, wait for a word. What loops use over and over stays as it is.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/disguise.h"
#include "compiler/targets/nvidia/memory_instructions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr int64_t kMostRegisters = 255;  // of a thread
constexpr unsigned kHalfBits = 16;
// Operations from a word to a value.
constexpr int kMostOperations = 6;

// One instruction, or none.
bool IsCheap(const Instruction& instruction) {
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return intrinsic->getIntrinsicID() == llvm::Intrinsic::fabs;
  switch (instruction.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::BitCast:
    case Instruction::FPExt:
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::And:
    case Instruction::FNeg:
    case Instruction::FCmp:
    case Instruction::ICmp:
      return !instruction.getType()->isVectorTy();
    default:
      return false;
  }
}

// Two halves of a vector.
struct Word {
  Instruction* vector = nullptr;
  uint64_t index = 0;

  bool operator==(const Word& other) const { return vector == other.vector && index == other.index; }
};

// The half of a vector that `instruction` takes out; none.
std::optional<uint64_t> HalfTaken(const Instruction& instruction) {
  auto* taken = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction);
  auto* at = taken ? llvm::dyn_cast<llvm::ConstantInt>(taken->getIndexOperand()) : nullptr;
  auto* type = taken ? llvm::dyn_cast<llvm::FixedVectorType>(taken->getVectorOperandType()) : nullptr;
  if (!at || type->getScalarSizeInBits() != kHalfBits || type->getNumElements() % 2 != 0) return std::nullopt;
  if (!llvm::isa<Instruction>(taken->getVectorOperand())) return std::nullopt;
  return at->getZExtValue();
}

class Widening final {
 public:
  explicit Widening(llvm::Function& function) : dominators_(function), loops_(dominators_) {
    for (llvm::BasicBlock& block : function) {
      ++segments_;
      for (Instruction& instruction : block) {
        segments_ += IsBlockBarrier(instruction);
        order_[&instruction] = static_cast<int>(order_.size());
        segment_[&instruction] = segments_;
        FindOrigin(instruction);
      }
    }
  }

  void Run() {
    // By words and segments, in the order of the function: the uses there of what was made in another segment.
    llvm::MapVector<std::pair<std::pair<Instruction*, uint64_t>, int>, std::vector<llvm::Use*>> found;
    for (auto& [value, origin] : origins_)
      for (llvm::Use& use : value->uses())
        if (IsLate(*value, use))
          found[{{origin.word.vector, origin.word.index}, segment_[llvm::cast<Instruction>(use.getUser())]}].push_back(
              &use);
    for (auto& [place, uses] : found) {
      llvm::SmallSetVector<Value*, 4> wide;
      for (llvm::Use* use : uses)
        if (use->get()->getType()->getPrimitiveSizeInBits() > kHalfBits) wide.insert(use->get());
      if (wide.size() > 1) Recompute({place.first.first, place.first.second}, uses);
    }
  }

 private:
  struct Origin {
    Word word;
    int operations = 0;
  };

  void FindOrigin(Instruction& instruction) {
    if (const std::optional<uint64_t> half = HalfTaken(instruction)) {
      auto* vector = llvm::cast<Instruction>(instruction.getOperand(0));
      origins_.insert({&instruction, {{vector, *half / 2}, 1}});
      return;
    }
    if (!IsCheap(instruction)) return;
    std::optional<Origin> origin;
    for (Value* operand : instruction.operands()) {
      if (llvm::isa<llvm::Constant>(operand)) continue;
      auto* made = llvm::dyn_cast<Instruction>(operand);
      auto* known = made ? origins_.find(made) : origins_.end();
      if (known == origins_.end() || (origin && !(origin->word == known->second.word))) return;
      origin = Origin{known->second.word, std::max(origin ? origin->operations : 0, known->second.operations)};
    }
    if (origin && ++origin->operations <= kMostOperations) origins_.insert({&instruction, *origin});
  }

  // Whether a barrier or a block's end is between the value and this use, which is not just another step from the word,
  // and runs as often as the word is made.
  bool IsLate(Instruction& value, llvm::Use& use) {
    auto* user = llvm::cast<Instruction>(use.getUser());
    if (llvm::isa<llvm::PHINode>(user) || origins_.count(user) != 0) return false;
    const Instruction* vector = origins_.find(&value)->second.word.vector;
    return segment_[user] != segment_[&value] &&
           loops_.getLoopFor(user->getParent()) == loops_.getLoopFor(vector->getParent());
  }

  // Makes all that the uses take once more, in front of the first of them.
  void Recompute(Word word, const std::vector<llvm::Use*>& uses) {
    auto* first = llvm::cast<Instruction>(uses.front()->getUser());
    for (llvm::Use* use : uses)
      if (auto* user = llvm::cast<Instruction>(use->getUser()); order_[user] < order_[first]) first = user;
    llvm::IRBuilder<> b(first);
    auto* type = llvm::cast<llvm::FixedVectorType>(word.vector->getType());
    auto* words = llvm::FixedVectorType::get(b.getInt32Ty(), type->getNumElements() / 2);
    Value* bits = b.CreateExtractElement(b.CreateBitCast(word.vector, words), word.index);
    Value* halves = b.CreateBitCast(DisguiseWord(b, bits), llvm::FixedVectorType::get(type->getElementType(), 2));
    llvm::DenseMap<Value*, Value*> again;
    for (llvm::Use* use : uses) use->set(Again(use->get(), halves, b, again));
  }

  Value* Again(Value* value, Value* halves, llvm::IRBuilder<>& b, llvm::DenseMap<Value*, Value*>& again) {
    auto* made = llvm::dyn_cast<Instruction>(value);
    if (!made) return value;
    if (Value* known = again.lookup(made)) return known;
    Value* result = nullptr;
    if (const std::optional<uint64_t> half = HalfTaken(*made)) {
      result = b.CreateExtractElement(halves, *half % 2);
    } else {
      Instruction* copy = made->clone();
      for (llvm::Use& operand : copy->operands()) operand.set(Again(operand.get(), halves, b, again));
      result = b.Insert(copy);
    }
    return again[made] = result;
  }

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  int segments_ = 0;
  llvm::DenseMap<Instruction*, int> order_, segment_;
  llvm::MapVector<Instruction*, Origin> origins_;
};

}  // namespace

void WidenAgain(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && MaxLiveWords(function) > kMostRegisters) Widening(function).Run();
}

}  // namespace tritond::compiler::nvidia
