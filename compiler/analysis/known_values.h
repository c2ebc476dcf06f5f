// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ANALYSIS_KNOWN_VALUES_H_
#define COMPILER_ANALYSIS_KNOWN_VALUES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "mlir/IR/Value.h"

namespace tritond::compiler {

// The elements, row-major, of an integer tensor that is computed from ranges and constants alone: sign-extended, truth
// values 0 or 1. Nullopt where they are not known when a kernel is compiled, or are too many to look at.
std::optional<std::vector<int64_t>> KnownValues(mlir::Value tensor);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_KNOWN_VALUES_H_
