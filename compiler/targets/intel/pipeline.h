// SPDX-License-Identifier: Apache-2.0
// The passes of the Intel targets, in order.
#ifndef COMPILER_TARGETS_INTEL_PIPELINE_H_
#define COMPILER_TARGETS_INTEL_PIPELINE_H_

#include "compiler/targets/intel/architecture.h"
#include "compiler/targets/target.h"
#include "mlir/Pass/PassManager.h"

namespace tritond::compiler::intel {

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options);
void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info,
                    const Architecture& arch);
void AddLlirPasses(mlir::OpPassManager& pm, const TargetInfo& info);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_PIPELINE_H_
