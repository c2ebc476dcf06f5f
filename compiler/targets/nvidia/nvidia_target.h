// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs: the targets cuda:80, cuda:86, cuda:89, cuda:90, cuda:100 and cuda:120.
#ifndef COMPILER_TARGETS_NVIDIA_NVIDIA_TARGET_H_
#define COMPILER_TARGETS_NVIDIA_NVIDIA_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/targets/target.h"

namespace tritond::compiler::nvidia {

std::vector<std::string> TargetNames();
// Null when `name` is none of them. Cheap: tools are searched when they are first needed.
std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig& config);
// The family's own, passes.td and ttng_ops.td.
void RegisterPasses();
void RegisterDialects(mlir::DialectRegistry& registry);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_NVIDIA_TARGET_H_
