// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_MULTIBUFFER_OPERANDS_H_
#define COMPILER_TARGETS_NVIDIA_MULTIBUFFER_OPERANDS_H_

#include "compiler/ir/ttg_dialect.h"
#include "compiler/targets/nvidia/block_limits.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether the iteration of `loop` that issues `op`, a ttng.warp_group_dot, does not use its accumulators, which have 32
// bits, or only in a branch (carried_accumulators.h).
bool AccumulatorsOutliveIteration(mlir::Operation* op, mlir::scf::ForOp loop);

// Buffers that `loop` fills from registers in each iteration, for dots that outlive the iteration, take turns with a
// second one. They do so as far as `free_bytes` of shared memory allow, and where that costs no resident blocks.
// Returns the loop that takes the place of `loop`.
mlir::scf::ForOp MultibufferOperands(mlir::scf::ForOp loop, int64_t& free_bytes, BlockLimits& limits);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_MULTIBUFFER_OPERANDS_H_
