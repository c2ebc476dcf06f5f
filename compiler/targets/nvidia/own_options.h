// SPDX-License-Identifier: Apache-2.0
// Options that upstream Triton has for CUDA alone.
#ifndef COMPILER_TARGETS_NVIDIA_OWN_OPTIONS_H_
#define COMPILER_TARGETS_NVIDIA_OWN_OPTIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/targets/option_rules.h"

namespace tritond::compiler::nvidia {

inline constexpr char kMaxRegisters[] = "maxnreg";                // of a thread; default 0: no limit
inline constexpr char kPtxVersion[] = "ptx_version";              // 84 for PTX 8.4; default: the assembler's newest
inline constexpr char kFlushSubnormals[] = "enable_reflect_ftz";  // in device library functions; default true
inline constexpr char kReadAhead[] = "prefetch";  // operands, from shared memory, where that pays; default true
inline constexpr char kOrderPrograms[] = "order_programs";  // of a grid, the longest first; default true
inline constexpr char kBulkCopies[] = "bulk_copies";        // of blocks that descriptors name, in loops; default true
inline constexpr char kLoopMaps[] = "loop_maps";            // of descriptors that loops make, for loads; default true
inline constexpr char kAssemblerFlags[] = "ptx_options";

std::vector<OptionRule> OwnRules();
// Checks the flags for the assembler and spells them as ReadPtxOptions does.
absl::Status FinishPtxOptions(OwnOptions& own);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_OWN_OPTIONS_H_
