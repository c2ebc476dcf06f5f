// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_DELAY_COPIES_H_
#define COMPILER_TARGETS_NVIDIA_DELAY_COPIES_H_

#include "compiler/analysis/alias.h"

namespace tritond::compiler {

// Moves asynchronous copies of `block` down, after what the threads compute for its ttng.warp_group_dots.
void DelayCopies(mlir::Block& block, const BufferAliases& aliases);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_DELAY_COPIES_H_
