// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_HOIST_DOTS_H_
#define COMPILER_TARGETS_NVIDIA_HOIST_DOTS_H_

#include "compiler/analysis/alias.h"
#include "compiler/targets/nvidia/block_limits.h"

namespace tritond::compiler {

// Moves the ttng.warp_group_dots of `block` up, in front of asynchronous copies.
void HoistDots(mlir::Block& block, const BufferAliases& aliases);

// Moves dots that no other dot of `block` feeds in front of those that wait for what threads compute, where that costs
// no resident blocks.
void AdvanceReadyDots(mlir::Block& block, const BufferAliases& aliases, const BlockLimits& limits);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_HOIST_DOTS_H_
