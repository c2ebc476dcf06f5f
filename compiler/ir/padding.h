// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_IR_PADDING_H_
#define COMPILER_IR_PADDING_H_

#include "mlir/IR/Value.h"

namespace tritond::compiler {

// The i1 of which `other`, what masked elements become, is NaN where it is set and zero where not. So pads a descriptor
// that a kernel takes as an argument. Null: `other` is something else.
mlir::Value NanFlagOf(mlir::Value other);

}  // namespace tritond::compiler

#endif  // COMPILER_IR_PADDING_H_
