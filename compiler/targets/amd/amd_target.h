// SPDX-License-Identifier: Apache-2.0
// AMD GPUs, "hip:gfx942" and so on: LLVM's AMDGPU back end and assembler, and lld.
#ifndef COMPILER_TARGETS_AMD_AMD_TARGET_H_
#define COMPILER_TARGETS_AMD_AMD_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/targets/target.h"

namespace tritond::compiler::amd {

std::vector<std::string> TargetNames();
// Null when `name` is none of them.
std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig& config);
// The family's own, passes.td.
void RegisterPasses();

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_AMD_TARGET_H_
