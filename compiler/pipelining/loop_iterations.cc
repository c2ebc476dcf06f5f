// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipelining/loop_iterations.h"

#include "compiler/ir/speculation.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::IRMapping;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Type;
using mlir::Value;
using mlir::scf::ForOp;
using mlir::scf::YieldOp;

Value Constant(OpBuilder& b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

// The iterations of a loop between these bounds, as i64.
Value Iterations(OpBuilder& b, Location loc, Value lower, Value upper, Value step) {
  Type type = lower.getType();
  Value one = Constant(b, loc, type, 1);
  // A loop that runs never may have any step.
  if (!mlir::getConstantIntValue(step)) step = arith::MaxSIOp::create(b, loc, step, one);
  Value last = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), one);
  Value iterations = arith::DivUIOp::create(b, loc, last, step);
  if (type.isIndex()) {
    iterations = arith::IndexCastUIOp::create(b, loc, b.getI64Type(), iterations);
  } else if (type.getIntOrFloatBitWidth() < 64) {
    iterations = arith::ExtUIOp::create(b, loc, b.getI64Type(), iterations);
  }
  iterations = arith::AddIOp::create(b, loc, iterations, Constant(b, loc, b.getI64Type(), 1));
  Value runs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lower, upper);
  return arith::SelectOp::create(b, loc, runs, iterations, Constant(b, loc, b.getI64Type(), 0));
}

}  // namespace

bool CertainlyRuns(ForOp loop) {
  auto lower = mlir::getConstantIntValue(loop.getLowerBound()), upper = mlir::getConstantIntValue(loop.getUpperBound());
  return lower && upper && *lower < *upper;
}

bool IsInnermost(ForOp loop) {
  return !loop.getBody()
              ->walk([](mlir::LoopLikeOpInterface) { return mlir::WalkResult::interrupt(); })
              .wasInterrupted();
}

Value CounterAt(OpBuilder& b, ForOp loop, Value iteration) {
  Location loc = loop.getLoc();
  Type type = loop.getStep().getType();
  if (type.isIndex()) {
    iteration = arith::IndexCastUIOp::create(b, loc, type, iteration);
  } else if (type.getIntOrFloatBitWidth() < 64) {
    iteration = arith::TruncIOp::create(b, loc, type, iteration);
  }
  Value distance = arith::MulIOp::create(b, loc, iteration, loop.getStep());
  return arith::AddIOp::create(b, loc, loop.getLowerBound(), distance);
}

Value CountIterations(OpBuilder& b, ForOp loop) {
  return Iterations(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
}

std::optional<llvm::SmallVector<Operation*>> BoundsSlice(ForOp outer, ForOp inner) {
  llvm::SmallVector<Value> work{inner.getLowerBound(), inner.getUpperBound(), inner.getStep()};
  llvm::SetVector<Operation*> slice;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (outer.isDefinedOutsideOfLoop(value) || value == outer.getInductionVar()) continue;
    Operation* op = value.getDefiningOp();
    if (!op || op->getNumRegions() != 0 || !mlir::isMemoryEffectFree(op)) return std::nullopt;
    if (slice.insert(op)) llvm::append_range(work, op->getOperands());
  }
  llvm::SmallVector<Operation*> ordered;
  for (Operation& op : *outer.getBody())
    if (slice.contains(&op)) ordered.push_back(&op);
  return ordered;
}

bool HoistBounds(ForOp outer, llvm::ArrayRef<Operation*> slice, ForOp inner) {
  Value counter = outer.getInductionVar();
  auto is_counter = [&](Value value) { return value == counter; };
  if (llvm::any_of(inner->getOperands().take_front(inner.getNumControlOperands()), is_counter)) return false;
  for (Operation* op : slice)
    if (!mlir::isPure(op) || llvm::any_of(op->getOperands(), is_counter)) return false;
  for (Operation* op : slice) {
    op->moveBefore(outer);
    MarkSpeculated(op);
  }
  return true;
}

Value CountAllIterations(OpBuilder& b, ForOp outer, ForOp inner, llvm::ArrayRef<Operation*> slice) {
  Location loc = outer.getLoc();
  Value zero = Constant(b, loc, b.getI64Type(), 0), one = Constant(b, loc, b.getI64Type(), 1);
  auto count = ForOp::create(b, loc, outer.getLowerBound(), outer.getUpperBound(), outer.getStep(), zero);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(count.getBody());
  IRMapping mapping;
  mapping.map(outer.getInductionVar(), count.getInductionVar());
  for (Operation* op : slice) b.clone(*op, mapping);
  auto mapped = [&](Value value) { return mapping.lookupOrDefault(value); };
  Value iterations =
      Iterations(b, loc, mapped(inner.getLowerBound()), mapped(inner.getUpperBound()), mapped(inner.getStep()));
  iterations = arith::MaxUIOp::create(b, loc, iterations, one);
  YieldOp::create(b, loc, arith::AddIOp::create(b, loc, count.getRegionIterArg(0), iterations).getResult());
  return count.getResult(0);
}

}  // namespace tritond::compiler
