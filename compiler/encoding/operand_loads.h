// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_OPERAND_LOADS_H_
#define COMPILER_ENCODING_OPERAND_LOADS_H_

#include <optional>

#include "mlir/IR/Operation.h"

namespace tritond::compiler {

// For a load whose result goes to operands of dots alone, as it is or after operations on its elements: the bytes of
// the largest element among the loads that meet in these operations. 0 for all other loads, and where one of those that
// meet also goes elsewhere. Such tensors have no encoding in common with what the dots give.
int OperandBytes(mlir::Operation* load);

// The dimension of a load's result along which all the dots that it goes to sum up: K. Operations on its elements and
// transpositions may be in between. Nothing where it goes to none, or dots differ.
std::optional<unsigned> SummedAxis(mlir::Operation* load);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_OPERAND_LOADS_H_
