// SPDX-License-Identifier: Apache-2.0
// Where blocks of a cluster have to meet, of which each executes a part of a program's accesses to global memory.
//
// A program's accesses happen in its order. What one block writes before another one reads it in that order, or writes
// it again, has to be there by then; what one reads must not have been overwritten. Pointers from different arguments
// of the kernel, or one from an argument and one from elsewhere, point to different data, as for the threads of a block
// (analysis/global_accesses.h).
#ifndef COMPILER_ANALYSIS_CLUSTER_ORDER_H_
#define COMPILER_ANALYSIS_CLUSTER_ORDER_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// The accesses of a kernel in structured control flow before which all blocks meet. `is_divided`: whether each block
// accesses elements of its own; else all read what there is, and one writes it.
llvm::SmallVector<mlir::Operation*> AccessesBehindOtherBlocks(tt::FuncOp function,
                                                              llvm::function_ref<bool(mlir::Operation*)> is_divided);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_CLUSTER_ORDER_H_
