// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NULL_TARGET_H_
#define COMPILER_TARGETS_NULL_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/targets/target.h"

// The family without a device: its target takes kernels as far as ttgir, and says what is missing from there on. It is
// the skeleton that new families are copied from, and not in the list of targets.
namespace tritond::compiler::null {

std::vector<std::string> TargetNames();
// Null when `name` is none of them.
std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig& config);

}  // namespace tritond::compiler::null

#endif  // COMPILER_TARGETS_NULL_TARGET_H_
