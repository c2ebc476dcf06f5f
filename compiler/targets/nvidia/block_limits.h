// SPDX-License-Identifier: Apache-2.0
// How many blocks a multiprocessor holds at once, as passes see it before code generation.
#ifndef COMPILER_TARGETS_NVIDIA_BLOCK_LIMITS_H_
#define COMPILER_TARGETS_NVIDIA_BLOCK_LIMITS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "compiler/ir/encodings.h"

namespace tritond::compiler {

// The most that a thread can have, in words.
inline constexpr int64_t kMostRegisters = 255;

// Of a multiprocessor, and what a block takes of it.
struct BlockLimits {
  int64_t registers = 0;                                      // words; 0: how many blocks there are does not count
  int64_t shared_bytes = 0;                                   // that blocks share
  int64_t buffer_bytes = 0;                                   // of shared memory that a block has for its buffers
  int64_t most_blocks = std::numeric_limits<int64_t>::max();  // that a multiprocessor gets of the grid

  // Where a thread of the kernel with `op` takes so many registers, and its block more bytes of shared memory.
  int64_t Blocks(mlir::Operation* op, int64_t words, int64_t more_bytes = 0) const {
    const int64_t threads = int64_t{ttg::NumWarps(op)} * ttg::ThreadsPerWarp(op);
    return std::min({registers / (threads * std::min(words, kMostRegisters)),
                     shared_bytes / std::max<int64_t>(buffer_bytes + more_bytes, 1), most_blocks});
  }
};

// That a multiprocessor gets of the grid, as far as the loops with dots in `place` tell.
int64_t BlocksOfGrid(mlir::Operation* place, int64_t multiprocessors);
// The most shared memory that one of its operations needs for itself.
int64_t MostScratchBytes(tt::FuncOp function);
// What a thread has for the accumulators of one wgmma dot, in words: it has more, but not fewer.
int64_t LeastRegisters(tt::FuncOp function);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_BLOCK_LIMITS_H_
