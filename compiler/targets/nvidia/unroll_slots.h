// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_UNROLL_SLOTS_H_
#define COMPILER_TARGETS_NVIDIA_UNROLL_SLOTS_H_

#include <optional>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"

namespace tritond::compiler::nvidia {

// A loop of wgmma that should have so many copies of its body, and the blocks that a multiprocessor then holds.
struct LoopOfSlots {
  llvm::Loop* loop;
  unsigned slots;
  unsigned blocks;
};

// Whether the loop has products of wgmma, and all add to what others have made in it, which nothing else changes.
bool OnlyAccumulates(const llvm::Loop& loop);

// The only loop of products of a kernel, if a copy of its body for each slot of its buffers pays. All copies together
// have `most_instructions` at most.
std::optional<LoopOfSlots> FindLoopOfSlots(llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
                                           const llvm::Function& kernel, unsigned most_instructions);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_UNROLL_SLOTS_H_
