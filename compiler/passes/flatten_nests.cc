// SPDX-License-Identifier: Apache-2.0
// Makes one loop of two nested ones where the outer only computes indices for the inner, as those over pixels and
// images of a convolution do. A pipeline of the inner loop begins and ends in each iteration of the outer. Threads then
// wait for memory each time, and that is most of the time where the inner loop has few iterations. A pipeline of the
// one loop goes on:
//
//   %r = scf.for %i = %l to %u step %s iter_args(%a = %x) {
//     %p = indices(%i)
//     %y = scf.for %j = %m to %v step %w iter_args(%b = %a) {
//       body(%p, %j, %b)
//       scf.yield %d
//     }
//     scf.yield %y
//   }
//   ->
//   %iterations = outer iterations * inner iterations
//   %r = scf.for %t = 0 to %iterations step 1 iter_args(%b = %x, %i = %l, %n = 0) {
//     %p = indices(%i)
//     %j = %m + %n * %w
//     body(%p, %j, %b)
//     %last = (%n + 1 == inner iterations)
//     scf.yield %d, (%last ? %i + %s : %i), (%last ? 0 : %n + 1)
//   }
//
// The indices are computed in each iteration, so they must be cheap beside the body. The body must load what a dot
// takes, for such loads are made ahead. It must load each element by itself: addresses of neighbours that are loaded
// together advance by additions from one iteration to the next, which indices from both loops do not. Loops with many
// iterations, as far as they are known, stay. So does a nest in which the outer loop does anything else, or decides how
// often the inner one runs. Loops that have attributes of their own, but for the inner one's number of stages, stay
// too.
#include "compiler/analysis/axis_info.h"
#include "compiler/dots/matrix_buffers.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_effects.h"
#include "compiler/pipelining/loop_iterations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_FLATTENNESTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

// A loop of so many iterations has filled its pipeline for most of them.
constexpr int64_t kManyIterations = 8;
// The body takes so many times as long as the indices, at least.
constexpr double kLeastShare = 2;

// The only loop in the body of `outer`, if that holds nothing else but pure operations; else null.
ForOp OnlyInnerLoop(ForOp outer) {
  ForOp inner;
  for (Operation& op : outer.getBody()->without_terminator()) {
    auto loop = llvm::dyn_cast<ForOp>(op);
    if (loop && !inner) {
      inner = loop;
    } else if (loop || op.getNumRegions() > 0 || !mlir::isMemoryEffectFree(&op)) {
      return {};
    }
  }
  return inner;
}

// Whether it has no loops and no branches.
bool IsPlain(ForOp loop) {
  return llvm::all_of(loop.getBody()->without_terminator(), [](Operation& op) { return op.getNumRegions() == 0; });
}

// Whether the inner loop goes on with what the outer carries, and the outer only passes it on.
bool PassesOn(ForOp outer, ForOp inner) {
  if (outer.getNumRegionIterArgs() != inner.getNumRegionIterArgs()) return false;
  for (auto [index, argument] : llvm::enumerate(outer.getRegionIterArgs())) {
    if (!argument.hasOneUse() || inner.getInitArgs()[index] != argument) return false;
    if (outer.getYieldedValues()[index] != inner.getResult(index)) return false;
    if (!inner.getResult(index).hasOneUse()) return false;
  }
  return true;
}

bool HasKnownCourse(ForOp outer, ForOp inner) {
  if (outer.getUnsignedCmp() || inner.getUnsignedCmp()) return false;
  for (Value bound : {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
    if (!outer.isDefinedOutsideOfLoop(bound)) return false;
  const std::optional<llvm::APInt> iterations = inner.getStaticTripCount();
  return !iterations || iterations->ult(kManyIterations);
}

bool HasPlainAttributes(ForOp outer, ForOp inner) {
  return outer->getDiscardableAttrDictionary().empty() &&
         llvm::all_of(inner->getDiscardableAttrs(), [](auto each) { return each.getName() == "tt.num_stages"; });
}

// Whether `value` is made, in its block, of what a load reads.
bool IsLoaded(Value value, mlir::Block* body) {
  Operation* op = value.getDefiningOp();
  if (!op || op->getBlock() != body) return false;
  if (llvm::isa<tt::LoadOp>(op)) return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return IsLoaded(operand, body); });
}

