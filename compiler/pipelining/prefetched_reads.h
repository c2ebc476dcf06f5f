// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_PIPELINING_PREFETCHED_READS_H_
#define COMPILER_PIPELINING_PREFETCHED_READS_H_

#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// The reads of the body that a cache can be told of iterations ahead (compiler/ir/prefetchable.td): scalars of the loop
// alone say what they read, and no other read of their iteration depends on them.
llvm::SmallVector<mlir::Operation*> PrefetchedReads(mlir::scf::ForOp loop);

}  // namespace tritond::compiler

#endif  // COMPILER_PIPELINING_PREFETCHED_READS_H_
