// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/options.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tritond::compiler {
namespace {

using nlohmann::json;

// Where an option that every target has goes, once its rule is kept.
struct CommonOption {
  const char* name;
  int KernelOptions::*integer = nullptr;
  bool KernelOptions::*boolean = nullptr;
};
constexpr CommonOption kCommonOptions[] = {
    {"num_warps", &KernelOptions::num_warps},
    {"num_ctas", &KernelOptions::num_ctas},
    {"num_stages", &KernelOptions::num_stages},
    {"enable_fp_fusion", nullptr, &KernelOptions::enable_fp_fusion},
    {"debug", nullptr, &KernelOptions::debug},
    {"warp_size"},  // Frontends send that of their own GPU. The target has its own, which the metadata tell.
};

void Keep(const std::string& name, const json& value, KernelOptions& options) {
  for (const CommonOption& common : kCommonOptions) {
    if (name != common.name) continue;
    if (common.integer) options.*common.integer = value.get<int>();
    if (common.boolean) options.*common.boolean = value.get<bool>();
    return;
  }
  options.own.Set(name, value);
}

// The libraries as upstream writes them, [["libdevice", "/path"]] or {"libdevice": "/path"}, are those that vendors
// bring along and that targets look for themselves.
bool AreDeviceLibraries(const json& libraries) {
  static const auto* known = new std::set<std::string>{"libdevice", "ocml", "ockl"};
  auto is_known = [](const json& name) { return name.is_string() && known->count(name.get<std::string>()) > 0; };
  if (libraries.is_object()) {
    const auto items = libraries.items();
    return std::all_of(items.begin(), items.end(), [&](const auto& item) { return is_known(item.key()); });
  }
  if (!libraries.is_array()) return libraries.is_null();
  return std::all_of(libraries.begin(), libraries.end(),
                     [&](const json& pair) { return pair.is_array() && !pair.empty() && is_known(pair[0]); });
}

// Whether an option that is not read here is one of Triton's that asks nothing of a compiler. Such options are what its
// frontend or launcher reads, what it names things by, and what another target has. So are switches that are off, and
// what a compile tells in its metadata (which clients send back as options).
bool AsksForNothing(const std::string& name, const json& value) {
  static const auto* others = new std::set<std::string>{"allowed_dot_input_precisions",
                                                        "arch",
                                                        "backend_name",
                                                        "cluster_dims",
                                                        "default_dot_input_precision",
                                                        "deprecated_fp8_dot_operand_dtypes",
                                                        "deprecated_fp8_dtypes",
                                                        "global_scratch_align",
                                                        "global_scratch_size",
                                                        "hash",
                                                        "launch_cooperative_grid",
                                                        "launch_pdl",
                                                        "max_num_imprecise_acc_default",
                                                        "name",
                                                        "profile_scratch_align",
                                                        "profile_scratch_size",
                                                        "sanitize_overflow",
                                                        "shared",
                                                        "supported_fp8_dtypes",
                                                        "target",
                                                        "tensordesc_meta",
                                                        "tmem_size",
                                                        "triton_version"};
  static const auto* switches = new std::set<std::string>{"clc", "fpsan_homomorphic_casts", "sched4reg"};
  if (name == "extern_libs") return AreDeviceLibraries(value);
  if (name == "instrumentation_mode") return value == "";
  return value.is_null() || IsOwnOption(name) || others->count(name) > 0 ||
         (value == false && switches->count(name) > 0);
}

// Whether `value`, which breaks its rule, may come from the metadata of a warp-specialised kernel. Their num_warps
// counts the warps of all partitions, in groups of four.
bool IsTotalOfPartitions(const OptionRule& rule, const json& value) {
  return rule.name == "num_warps" && value.is_number_integer() && value >= rule.least && value <= rule.most &&
         value.get<int64_t>() % 4 == 0;
}

}  // namespace

absl::StatusOr<ParsedOptions> ParseOptions(const json& options, const Target& target, Stage input) {
  const bool has_partitions = input >= Stage::kTtgir;
  ParsedOptions parsed;
  parsed.kernel.num_stages = target.Info().default_stages;
  if (options.is_null()) return parsed;
  if (!options.is_object()) return absl::InvalidArgumentError("options must be an object of name: value");
  const std::vector<OptionRule> rules = OptionRulesOf(target.Info());
  for (const auto& [name, value] : options.items()) {
    auto rule = std::find_if(rules.begin(), rules.end(),
                             [&, &name = name](const OptionRule& rule) { return rule.name == name; });
    if (rule == rules.end()) {
      if (!AsksForNothing(name, value)) parsed.ignored.push_back(name);
      continue;
    }
    if (value.is_null()) continue;
    absl::Status status = CheckOption(*rule, value);
    if (!status.ok() && !(has_partitions && IsTotalOfPartitions(*rule, value))) {
      if (IsTotalOfPartitions(*rule, value))
        return absl::UnimplementedError(
            absl::StrCat("option num_warps = ", value.dump(),
                         ": the total of a warp-specialised kernel, which this compiler does not make of ttir; set "
                         "num_warps as the kernel's source has it, a power of two"));
      return absl::InvalidArgumentError(absl::StrCat(status.message(), " on ", target.Info().name));
    }
    Keep(name, value, parsed.kernel);
  }
  const int most_warps = MaxWarps(target.Info());
  if (input == Stage::kTtir) parsed.kernel.num_warps = std::min(parsed.kernel.num_warps, most_warps);
  if (parsed.kernel.num_warps > most_warps)
    return absl::InvalidArgumentError(absl::StrCat("option num_warps = ", parsed.kernel.num_warps, ": a block of ",
                                                   target.Info().name, " has at most ", most_warps));
  if (absl::Status status = target.FinishOptions(parsed.kernel.own); !status.ok()) return status;
  return parsed;
}

}  // namespace tritond::compiler
