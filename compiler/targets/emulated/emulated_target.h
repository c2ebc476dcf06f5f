// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_EMULATED_EMULATED_TARGET_H_
#define COMPILER_TARGETS_EMULATED_EMULATED_TARGET_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/targets/target.h"

namespace tritond::compiler::emulated {

// "emulated:cuda:90" for each of `names` that the emulator can run.
std::vector<std::string> TargetNames(const std::vector<std::string>& names);

// The target "emulated:T": everything up to its LLVM IR is T's, which `find` makes. Then the module becomes a shared
// object for the host device, that executes T's instructions by name. Null when the name is no such.
std::unique_ptr<Target> MakeTarget(absl::string_view name,
                                   const std::function<std::unique_ptr<Target>(absl::string_view)>& find);

}  // namespace tritond::compiler::emulated

#endif  // COMPILER_TARGETS_EMULATED_EMULATED_TARGET_H_
