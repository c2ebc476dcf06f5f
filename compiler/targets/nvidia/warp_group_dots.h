// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_WARP_GROUP_DOTS_H_
#define COMPILER_TARGETS_NVIDIA_WARP_GROUP_DOTS_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler::nvidia {

// How the operations of the ttng dialect are lowered.
const LoweringTable& TtngLowerings();

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_WARP_GROUP_DOTS_H_
