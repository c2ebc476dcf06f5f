// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_MBARRIERS_H_
#define COMPILER_TARGETS_NVIDIA_MBARRIERS_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler::nvidia {

// How the operations on mbarriers are lowered, and the fence that goes with them.
void AddMbarriers(LoweringTable& table);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_MBARRIERS_H_
