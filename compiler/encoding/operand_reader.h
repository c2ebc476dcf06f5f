// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_OPERAND_READER_H_
#define COMPILER_ENCODING_OPERAND_READER_H_

#include "mlir/IR/BuiltinTypes.h"

namespace tritond::compiler {

// Who reads a tensor: a thread what it holds, or operands of dots in shared memory. Each thread or warp would write
// there what it has computed for itself, under the encoding of such an operand.
enum class OperandReader {
  kThread,
  kMultiplyAdds,  // of all threads
  kUnit,          // a matrix unit that reads its operand b by itself
};

OperandReader ReaderOf(mlir::RankedTensorType type);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_OPERAND_READER_H_
