// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_ZERO_CONSTANTS_H_
#define COMPILER_LOWERING_ZERO_CONSTANTS_H_

#include "mlir/IR/Value.h"

namespace tritond::compiler {

// Whether `value`, a tensor, is known to be zero everywhere; a float's zero without a sign, so that all bits are.
bool IsZero(mlir::Value value);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_ZERO_CONSTANTS_H_
