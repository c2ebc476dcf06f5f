// SPDX-License-Identifier: Apache-2.0
// Options that upstream Triton has for AMD alone.
#ifndef COMPILER_TARGETS_AMD_OWN_OPTIONS_H_
#define COMPILER_TARGETS_AMD_OWN_OPTIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/targets/option_rules.h"

namespace tritond::compiler::amd {

inline constexpr char kWavesPerUnit[] = "waves_per_eu";  // that shall fit on a SIMD unit; default 0: LLVM decides
// Rows of a tile of the matrix instruction: 16 or 32; default 0: the shape of the dot decides.
inline constexpr char kTileRows[] = "matrix_instr_nonkdim";
// Matrix instructions that a lane's neighbouring elements of an operand are for; default 1: as 16 bytes hold.
inline constexpr char kOperandPack[] = "kpack";
inline constexpr char kFlushSubnormals[] = "allow_flush_denorm";  // of f32; default false
// Float additions may use instructions that do not work on fine-grained memory of the host; default true.
inline constexpr char kFastFloatAtomics[] = "unsafe_fp_atomics";

// What instructions to interleave; default none (schedule_hints.cc).
inline constexpr char kScheduleHint[] = "schedule_hint";

std::vector<OptionRule> OwnRules();
// InvalidArgument: no matrix instruction has tiles of so many rows.
absl::Status CheckTileRows(const OwnOptions& own);
// schedule_hints.cc. InvalidArgument: there is no such hint.
absl::Status CheckScheduleHint(const OwnOptions& own);

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_OWN_OPTIONS_H_
