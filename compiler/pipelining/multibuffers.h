// SPDX-License-Identifier: Apache-2.0
// Reading the buffers of a loop's next iteration at the end of the iteration before it.
#ifndef COMPILER_PIPELINING_MULTIBUFFERS_H_
#define COMPILER_PIPELINING_MULTIBUFFERS_H_

#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether `value` is `slot` + 1, or 0 where that is `size`: the next slot of a multibuffer.
bool IsNextSlot(mlir::Value value, mlir::Value slot, int64_t size);

// `value` as so many slots `ahead` of an argument of `loop` that advances by one slot of a multibuffer an iteration.
struct MultibufferSlot {
  mlir::BlockArgument argument;
  int64_t ahead = 0;
};
std::optional<MultibufferSlot> SlotOf(mlir::Value value, mlir::scf::ForOp loop, int64_t size);

// Whether the values that `buffer`, a view made in the body of `loop`, has in other iterations can be had within its
// memory. These are its value in the first iteration and, at the end of each iteration, its value in the next one. That
// must hold even where there is no such iteration. It holds if views of a buffer from outside make `buffer`, and the
// indices in rows of buffers are of three kinds. Such an index is a constant, a slot of a multibuffer, or the counter
// of a loop with constant bounds.
bool CanRotate(mlir::Value buffer, mlir::scf::ForOp loop);

// Such a view, or a token that the wait below takes, in another iteration. InFirstIteration gives that of the first
// iteration, made before `loop`. InNextIteration gives that of the iteration after the one in whose end `b` stands.
// Where there is no next iteration, it is some buffer of the row.
mlir::Value InFirstIteration(mlir::OpBuilder& b, mlir::Value value, mlir::scf::ForOp loop);
mlir::Value InNextIteration(mlir::OpBuilder& b, mlir::Value value, mlir::scf::ForOp loop);

// The only asynchronous wait in the body of `loop`, null if there is none. Everything in the loop must allow that loads
// of `buffers`, views as above, move to the end of the iteration before. They move there from any place of an
// iteration, and follow that wait, which moves with them. Failure where the loop does not allow that, or where that is
// not certain.
mlir::FailureOr<ttg::AsyncWaitOp> FindRotatedWait(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Value> buffers);

}  // namespace tritond::compiler

#endif  // COMPILER_PIPELINING_MULTIBUFFERS_H_
