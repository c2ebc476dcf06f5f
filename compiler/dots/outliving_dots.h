// SPDX-License-Identifier: Apache-2.0
// Dots that run on after the iteration of a loop that issued them.
#ifndef COMPILER_DOTS_OUTLIVING_DOTS_H_
#define COMPILER_DOTS_OUTLIVING_DOTS_H_

#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether threads add up what the unit makes of some elements of 8 bits along K, for it keeps few bits of sums
// (maxNumImpreciseAcc).
bool IsPromoted(tt::DotOp dot);

// Whether the next iteration of `loop` may begin while `dot` runs. Its unit reads a buffer by itself (see
// MatrixEncoding::OperandBuffer), so that threads go on beside it, and this iteration does not use its accumulators.
bool OutlivesIteration(tt::DotOp dot, mlir::scf::ForOp loop);

// Whether such a dot reads, from a buffer, what `load` loads, by way of conversions and transpositions alone.
bool IsReadOn(tt::LoadOp load, mlir::scf::ForOp loop);

// Whether the unit of any dot reads it so.
bool IsReadByUnit(tt::LoadOp load);

// Whether the unit of the dot whose operand `convert` makes reads it from the buffer that it goes through.
bool IsReadByUnit(ttg::ConvertLayoutOp convert);

// Whether such a dot takes the operand that `convert` makes.
bool FeedsOutlivingDot(ttg::ConvertLayoutOp convert, mlir::scf::ForOp loop);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_OUTLIVING_DOTS_H_
