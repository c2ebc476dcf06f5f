// SPDX-License-Identifier: Apache-2.0
// Pointers as a base that all lanes of a wave share and a distance in bytes that each lane has for itself.
#ifndef COMPILER_TARGETS_AMD_SPLIT_POINTER_H_
#define COMPILER_TARGETS_AMD_SPLIT_POINTER_H_

#include <map>
#include <optional>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace tritond::compiler::amd {

// scale * value, the value extended to 64 bits.
struct AddressTerm {
  llvm::Value* value;
  bool is_signed;
  int64_t scale;

  friend bool operator<(const AddressTerm& a, const AddressTerm& b) {
    return std::tie(a.value, a.is_signed, a.scale) < std::tie(b.value, b.is_signed, b.scale);
  }
};

// root + the terms + bytes, modulo 2^64. The root is a pointer that all lanes share, or a loop's pointer whose twin is.
struct AddressParts {
  llvm::Value* root = nullptr;
  std::vector<AddressTerm> shared, lane;
  int64_t bytes = 0;
};

struct SplitPointer {
  llvm::Value* base;    // the same in all lanes
  llvm::Value* offset;  // i32
};

// Splits pointers of one function. The function's blocks stay as they are; code is only added to them.
class PointerSplitter final {
 public:
  PointerSplitter(llvm::Function& function, const llvm::UniformityInfo& uniformity, const llvm::LoopInfo& loops,
                  llvm::AssumptionCache& assumptions, const llvm::DominatorTree& dominators)
      : function_(function),
        uniformity_(uniformity),
        loops_(loops),
        assumptions_(assumptions),
        dominators_(dominators) {
    FindVectors();
  }

  // Whether the value is in scalar registers. What is computed from the thread's index or loaded is not, even where
  // it is the same in all lanes.
  bool IsShared(const llvm::Value* value) const {
    return !uniformity_.isDivergent(value) && !in_vectors_.contains(value);
  }

  // The pointer's base and an offset that is proved to be at least 0 and at most `most`. The proof is for where `at` is
  // executed and `condition` (i1; null: always) holds. Emits code that computes both. Nullopt, with nothing emitted,
  // when the pointer has no such form or there is no proof.
  std::optional<SplitPointer> Split(llvm::Value* pointer, llvm::Value* condition, uint64_t most, llvm::Instruction* at);

 private:
  void FindVectors();

  // A pointer that a loop moves on by what all lanes share.
  struct LoopPointer {
    AddressParts start, step;
    llvm::BasicBlock *entry, *latch;
  };

  std::optional<AddressParts> PartsOf(llvm::Value* pointer);
  const LoopPointer* FindLoopPointer(llvm::PHINode* phi);
  bool AddTerm(AddressTerm term, AddressParts& parts);
  bool AddSum(AddressTerm term, AddressParts& parts);
  // Of the lane's terms, where the condition holds.
  llvm::ConstantRange RangeOf(llvm::ArrayRef<AddressTerm> terms, llvm::Value* condition, llvm::Instruction* at) const;
  llvm::ConstantRange RangeOfValue(llvm::Value* value, llvm::Value* condition, llvm::Instruction* at) const;

  // For use at `at`.
  llvm::Value* EmitBase(const AddressParts& parts, llvm::Instruction* at);
  llvm::Value* EmitTwin(llvm::PHINode* phi);
  llvm::Value* EmitOffset(llvm::ArrayRef<AddressTerm> terms, int64_t bytes, llvm::Instruction* at);
  llvm::Value* EmitSum(llvm::IRBuilderBase& b, llvm::ArrayRef<AddressTerm> terms, int64_t bytes, unsigned bits);
  // Before `at`, or before the outermost loop around it in which neither `root` nor a term changes.
  llvm::Instruction* PlaceFor(llvm::Value* root, llvm::ArrayRef<AddressTerm> terms, llvm::Instruction* at) const;

  llvm::Function& function_;
  const llvm::UniformityInfo& uniformity_;
  const llvm::LoopInfo& loops_;
  llvm::AssumptionCache& assumptions_;
  const llvm::DominatorTree& dominators_;
  llvm::DenseMap<llvm::PHINode*, std::optional<LoopPointer>> loop_pointers_;  // nullopt: it is none, or not yet known
  using SumKey = std::tuple<llvm::Value*, std::vector<AddressTerm>, int64_t>;
  using Sums = std::map<SumKey, llvm::SmallVector<llvm::Value*, 1>>;  // each in other places
  // The sum of `key`, made by `make` unless there is one that reaches `at`.
  llvm::Value* Reuse(Sums& sums, const SumKey& key, llvm::Instruction* at,
                     llvm::function_ref<llvm::Value*(llvm::IRBuilderBase&)> make);

  llvm::DenseSet<const llvm::Value*> in_vectors_;
  Sums bases_, offsets_;
  llvm::DenseMap<llvm::PHINode*, llvm::Value*> twins_;
  std::map<std::tuple<llvm::BasicBlock*, llvm::Value*, std::vector<AddressTerm>, int64_t>, llvm::Value*> equal_twins_;
};

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_SPLIT_POINTER_H_
