// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_CACHE_POLICY_H_
#define COMPILER_TARGETS_NVIDIA_CACHE_POLICY_H_

#include <string>

#include "compiler/lowering/target_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler::nvidia {

// An eviction priority as the second cache takes it: a policy in a register. Accesses of one priority share it, as the
// instruction that makes it touches no memory.
struct CachePolicy {
  std::string suffix;   // of the instruction; empty where the access has no priority
  std::string operand;  // its last one, with a comma
};

// The policy of `access`, as an input of `ptx`.
CachePolicy AddCachePolicy(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access, PtxBuilder& ptx);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_CACHE_POLICY_H_
