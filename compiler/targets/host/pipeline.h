// SPDX-License-Identifier: Apache-2.0
// The passes of the host targets, in order.
#ifndef COMPILER_TARGETS_HOST_PIPELINE_H_
#define COMPILER_TARGETS_HOST_PIPELINE_H_

#include "compiler/targets/target.h"
#include "mlir/Pass/PassManager.h"

namespace tritond::compiler::host {

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options);
// `target`: "host"; `warp_size`: 32 or 64; `max_shared_bytes`: of a block.
void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info);
void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options);

}  // namespace tritond::compiler::host

#endif  // COMPILER_TARGETS_HOST_PIPELINE_H_
