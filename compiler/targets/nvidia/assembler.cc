// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/assembler.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tritond::compiler::nvidia {

int PtxVersionOfCuda(int major, int minor) {
  // "PTX ISA", release notes. 12.6 brought no new version.
  if (major == 12 && minor >= 6) return 80 + minor - 1;
  return (major - 4) * 10 + minor;
}

absl::Status AssemblyError(absl::string_view assembler, absl::string_view log) {
  log = absl::StripAsciiWhitespace(log);
  std::string lower = absl::AsciiStrToLower(log);
  if (absl::StrContains(lower, "uses too much shared data") || absl::StrContains(lower, "uses too much parameter")) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the kernel needs more memory than a block has; smaller tiles or fewer stages help: ", log));
  }
  if (absl::StrContains(lower, "too many registers") || absl::StrContains(lower, "register allocation failed") ||
      absl::StrContains(lower, "uses too much local")) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the kernel needs more registers than a thread has; more warps, smaller tiles or a higher "
                     "maxnreg help: ",
                     log));
  }
  if (absl::StrContains(lower, "unsupported .version") || absl::StrContains(lower, "unsupported toolchain") ||
      absl::StrContains(lower, "is not defined for option 'gpu-name'") ||
      absl::StrContains(lower, "unsupported arch") || absl::StrContains(lower, "unrecognized arch")) {
    return absl::FailedPreconditionError(absl::StrCat(assembler, " does not support this target: ", log));
  }
  return absl::InternalError(absl::StrCat(assembler, ": ", log));
}

}  // namespace tritond::compiler::nvidia
