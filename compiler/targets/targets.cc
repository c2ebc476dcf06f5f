// SPDX-License-Identifier: Apache-2.0
// The list of all targets: the only place that knows more than one.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/targets/host/host_target.h"
#include "compiler/targets/nvidia/nvidia_target.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/target.h"

namespace tritond::compiler {

std::vector<std::string> TargetNames() {
  std::vector<std::string> names = nvidia::TargetNames();
  for (std::string& name : host::TargetNames()) names.push_back(std::move(name));
  return names;
}

void RegisterTargetPasses() { registerTritondNvidiaPasses(); }

void RegisterTargetDialects(mlir::DialectRegistry& registry) { registry.insert<ttng::TTNGDialect>(); }

absl::StatusOr<std::unique_ptr<Target>> FindTarget(absl::string_view name, const TargetConfig& config) {
  if (std::unique_ptr<Target> target = nvidia::MakeTarget(name, config)) return target;
  if (std::unique_ptr<Target> target = host::MakeTarget(name)) return target;
  return absl::InvalidArgumentError(
      absl::StrCat("no target '", name, "'; there are ", absl::StrJoin(TargetNames(), ", ")));
}

}  // namespace tritond::compiler
