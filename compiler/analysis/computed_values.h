// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ANALYSIS_COMPUTED_VALUES_H_
#define COMPILER_ANALYSIS_COMPUTED_VALUES_H_

#include "mlir/IR/Value.h"

namespace tritond::compiler {

// Whether a tensor of indices or addresses is computed from ranges, scans, truth values and scalars, by way of no other
// tensors in memory. Neighbours in it are then near each other, as far as anyone can tell.
bool IsComputed(mlir::Value tensor);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_COMPUTED_VALUES_H_
