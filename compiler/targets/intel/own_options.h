// SPDX-License-Identifier: Apache-2.0
// Options for Intel GPUs alone.
#ifndef COMPILER_TARGETS_INTEL_OWN_OPTIONS_H_
#define COMPILER_TARGETS_INTEL_OWN_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/targets/option_rules.h"

namespace tritond::compiler::intel {

// Whether operands may be read by the functions of cl_intel_subgroup_2d_block_io, which drivers before 2023 lack;
// default true.
inline constexpr char kBlockReads[] = "block_reads";

// Whether the binary is native code of Intel's offline compiler ocloc, and no SPIR-V; default false.
inline constexpr char kNative[] = "native";

// Registers of a thread, which the driver goes by when it compiles the module: "default", "128", "256" or "auto".
inline constexpr char kRegisterMode[] = "grf_mode";

std::vector<OptionRule> OwnRules();
// What says the register mode to Intel's compiler; empty for its default.
std::string RegisterFlags(const std::string& mode);
// InvalidArgument: there is no such register mode.
absl::Status CheckRegisterMode(const OwnOptions& own);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_OWN_OPTIONS_H_
