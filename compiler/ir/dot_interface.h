// SPDX-License-Identifier: Apache-2.0
// The interface of dots (dot_interface.td). tt.dot and tt.dot_scaled implement it.
#ifndef COMPILER_IR_DOT_INTERFACE_H_
#define COMPILER_IR_DOT_INTERFACE_H_

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OpDefinition.h"

// clang-format off: it needs the headers above.
#include "compiler/ir/dot_interface.h.inc"
// clang-format on

namespace tritond::tt {

// Gives the operations of the dialect, which is loaded, the interface.
void AttachDotInterface(mlir::MLIRContext& context);

}  // namespace tritond::tt

#endif  // COMPILER_IR_DOT_INTERFACE_H_
