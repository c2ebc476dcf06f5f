// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/own_options.h"

#include "absl/strings/str_cat.h"

namespace tritond::compiler::intel {

std::vector<OptionRule> OwnRules() {
  return {{kBlockReads, OptionKind::kBoolean}, {kNative, OptionKind::kBoolean}, {kRegisterMode, OptionKind::kText}};
}

std::string RegisterFlags(const std::string& mode) {
  if (mode == "auto") return "-cl-intel-enable-auto-large-GRF-mode";
  return mode == "128" || mode == "256" ? absl::StrCat("-cl-intel-", mode, "-GRF-per-thread") : "";
}

absl::Status CheckRegisterMode(const OwnOptions& own) {
  const std::string mode = own.Text(kRegisterMode);
  for (const char* known : {"", "default", "128", "256", "auto"})
    if (mode == known) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("option ", kRegisterMode, " is default, 128, 256 or auto, not ", mode));
}

}  // namespace tritond::compiler::intel
