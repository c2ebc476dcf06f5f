// SPDX-License-Identifier: Apache-2.0
// Where blocks of a cluster have to meet, of which each executes a part of a program's accesses to global memory.
//
// A program's accesses happen in its order. What one block writes before another one reads it in that order, or writes
// it again, has to be there by then; what one reads must not have been overwritten. In loops, accesses by different
// pointer arguments of the kernel are taken to be apart, as where loads start ahead. Elsewhere nothing is: to meet once
// takes less than to be wrong.
#ifndef COMPILER_ANALYSIS_CLUSTER_ORDER_H_
#define COMPILER_ANALYSIS_CLUSTER_ORDER_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// The accesses of a kernel in structured control flow before which all blocks meet.
llvm::SmallVector<mlir::Operation*> AccessesBehindOtherBlocks(tt::FuncOp function);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_CLUSTER_ORDER_H_
