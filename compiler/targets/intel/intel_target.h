// SPDX-License-Identifier: Apache-2.0
// Intel GPUs, "xpu:pvc" and so on: LLVM's SPIR-V back end. "xpu:pvc:32" is the same with sub-groups of 32
// lanes, "xpu:dg2:8" with the 8 of that GPU's matrix unit.
#ifndef COMPILER_TARGETS_INTEL_INTEL_TARGET_H_
#define COMPILER_TARGETS_INTEL_INTEL_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/targets/target.h"

namespace tritond::compiler::intel {

std::vector<std::string> TargetNames();
// Null when `name` is none of them.
std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig& config);
// The family's own, passes.td and ttig_ops.td.
void RegisterPasses();
void RegisterDialects(mlir::DialectRegistry& registry);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_INTEL_TARGET_H_