bool LoadsForDots(ForOp loop) {
  for (auto dot : loop.getBody()->getOps<tt::DotOpInterface>())
    for (mlir::OpOperand* input : dot.Inputs())
      if (IsLoaded(input->get(), loop.getBody())) return true;
  return false;
}

// Whether threads load elements one by one, each from an address of its own.
bool LoadsOneByOne(ForOp loop, const AxisInfoAnalysis& axes) {
  return llvm::all_of(loop.getBody()->getOps<tt::LoadOp>(), [&](tt::LoadOp load) {
    auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
    return type && type.getEncoding() && axes.PointerContiguity(load.getPtr(), OrderInThread(type)[0]) == 1;
  });
}

// Instructions of a thread.
double CostOf(mlir::Block* body) {
  CostModel costs;
  double sum = 0;
  for (Operation& op : body->without_terminator()) {
    auto type = op.getNumResults() == 1 ? llvm::dyn_cast<RankedTensorType>(op.getResult(0).getType()) : nullptr;
    if (type && type.getEncoding())
      sum += CostModel::ElementCost(&op).value_or(0) * costs.Registers(type, type.getEncoding());
  }
  return sum;
}

Value Constant(OpBuilder& b, Location loc, mlir::Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

void Flatten(ForOp outer, ForOp inner) {
  OpBuilder b(outer);
  Location loc = inner.getLoc();
  mlir::Type i64 = b.getI64Type();
  Value inner_iterations = CountIterations(b, inner);
  Value total = arith::MulIOp::create(b, loc, CountIterations(b, outer), inner_iterations);
  Value zero = Constant(b, loc, i64, 0), one = Constant(b, loc, i64, 1);
  llvm::SmallVector<Value> inits(outer.getInitArgs());
  inits.append({outer.getLowerBound(), zero});
  auto flat = ForOp::create(b, loc, zero, total, one, inits);
  flat->setDiscardableAttrs(inner->getDiscardableAttrDictionary());

  mlir::Block* body = flat.getBody();
  b.setInsertionPointToEnd(body);
  llvm::ArrayRef<mlir::BlockArgument> carried = flat.getRegionIterArgs();
  Value counter = carried[carried.size() - 2], n = carried.back();
  outer.getInductionVar().replaceAllUsesWith(counter);
  inner.getInductionVar().replaceAllUsesWith(CounterAt(b, inner, n));
  for (auto [from, to] : llvm::zip(inner.getRegionIterArgs(), carried)) from.replaceAllUsesWith(to);
  llvm::SmallVector<Value> yields(inner.getYieldedValues());
  auto& operations = body->getOperations();
  operations.splice(body->end(), outer.getBody()->getOperations(), outer.getBody()->begin(),
                    mlir::Block::iterator(inner));
  // After the inner loop there is nothing that anybody uses.
  operations.splice(body->end(), inner.getBody()->getOperations(), inner.getBody()->begin(),
                    std::prev(inner.getBody()->end()));
  Value next = arith::AddIOp::create(b, loc, n, one);
  Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, inner_iterations);
  Value advanced = arith::AddIOp::create(b, loc, counter, outer.getStep());
  yields.push_back(arith::SelectOp::create(b, loc, last, advanced, counter));
  yields.push_back(arith::SelectOp::create(b, loc, last, zero, next));
  mlir::scf::YieldOp::create(b, loc, yields);
  outer.replaceAllUsesWith(flat.getResults().take_front(outer.getNumResults()));
  outer.erase();
}

class FlattenNestsPass : public impl::FlattenNestsPassBase<FlattenNestsPass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) { loops.push_back(loop); });
    std::optional<AxisInfoAnalysis> axes;
    for (ForOp outer : loops) {
      ForOp inner = OnlyInnerLoop(outer);
      if (!inner || !IsPlain(inner) || !PassesOn(outer, inner) || !HasKnownCourse(outer, inner)) continue;
      if (!HasPlainAttributes(outer, inner) || !OnlyReads(inner) || !LoadsForDots(inner)) continue;
      if (!axes) axes.emplace(getOperation());
      if (!LoadsOneByOne(inner, *axes)) continue;
      if (CostOf(outer.getBody()) * kLeastShare <= CostOf(inner.getBody())) Flatten(outer, inner);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
