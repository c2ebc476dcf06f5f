// SPDX-License-Identifier: Apache-2.0
// The processor that the compiler runs on, as a functional target: for tests, and for machines without a GPU. "host"
// has warps of 32 threads, "host:64" of 64.
#ifndef COMPILER_TARGETS_HOST_HOST_TARGET_H_
#define COMPILER_TARGETS_HOST_HOST_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/targets/target.h"

namespace tritond::compiler::host {

std::vector<std::string> TargetNames();
// Null when `name` is none of them. Needs no tools.
std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig& config = {});

}  // namespace tritond::compiler::host

#endif  // COMPILER_TARGETS_HOST_HOST_TARGET_H_
