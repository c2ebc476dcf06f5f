// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_PASSES_CARRIED_VALUES_H_
#define COMPILER_PASSES_CARRIED_VALUES_H_

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Calls `rewrite` with each loop below `root` and the index of each value that it carries. It returns the loop, or the
// one that takes its place, which may carry more: of these it is not asked.
inline void RewriteCarriedValues(mlir::Operation* root,
                                 llvm::function_ref<mlir::scf::ForOp(mlir::scf::ForOp, unsigned)> rewrite) {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  root->walk([&](mlir::scf::ForOp loop) { loops.push_back(loop); });
  for (mlir::scf::ForOp loop : loops)
    for (unsigned i = 0, end = loop.getNumRegionIterArgs(); i < end; ++i) loop = rewrite(loop, i);
}

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_CARRIED_VALUES_H_
