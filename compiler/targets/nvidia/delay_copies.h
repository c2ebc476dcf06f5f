// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_DELAY_COPIES_H_
#define COMPILER_TARGETS_NVIDIA_DELAY_COPIES_H_

#include "compiler/analysis/alias.h"
#include "compiler/targets/nvidia/block_limits.h"

namespace tritond::compiler {

// Moves asynchronous copies of `block` down, after what the threads compute for its ttng.warp_group_dots, or after the
// dots themselves. `products`: multiply-adds of 16-bit numbers that a multiprocessor makes by them in a cycle; 0: not
// known.
void DelayCopies(mlir::Block& block, const BufferAliases& aliases, const BlockLimits& limits, int64_t products);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_DELAY_COPIES_H_
