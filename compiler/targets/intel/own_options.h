// SPDX-License-Identifier: Apache-2.0
// Options for Intel GPUs alone.
#ifndef COMPILER_TARGETS_INTEL_OWN_OPTIONS_H_
#define COMPILER_TARGETS_INTEL_OWN_OPTIONS_H_

#include <vector>

#include "compiler/targets/option_rules.h"

namespace tritond::compiler::intel {

// Whether operands may be read by the functions of cl_intel_subgroup_2d_block_io, which drivers before 2023 lack;
// default true.
inline constexpr char kBlockReads[] = "block_reads";

std::vector<OptionRule> OwnRules();

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_OWN_OPTIONS_H_
