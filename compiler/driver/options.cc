// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/options.h"

#include <functional>

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
    if (!known) {
      parsed.ignored.push_back(name);
      continue;
    }
    if (value.is_null()) continue;
    if (absl::Status status = known->read(name, value, parsed.kernel); !status.ok()) return status;
  }
  return parsed;
}

}  // namespace tritond::compiler
