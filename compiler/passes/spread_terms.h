// SPDX-License-Identifier: Apache-2.0
// What passes share that combine terms before they are spread over a block.
#ifndef COMPILER_PASSES_SPREAD_TERMS_H_
#define COMPILER_PASSES_SPREAD_TERMS_H_

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether `ahead` comes from further outside than `value`.
bool IsFromFurtherOutside(mlir::Value ahead, mlir::Value value);

// Elements of a thread. The type has an encoding.
int64_t ElementsOfThread(mlir::Type type);

// Whether `op` is directly in a loop with dots. A target's own dots show by what they add to.
bool IsBesideDots(mlir::Operation* op);

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_SPREAD_TERMS_H_
