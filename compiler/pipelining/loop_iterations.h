// SPDX-License-Identifier: Apache-2.0
// How often loops run, alone and one within the other. All numbers of iterations are i64.
#ifndef COMPILER_PIPELINING_LOOP_ITERATIONS_H_
#define COMPILER_PIPELINING_LOOP_ITERATIONS_H_

#include <optional>

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether constant bounds show that the loop runs at least once.
bool CertainlyRuns(mlir::scf::ForOp loop);

// Whether no other loop lies in it.
bool IsInnermost(mlir::scf::ForOp loop);

// The iterations of `loop`, made where `b` stands; its bounds must be there.
mlir::Value CountIterations(mlir::OpBuilder& b, mlir::scf::ForOp loop);

// The counter of `loop` in iteration number `iteration` (i64), made where `b` stands.
mlir::Value CounterAt(mlir::OpBuilder& b, mlir::scf::ForOp loop, mlir::Value iteration);

// The operations of `outer`'s body that compute the bounds of `inner`, a loop in it, in order. Nullopt if they need
// more than the outer counter or are no pure functions of it.
std::optional<llvm::SmallVector<mlir::Operation*>> BoundsSlice(mlir::scf::ForOp outer, mlir::scf::ForOp inner);

// Moves that slice in front of `outer`, if it is the same in all iterations and may be computed for none; false if not.
bool HoistBounds(mlir::scf::ForOp outer, llvm::ArrayRef<mlir::Operation*> slice, mlir::scf::ForOp inner);

// Makes a loop over the outer iterations that adds up the inner ones, at least one for each.
mlir::Value CountAllIterations(mlir::OpBuilder& b, mlir::scf::ForOp outer, mlir::scf::ForOp inner,
                               llvm::ArrayRef<mlir::Operation*> slice);

}  // namespace tritond::compiler

#endif  // COMPILER_PIPELINING_LOOP_ITERATIONS_H_
