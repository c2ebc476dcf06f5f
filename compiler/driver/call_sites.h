// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_DRIVER_CALL_SITES_H_
#define COMPILER_DRIVER_CALL_SITES_H_

#include "mlir/IR/Operation.h"

namespace tritond::compiler {

// Operations of an inlined call are located at the callee's place, reached from the caller's. MLIR's pass that gives
// locations their scopes ends the process where the callee's place names no file: such locations become the caller's.
void DropCalleesWithoutFile(mlir::Operation* root);

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_CALL_SITES_H_
