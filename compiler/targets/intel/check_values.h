// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_INTEL_CHECK_VALUES_H_
#define COMPILER_TARGETS_INTEL_CHECK_VALUES_H_

#include "absl/status/status.h"
#include "compiler/targets/intel/spirv_words.h"

namespace tritond::compiler::intel {

// What a validator would find first, in a module whose producer may have mixed up values. Ok when each id has one
// definition and is less than the bound, and each id that is used has one. The operands of arithmetic, comparisons,
// selections, phis and stores also need the types that they must have together. Internal with the instruction.
absl::Status CheckValues(const SpirvWords& module);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_CHECK_VALUES_H_
