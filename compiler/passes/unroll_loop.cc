// SPDX-License-Identifier: Apache-2.0
// Unrolls the loops that ask for it (tl.range(…, loop_unroll_factor=n)):
//
//   scf.for %i = %lb to %ub step %s {       scf.for %i = %lb to %ub4 step (4 * %s) { body(%i), body(%i + %s), … }
//     body(%i)                          ->  scf.for %i = %ub4 to %ub step %s { body(%i) }
//   } {tt.loop_unroll_factor = 4 : i32}
//
// %ub4 = %lb + %s * (iterations - iterations mod 4), where iterations = (%ub - %lb - 1) / %s + 1 if %lb < %ub, and 0 if
// not. The difference is taken without a sign: it may exceed the largest signed number. The remainder is never worth
// pipelining: it gets tt.num_stages = 1. It is left out when the iterations are known and divisible.
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_UNROLLLOOPPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::OpBuilder;
using mlir::Value;
using mlir::scf::ForOp;

constexpr llvm::StringLiteral kFactorAttr = "tt.loop_unroll_factor";
constexpr llvm::StringLiteral kStagesAttr = "tt.num_stages";
// A body that grows beyond this number of operations costs more in compile time than any unrolling gives.
constexpr int64_t kMaxUnrolledOps = 100000;

int64_t CountOps(ForOp loop) {
  int64_t count = 0;
  loop.getBody()->walk([&](mlir::Operation*) { ++count; });
  return count;
}

// The number of iterations, if the bounds are constants.
std::optional<uint64_t> KnownIterations(ForOp loop) {
  auto lower = mlir::getConstantIntValue(loop.getLowerBound()), upper = mlir::getConstantIntValue(loop.getUpperBound());
  auto step = mlir::getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0) return std::nullopt;
  if (*lower >= *upper) return 0;
  uint64_t span = static_cast<uint64_t>(*upper) - static_cast<uint64_t>(*lower);
  return (span - 1) / static_cast<uint64_t>(*step) + 1;
}

Value Constant(OpBuilder& b, ForOp loop, int64_t value) {
  return arith::ConstantOp::create(b, loop.getLoc(), b.getIntegerAttr(loop.getInductionVar().getType(), value));
}

// The bound of the iterations that come `factor` at a time: %ub4 above.
Value MainUpperBound(OpBuilder& b, ForOp loop, int64_t factor) {
  mlir::Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  Value one = Constant(b, loop, 1);
  Value last = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), one);
  Value iterations = arith::AddIOp::create(b, loc, arith::DivUIOp::create(b, loc, last, step), one);
  Value rest = arith::RemUIOp::create(b, loc, iterations, Constant(b, loop, factor));
  Value span = arith::MulIOp::create(b, loc, arith::SubIOp::create(b, loc, iterations, rest), step);
  Value runs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lower, upper);
  return arith::SelectOp::create(b, loc, runs, arith::AddIOp::create(b, loc, lower, span), lower);
}

// The loop whose iteration is `factor` iterations of `loop`, up to `upper`.
ForOp CreateMainLoop(OpBuilder& b, ForOp loop, Value upper, int64_t factor) {
  Value step = arith::MulIOp::create(b, loop.getLoc(), loop.getStep(), Constant(b, loop, factor));
  auto main = ForOp::create(b, loop.getLoc(), loop.getLowerBound(), upper, step, loop.getInitArgs());
  main->setAttrs(loop->getAttrs());
  if (loop.getNumResults() == 0) main.getBody()->getTerminator()->erase();
  b.setInsertionPointToEnd(main.getBody());
  llvm::SmallVector<Value> carried(main.getRegionIterArgs().begin(), main.getRegionIterArgs().end());
  Value counter = main.getInductionVar();
  for (int64_t copy = 0; copy < factor; ++copy) {
    if (copy) counter = arith::AddIOp::create(b, loop.getLoc(), counter, loop.getStep());
    mlir::IRMapping mapping;
    mapping.map(loop.getInductionVar(), counter);
    mapping.map(loop.getRegionIterArgs(), carried);
    for (mlir::Operation& op : loop.getBody()->without_terminator()) b.clone(op, mapping);
    for (auto [value, yielded] : llvm::zip(carried, loop.getYieldedValues())) value = mapping.lookupOrDefault(yielded);
  }
  mlir::scf::YieldOp::create(b, loop.getLoc(), carried);
  b.setInsertionPointAfter(main);
  return main;
}

mlir::LogicalResult Unroll(ForOp loop) {
  auto factor = loop->getAttrOfType<mlir::IntegerAttr>(kFactorAttr);
  if (!factor) return loop.emitError() << kFactorAttr << " must be an integer";
  int64_t copies = factor.getInt();
  loop->removeAttr(kFactorAttr);
  auto type = llvm::dyn_cast<mlir::IntegerType>(loop.getInductionVar().getType());
  if (copies <= 1 || (type && type.getWidth() < 32)) return mlir::success();
  if (copies > kMaxUnrolledOps || CountOps(loop) * copies > kMaxUnrolledOps)
    return loop.emitError() << "unrolling " << copies << " times makes more than " << kMaxUnrolledOps << " operations";
  std::optional<uint64_t> iterations = KnownIterations(loop);
  if (iterations && *iterations < static_cast<uint64_t>(copies)) return mlir::success();
  bool divisible = iterations && *iterations % copies == 0;
  OpBuilder b(loop);
  Value upper = divisible ? loop.getUpperBound() : MainUpperBound(b, loop, copies);
  ForOp main = CreateMainLoop(b, loop, upper, copies);
  if (divisible) {
    loop.replaceAllUsesWith(main.getResults());
    loop.erase();
    return mlir::success();
  }
  loop.setLowerBound(upper);
  loop.getInitArgsMutable().assign(main.getResults());
  loop->setAttr(kStagesAttr, b.getI32IntegerAttr(1));
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
