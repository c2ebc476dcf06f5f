// SPDX-License-Identifier: Apache-2.0
// The list of all targets: the only place that knows more than one.
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/targets/amd/amd_target.h"
#include "compiler/targets/amd/passes.h"
#include "compiler/targets/emulated/emulated_target.h"
#include "compiler/targets/host/host_target.h"
#include "compiler/targets/nvidia/nvidia_target.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/target.h"

namespace tritond::compiler {

std::vector<std::string> TargetNames() {
  std::vector<std::string> names = nvidia::TargetNames();
  for (std::string& name : amd::TargetNames()) names.push_back(std::move(name));
  const std::vector<std::string> emulated = emulated::TargetNames(names);
  for (std::string& name : host::TargetNames()) names.push_back(std::move(name));
  names.insert(names.end(), emulated.begin(), emulated.end());
  return names;
}

bool IsOwnOption(const std::string& name) {
  static const auto* names = [] {
    auto* all = new std::set<std::string>;
    for (const std::string& name : TargetNames()) {
      const std::unique_ptr<Target> target = *FindTarget(name, {});
      for (const OptionRule& rule : target->Info().own_options) all->insert(rule.name);
    }
    return all;
  }();
  return names->count(name) > 0;
}

void RegisterTargetPasses() {
  registerTritondNvidiaPasses();
  registerTritondAmdPasses();
}

void RegisterTargetDialects(mlir::DialectRegistry& registry) { registry.insert<ttng::TTNGDialect>(); }

absl::StatusOr<std::unique_ptr<Target>> FindTarget(absl::string_view name, const TargetConfig& config) {
  const auto find = [&](absl::string_view device) {
    std::unique_ptr<Target> target = nvidia::MakeTarget(device, config);
    return target ? std::move(target) : amd::MakeTarget(device, config);
  };
  if (std::unique_ptr<Target> target = find(name)) return target;
  if (std::unique_ptr<Target> target = host::MakeTarget(name)) return target;
  if (std::unique_ptr<Target> target = emulated::MakeTarget(name, find)) return target;
  return absl::InvalidArgumentError(
      absl::StrCat("no target '", name, "'; there are ", absl::StrJoin(TargetNames(), ", ")));
}

}  // namespace tritond::compiler
