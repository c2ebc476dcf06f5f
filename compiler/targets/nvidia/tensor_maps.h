// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_TENSOR_MAPS_H_
#define COMPILER_TARGETS_NVIDIA_TENSOR_MAPS_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler::nvidia {

// How tensor maps and the bulk copies by them are lowered.
void AddTensorMaps(LoweringTable& table);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_TENSOR_MAPS_H_
