// SPDX-License-Identifier: Apache-2.0
// Loads of a loop without dots that are started one iteration ahead and wait in registers, where an iteration loads
// much. One that loads less is unrolled by the assembler, which then starts several loads at once. One that loads as
// much runs as it is, and waits for memory in each iteration. That does not matter where it computes for much longer
// than memory needs for what it loads: other warps then compute meanwhile, and the more so the fewer registers each
// has. Nor is it so where the loop also loads what it stores: each iteration waits for that in any case, and all its
// loads can be on their way then.
//
// In a recurrence most of what an iteration computes takes what the one before has made. So a warp has nothing else to
// do while it waits. Programs are often few, for time takes no part of the grid. There more words may wait, if a thread
// has registers for those of two iterations. This costs blocks in any case, so the loads also begin as early in an
// iteration as they can (loop.first). The warps that remain still load more at once than memory needs for its full
// rate.
#ifndef COMPILER_PASSES_STREAM_LOADS_H_
#define COMPILER_PASSES_STREAM_LOADS_H_

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

struct StreamLoads {
  llvm::SmallVector<tt::LoadOp> loads;
  bool recurs = false;  // the loop is a recurrence
};

// `min_words`: of a thread, that an iteration loads at least; 0: none wait. `word_instructions`: what a thread issues
// while memory delivers a word of it; 0: not known.
StreamLoads FindStreamLoads(mlir::scf::ForOp loop, int64_t min_words, int64_t word_instructions);

// What a thread issues in an iteration for all but dots and `but`.
double InstructionsOf(mlir::scf::ForOp loop, const llvm::DenseSet<mlir::Operation*>& but);

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_STREAM_LOADS_H_
