// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ANALYSIS_LOWER_BOUNDS_H_
#define COMPILER_ANALYSIS_LOWER_BOUNDS_H_

#include <cstdint>

#include "compiler/analysis/axis_info.h"
#include "mlir/IR/Operation.h"

namespace tritond::compiler {

// Whether no element of `value`, read as an integer with a sign, is less than `bound` whenever `at` runs. The value
// must be visible there. Goes by how values are made, and by the conditions under which `at` runs: of branches, of
// loops and of assumptions. `axes` knows signs that need no condition. Trusts what it trusts: index arithmetic does not
// wrap around, and divisors are positive.
bool IsAtLeast(mlir::Value value, int64_t bound, mlir::Operation* at, const AxisInfoAnalysis& axes);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_LOWER_BOUNDS_H_
