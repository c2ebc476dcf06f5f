// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_GUARDED_H_
#define COMPILER_TARGETS_GUARDED_H_

#include "mlir/IR/Builders.h"

namespace tritond::compiler {

// Lets `act` emit what happens where `predicate` (i1; null: always) is true, in a block of its own. Leaves the builder
// in the block after. The result: what `act` returned, or `otherwise` where it did not happen. Null when `otherwise` is
// null.
//
//   here:  llvm.cond_br %predicate, ^act, ^after(%otherwise)
//   act:   %result = …
//          llvm.br ^after(%result)
//   after(%value): …
mlir::Value EmitGuarded(mlir::OpBuilder& b, mlir::Location loc, mlir::Value predicate, mlir::Value otherwise,
                        llvm::function_ref<mlir::Value()> act);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_GUARDED_H_
