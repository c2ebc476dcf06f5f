// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/options.h"

#include <algorithm>
#include <functional>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/driver/ptx_options.h"

namespace tritond::compiler {
namespace {

using nlohmann::json;

absl::Status Wrong(const std::string& name, const json& value, const std::string& allowed) {
  return absl::InvalidArgumentError(absl::StrCat("option ", name, " = ", value.dump(), ": must be ", allowed));
}

// Reads one option into KernelOptions.
using Reader = std::function<absl::Status(const std::string& name, const json& value, KernelOptions& options)>;

Reader Integer(int KernelOptions::*field, int64_t low, int64_t high, bool power_of_two = false) {
  return [=](const std::string& name, const json& value, KernelOptions& options) {
    std::string allowed = absl::StrCat(power_of_two ? "a power of two" : "an integer", " from ", low, " to ", high);
    if (!value.is_number_integer()) return Wrong(name, value, allowed);
    int64_t number = value.get<int64_t>();
    if (number < low || number > high || (power_of_two && (number & (number - 1)))) return Wrong(name, value, allowed);
    options.*field = static_cast<int>(number);
    return absl::OkStatus();
  };
}

Reader Boolean(bool KernelOptions::*field) {
  return [=](const std::string& name, const json& value, KernelOptions& options) {
    if (!value.is_boolean()) return Wrong(name, value, "true or false");
    options.*field = value.get<bool>();
    return absl::OkStatus();
  };
}

absl::Status ReadAssemblerFlags(const std::string& name, const json& value, KernelOptions& options) {
  if (!value.is_string()) return Wrong(name, value, "a string of assembler flags");
  absl::StatusOr<std::string> flags = ReadPtxOptions(value.get_ref<const std::string&>());
  if (!flags.ok()) return flags.status();
  options.ptx_options = *std::move(flags);
  return absl::OkStatus();
}

struct Known {
  const char* name;
  Reader read;
};

const std::vector<Known>& KnownOptions() {
  static const auto* known = new std::vector<Known>{
      {"num_warps", Integer(&KernelOptions::num_warps, 1, 32, /*power_of_two=*/true)},
      {"num_ctas", Integer(&KernelOptions::num_ctas, 1, 16, /*power_of_two=*/true)},
      {"num_stages", Integer(&KernelOptions::num_stages, 0, 64)},
      {"maxnreg", Integer(&KernelOptions::maxnreg, 1, 255)},
      {"ptx_version", Integer(&KernelOptions::ptx_version, 60, 99)},
      {"enable_fp_fusion", Boolean(&KernelOptions::enable_fp_fusion)},
      {"enable_reflect_ftz", Boolean(&KernelOptions::enable_reflect_ftz)},
      {"prefetch", Boolean(&KernelOptions::prefetch)},
      {"debug", Boolean(&KernelOptions::debug)},
      {"ptx_options", ReadAssemblerFlags},
  };
  return *known;
}

// The libraries as upstream writes them: [["libdevice", "/path"]] or {"libdevice": "/path"}.
bool IsLibdeviceAlone(const json& libraries) {
  if (libraries.is_object()) return libraries.empty() || (libraries.size() == 1 && libraries.contains("libdevice"));
  if (!libraries.is_array()) return libraries.is_null();
  return std::all_of(libraries.begin(), libraries.end(),
                     [](const json& pair) { return pair.is_array() && !pair.empty() && pair[0] == "libdevice"; });
}

// Whether an option that is not read here is one of Triton's that asks nothing of a compiler: what its frontend or
// launcher reads, what it names things by, what a compile tells in its metadata (which clients send back as options),
// and switches that are off.
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
  if (name == "extern_libs") return IsLibdeviceAlone(value);
  if (name == "instrumentation_mode") return value == "";
  return value.is_null() || others->count(name) > 0 || (value == false && switches->count(name) > 0);
}

}  // namespace

absl::StatusOr<ParsedOptions> ParseOptions(const json& options) {
  ParsedOptions parsed;
  if (options.is_null()) return parsed;
  if (!options.is_object()) return absl::InvalidArgumentError("options must be an object of name: value");
  for (const auto& [name, value] : options.items()) {
    const Known* known = nullptr;
    for (const Known& candidate : KnownOptions())
      if (name == candidate.name) known = &candidate;
    if (name == "warp_size" && !value.is_null()) {
      if (value != 32 && value != 64) return Wrong(name, value, "32 or 64");
      parsed.warp_size = value.get<int>();
      continue;
    }
    if (known == nullptr) {
      if (!AsksForNothing(name, value)) parsed.ignored.push_back(name);
      continue;
    }
    if (value.is_null()) continue;
    if (absl::Status status = known->read(name, value, parsed.kernel); !status.ok()) return status;
  }
  return parsed;
}

}  // namespace tritond::compiler
