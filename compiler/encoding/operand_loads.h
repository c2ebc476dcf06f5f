// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_OPERAND_LOADS_H_
#define COMPILER_ENCODING_OPERAND_LOADS_H_

#include "mlir/IR/Operation.h"

namespace tritond::compiler {

// For a load whose result goes to operands of dots alone, as it is or after operations on its elements: the bytes of
// the largest element among the loads that meet in these operations. 0 for all other loads, and where one of those that
// meet also goes elsewhere. Such tensors have no encoding in common with what the dots give.
int OperandBytes(mlir::Operation* load);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_OPERAND_LOADS_H_
