// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_TENSOR_MEMORY_DOTS_H_
#define COMPILER_TARGETS_NVIDIA_TENSOR_MEMORY_DOTS_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler::nvidia {

// How the operations on tensor memory are lowered.
void AddTensorMemoryDots(LoweringTable& table);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_TENSOR_MEMORY_DOTS_H_
