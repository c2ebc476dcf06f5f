// SPDX-License-Identifier: Apache-2.0
// How many words the values of a function take at once, in the order that it has. A value takes words from its
// instruction to its last use, and through all blocks in between. Arguments and constants take none, for instructions
// read them where they are. Predicates have registers of their own.
//
// Liveness by values: from each use back through the predecessors, until the definition is reached. Each value and
// block is visited once.
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

class Pressure final {
 public:
  explicit Pressure(const llvm::Function& function) : layout_(function.getParent()->getDataLayout()) {
    for (const BasicBlock& block : function)
      for (const Instruction& instruction : block) MarkLive(instruction);
    for (const BasicBlock& block : function) Scan(block);
  }

  int64_t most() const { return most_; }

 private:
  int64_t Words(const Value& value) const {
    llvm::Type* type = value.getType();
    if (!type->isSized() || type->isIntegerTy(1)) return 0;
    return llvm::divideCeil(layout_.getTypeSizeInBits(type).getFixedValue(), 32);
  }

  // The blocks at whose ends `value` is live.
  void MarkLive(const Instruction& value) {
    if (Words(value) == 0) return;
    llvm::SmallVector<const BasicBlock*> pending;
    auto leave = [&](const BasicBlock* block) {
      if (live_out_[block].insert(&value).second && block != value.getParent()) pending.push_back(block);
    };
    for (const llvm::Use& use : value.uses()) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(user))
        leave(phi->getIncomingBlock(use));
      else if (user->getParent() != value.getParent())
        for (const BasicBlock* before : llvm::predecessors(user->getParent())) leave(before);
    }
    while (!pending.empty())
      for (const BasicBlock* before : llvm::predecessors(pending.pop_back_val())) leave(before);
  }

  void Scan(const BasicBlock& block) {
    llvm::DenseSet<const Value*> live = live_out_[&block];
    int64_t words = 0;
    for (const Value* value : live) words += Words(*value);
    most_ = std::max(most_, words);
    for (const Instruction& instruction : llvm::reverse(block)) {
      if (live.erase(&instruction)) words -= Words(instruction);
      if (llvm::isa<llvm::PHINode>(instruction)) continue;
      for (const Value* operand : instruction.operands())
        if (llvm::isa<Instruction>(operand) && live.insert(operand).second) words += Words(*operand);
      most_ = std::max(most_, words);
    }
  }

  const llvm::DataLayout& layout_;
  llvm::DenseMap<const BasicBlock*, llvm::DenseSet<const Value*>> live_out_;
  int64_t most_ = 0;
};

}  // namespace

int64_t MaxLiveWords(const llvm::Function& function) { return Pressure(function).most(); }

}  // namespace tritond::compiler::nvidia
