// SPDX-License-Identifier: Apache-2.0
// The list of all families of targets: the only place that knows more than one.
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/targets/amd/amd_target.h"
#include "compiler/targets/emulated/emulated_target.h"
#include "compiler/targets/host/host_target.h"
#include "compiler/targets/intel/intel_target.h"
#include "compiler/targets/nvidia/nvidia_target.h"
#include "compiler/targets/target.h"

namespace tritond::compiler {
namespace {

// One folder of this one: a vendor's, or the host's.
struct Family {
  std::vector<std::string> (*names)();
  // Null when the family has no such target.
  std::unique_ptr<Target> (*make)(absl::string_view name, const TargetConfig& config);
  // Its own passes and dialects; null: it has none.
  void (*register_passes)() = nullptr;
  void (*register_dialects)(mlir::DialectRegistry& registry) = nullptr;
};

constexpr Family kFamilies[] = {
    {nvidia::TargetNames, nvidia::MakeTarget, nvidia::RegisterPasses, nvidia::RegisterDialects},
    {amd::TargetNames, amd::MakeTarget, amd::RegisterPasses},
    {intel::TargetNames, intel::MakeTarget, intel::RegisterPasses, intel::RegisterDialects},
    {host::TargetNames, host::MakeTarget},
};

std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig& config) {
  for (const Family& family : kFamilies) {
    if (std::unique_ptr<Target> target = family.make(name, config)) return target;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) {
    for (std::string& name : family.names()) names.push_back(std::move(name));
  }
  const std::vector<std::string> emulated = emulated::TargetNames(names);
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
  for (const Family& family : kFamilies) {
    if (family.register_passes) family.register_passes();
  }
}

void RegisterTargetDialects(mlir::DialectRegistry& registry) {
  for (const Family& family : kFamilies) {
    if (family.register_dialects) family.register_dialects(registry);
  }
}

absl::StatusOr<std::unique_ptr<Target>> FindTarget(absl::string_view name, const TargetConfig& config) {
  if (std::unique_ptr<Target> target = MakeTarget(name, config)) return target;
  const auto find = [&](absl::string_view device) { return MakeTarget(device, config); };
  if (std::unique_ptr<Target> target = emulated::MakeTarget(name, find)) return target;
  return absl::InvalidArgumentError(
      absl::StrCat("no target '", name, "'; there are ", absl::StrJoin(TargetNames(), ", ")));
}

}  // namespace tritond::compiler
