// SPDX-License-Identifier: Apache-2.0
// The passes of the NVIDIA targets, in order.
#ifndef COMPILER_TARGETS_NVIDIA_PIPELINE_H_
#define COMPILER_TARGETS_NVIDIA_PIPELINE_H_

#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/target.h"
#include "mlir/Pass/PassManager.h"

namespace tritond::compiler::nvidia {

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const Architecture& arch);
void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info,
                    const Architecture& arch);
void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_PIPELINE_H_
