// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_SPLIT_BARRIER_OPS_H_
#define COMPILER_TARGETS_NVIDIA_SPLIT_BARRIER_OPS_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler::nvidia {

// How ttng's split barriers are lowered.
void AddSplitBarrierOps(LoweringTable& table);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_SPLIT_BARRIER_OPS_H_
