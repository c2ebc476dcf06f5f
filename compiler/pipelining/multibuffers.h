// SPDX-License-Identifier: Apache-2.0
// Reading the buffers of a loop's next round at the end of the round before it.
#ifndef COMPILER_PIPELINING_MULTIBUFFERS_H_
#define COMPILER_PIPELINING_MULTIBUFFERS_H_

#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether `value` is `place` + 1, or 0 where that is `size`: the next place of a ring.
bool IsNextPlace(mlir::Value value, mlir::Value place, int64_t size);

// `value` as so many places `ahead` of an argument of `loop` that advances by one place of a ring a round.
struct RingPlace {
  mlir::BlockArgument argument;
  int64_t ahead = 0;
};
std::optional<RingPlace> PlaceInRing(mlir::Value value, mlir::scf::ForOp loop, int64_t size);

// Whether the first round's and, at the end of each round, the next round's value of `buffer`, a view made in the body
// of `loop`, can be had without leaving the memory behind it, even where there is no such round: it is made by views of
// a buffer from outside, the indices in rows of buffers are constants, places of a ring, or the counter of a loop with
// constant bounds.
bool CanRotate(mlir::Value buffer, mlir::scf::ForOp loop);

// Such a view, or a token that the wait below takes, in the first round, made before `loop`, and in the round after the
// one in whose end `b` stands. Where there is no next round, some buffer of the row.
mlir::Value InFirstRound(mlir::OpBuilder& b, mlir::Value value, mlir::scf::ForOp loop);
mlir::Value InNextRound(mlir::OpBuilder& b, mlir::Value value, mlir::scf::ForOp loop);

// The only asynchronous wait in the body of `loop`, null if there is none, where everything in the loop allows that
// loads of `buffers`, views as above, move from any place of a round to the end of the round before, after that wait,
// which moves with them. Failure where it does not, or where that is not certain.
mlir::FailureOr<ttg::AsyncWaitOp> FindRotatedWait(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Value> buffers);

}  // namespace tritond::compiler

#endif  // COMPILER_PIPELINING_MULTIBUFFERS_H_
