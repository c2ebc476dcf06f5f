// SPDX-License-Identifier: Apache-2.0
// How many words of a thread the values of a function take at once.
#ifndef COMPILER_TARGETS_NVIDIA_REGISTER_PRESSURE_H_
#define COMPILER_TARGETS_NVIDIA_REGISTER_PRESSURE_H_

#include <cstdint>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace tritond::compiler::nvidia {

// The registers of 32 bits that a value takes; none for what a predicate holds.
int64_t RegisterWords(const llvm::Value& value, const llvm::DataLayout& layout);

// What a thread of this kernel can have of a multiprocessor's registers where that holds so many blocks.
int64_t RegistersOf(const llvm::Function& kernel, int64_t blocks = 1);

// Knows what is live at the ends of a function's blocks. That does not depend on the order of a block's instructions,
// so they may move within their blocks between two questions. Does not own the function, which must outlive it.
class LiveWords final {
 public:
  explicit LiveWords(const llvm::Function& function);

  // The most words that are live at once in this block of the function, in the order that it has now. `apart`: values
  // that one instruction makes at once count from there on, each until its last use, and do not count as a whole.
  int64_t MostIn(const llvm::BasicBlock& block, bool apart = false) const;

  // The words that are live in front of `instruction`. Without those that come from outside of its block and are
  // quickly computed again: sums, conversions, choices.
  int64_t Before(const llvm::Instruction& instruction) const;

  // The words of a loop that are live at the end of one of its blocks. Without those that come from outside and are
  // quickly computed again: sums, conversions, choices.
  int64_t KeptAtEnd(const llvm::BasicBlock& block, const llvm::Loop& loop) const;

 private:
  int64_t WordsOf(const llvm::Value& value) const;
  void MarkLive(const llvm::Instruction& value);

  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::DenseSet<const llvm::Value*>> live_out_;
};

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_REGISTER_PRESSURE_H_
