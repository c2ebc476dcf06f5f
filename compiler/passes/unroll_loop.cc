// SPDX-License-Identifier: Apache-2.0
// Unrolls the loops that ask for it (tl.range(…, loop_unroll_factor=n)):
//
//   scf.for %i = %lb to %ub step %s {       scf.for %i = %lb to %ub4 step (4 * %s) { body(%i), body(%i + %s), … }
//     body(%i)                          ->  scf.for %i = %ub4 to %ub step %s { body(%i) }
//   } {tt.loop_unroll_factor = 4 : i32}
//
// %ub4 is the bound of the largest multiple of four rounds. The remainder is never worth pipelining: it gets
// tt.num_stages = 1. It is left out when the rounds are known and divisible.
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_UNROLLLOOPPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::scf::ForOp;

constexpr llvm::StringLiteral kFactorAttr = "tt.loop_unroll_factor";
constexpr llvm::StringLiteral kStagesAttr = "tt.num_stages";
constexpr llvm::StringLiteral kMark = "tritond.unrolling";
// A body that grows beyond this number of operations costs more in compile time than any unrolling gives.
constexpr int64_t kMaxUnrolledOps = 100000;

int64_t CountOps(ForOp loop) {
  int64_t count = 0;
  loop.getBody()->walk([&](mlir::Operation*) { ++count; });
  return count;
}

mlir::LogicalResult Unroll(ForOp loop) {
  auto factor = loop->getAttrOfType<mlir::IntegerAttr>(kFactorAttr);
  if (!factor) return loop.emitError() << kFactorAttr << " must be an integer";
  int64_t rounds = factor.getInt();
  loop->removeAttr(kFactorAttr);
  if (rounds <= 1) return mlir::success();
  if (rounds > kMaxUnrolledOps || CountOps(loop) * rounds > kMaxUnrolledOps)
    return loop.emitError() << "unrolling " << rounds << " times makes more than " << kMaxUnrolledOps << " operations";
  // A loop of one round is dissolved by the unrolling, so the pieces are found by a mark that they inherit. Of them, the
  // remainder alone does not start at the loop's lower bound.
  mlir::Block* block = loop->getBlock();
  mlir::Value lower = loop.getLowerBound();
  loop->setAttr(kMark, mlir::UnitAttr::get(loop.getContext()));
  if (failed(mlir::loopUnrollByFactor(loop, rounds))) return mlir::emitError(lower.getLoc(), "loop cannot be unrolled");
  for (ForOp piece : block->getOps<ForOp>()) {
    if (!piece->removeAttr(kMark) || piece.getLowerBound() == lower) continue;
    piece->setAttr(kStagesAttr, mlir::IntegerAttr::get(mlir::IntegerType::get(piece.getContext(), 32), 1));
  }
  return mlir::success();
}

class UnrollLoopPass : public impl::UnrollLoopPassBase<UnrollLoopPass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;  // inner ones first
    getOperation().walk([&](ForOp loop) {
      if (loop->hasAttr(kFactorAttr)) loops.push_back(loop);
    });
    for (ForOp loop : loops)
      if (failed(Unroll(loop))) return signalPassFailure();
  }
};

}  // namespace
}  // namespace tritond::compiler
