// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_HOIST_DOTS_H_
#define COMPILER_TARGETS_NVIDIA_HOIST_DOTS_H_

#include "compiler/analysis/alias.h"

namespace tritond::compiler {

// Moves the ttng.warp_group_dots of `block` up, in front of asynchronous copies.
void HoistDots(mlir::Block& block, const BufferAliases& aliases);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_HOIST_DOTS_H_
