// SPDX-License-Identifier: Apache-2.0
// Makes one loop of nested ones where the outer ones only compute indices for the inner, as those over pixels and
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
// Of three loops, the counter of the second one starts again when it reaches its end, and the first one's advances
// then. The indices are computed in each iteration, so they must be cheap beside the body. The body must load what a
// dot takes, for such loads are made ahead. It must load each element by itself: addresses of neighbours that are
// loaded together advance by additions from one iteration to the next, which indices from several loops do not. That
// does not count where threads compute the indices beside dots that run on, and these take as long at least. Loops
// with many iterations, as far as they are known, stay. So does a loop that does anything else, or decides how often
// the one in it runs. Loops that have attributes of their own, but for the innermost one's number of stages, stay too.
#include "compiler/analysis/axis_info.h"
#include "compiler/dots/matrix_buffers.h"
#include "compiler/dots/outliving_dots.h"
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
constexpr int64_t kProductBits = 16;

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

// Whether `outer` does not decide how often the loops in it run, `inner`, and these are few iterations as far as known.
bool HasKnownCourse(ForOp outer, llvm::ArrayRef<ForOp> inner) {
  if (outer.getUnsignedCmp()) return false;
  double iterations = 1;
  for (ForOp loop : inner) {
    if (loop.getUnsignedCmp()) return false;
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!outer.isDefinedOutsideOfLoop(bound)) return false;
    const std::optional<llvm::APInt> known = loop.getStaticTripCount();
    iterations *= known ? known->roundToDouble() : 0;
  }
  return iterations < kManyIterations;
}

bool HasPlainAttributes(ForOp innermost) {
  return llvm::all_of(innermost->getDiscardableAttrs(), [](auto each) { return each.getName() == "tt.num_stages"; });
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

// Instructions that a thread may issue while a matrix unit, which makes `products` of 16 bits in a cycle, computes the
// dots of an iteration. Zero where any dot does not run on beside the threads.
double TimeOfDots(ForOp loop, int64_t products, int64_t issued_warps) {
  double cycles = 0;
  for (auto dot : loop.getBody()->getOps<tt::DotOp>()) {
    if (products == 0 || !OutlivesIteration(dot, loop)) return 0;
    auto a = llvm::cast<RankedTensorType>(dot.getA().getType()), d = llvm::cast<RankedTensorType>(dot.getType());
    cycles += static_cast<double>(d.getNumElements() * a.getShape().back() * a.getElementTypeBitWidth()) /
              static_cast<double>(kProductBits * products);
  }
  return cycles * static_cast<double>(issued_warps) / ttg::NumWarps(loop);
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

// The loops that one loop can replace, from the outermost to `innermost`. `of_dots`: see TimeOfDots.
llvm::SmallVector<ForOp> NestOf(ForOp innermost, double of_dots) {
  llvm::SmallVector<ForOp> nest{innermost};
  double of_indices = 0;
  while (auto outer = llvm::dyn_cast<ForOp>(nest.front()->getParentOp())) {
    of_indices += CostOf(outer.getBody());
    if (OnlyInnerLoop(outer) != nest.front() || !PassesOn(outer, nest.front()) || !HasKnownCourse(outer, nest)) break;
    if (!outer->getDiscardableAttrDictionary().empty()) break;
    if (of_indices * kLeastShare > CostOf(innermost.getBody()) && of_indices > of_dots) break;
    nest.insert(nest.begin(), outer);
  }
  return nest;
}

// What the outer loops' counters become after an iteration of the nest, which was the innermost one's last if `last`.
llvm::SmallVector<Value> Advance(OpBuilder& b, llvm::ArrayRef<ForOp> outer, llvm::ArrayRef<Value> counters,
                                 Value last) {
  llvm::SmallVector<Value> next(counters);
  for (size_t i = outer.size(); i-- > 0;) {
    ForOp loop = outer[i];
    Location loc = loop.getLoc();
    Value advanced = arith::AddIOp::create(b, loc, counters[i], loop.getStep());
    if (i > 0) {
      Value ends = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, advanced, loop.getUpperBound());
      Value again = arith::SelectOp::create(b, loc, ends, loop.getLowerBound(), advanced);
      next[i] = arith::SelectOp::create(b, loc, last, again, counters[i]);
      last = arith::AndIOp::create(b, loc, last, ends);
    } else {
      next[i] = arith::SelectOp::create(b, loc, last, advanced, counters[i]);
    }
  }
  return next;
}

void Flatten(llvm::ArrayRef<ForOp> nest) {
  ForOp outermost = nest.front(), inner = nest.back();
  const llvm::ArrayRef<ForOp> outer = nest.drop_back();
  OpBuilder b(outermost);
  Location loc = inner.getLoc();
  Value inner_iterations = CountIterations(b, inner), total = inner_iterations;
  for (ForOp loop : llvm::reverse(outer)) total = arith::MulIOp::create(b, loc, CountIterations(b, loop), total);
  mlir::Type i64 = b.getI64Type();
  Value zero = Constant(b, loc, i64, 0), one = Constant(b, loc, i64, 1);
  llvm::SmallVector<Value> inits(outermost.getInitArgs());
  for (ForOp loop : outer) inits.push_back(loop.getLowerBound());
  inits.push_back(zero);
  auto flat = ForOp::create(b, loc, zero, total, one, inits);
  flat->setDiscardableAttrs(inner->getDiscardableAttrDictionary());

  mlir::Block* body = flat.getBody();
  b.setInsertionPointToEnd(body);
  llvm::ArrayRef<mlir::BlockArgument> carried = flat.getRegionIterArgs();
  const llvm::SmallVector<Value> counters(carried.drop_back().take_back(outer.size()));
  Value n = carried.back();
  inner.getInductionVar().replaceAllUsesWith(CounterAt(b, inner, n));
  for (auto [from, to] : llvm::zip(inner.getRegionIterArgs(), carried)) from.replaceAllUsesWith(to);
  llvm::SmallVector<Value> yields(inner.getYieldedValues());
  auto& operations = body->getOperations();
  for (size_t index = 0; index < outer.size(); ++index) {
    ForOp loop = outer[index];
    loop.getInductionVar().replaceAllUsesWith(counters[index]);
    // After the loop in it there is nothing that anybody uses.
    operations.splice(body->end(), loop.getBody()->getOperations(), loop.getBody()->begin(),
                      mlir::Block::iterator(nest[index + 1]));
  }
  operations.splice(body->end(), inner.getBody()->getOperations(), inner.getBody()->begin(),
                    std::prev(inner.getBody()->end()));
  Value next = arith::AddIOp::create(b, loc, n, one);
  Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, inner_iterations);
  llvm::append_range(yields, Advance(b, outer, counters, last));
  yields.push_back(arith::SelectOp::create(b, loc, last, zero, next));
  mlir::scf::YieldOp::create(b, loc, yields);
  outermost.replaceAllUsesWith(flat.getResults().take_front(outermost.getNumResults()));
  outermost.erase();
}

class FlattenNestsPass : public impl::FlattenNestsPassBase<FlattenNestsPass> {
 public:
  using FlattenNestsPassBase::FlattenNestsPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<ForOp> innermost;
    getOperation().walk([&](ForOp loop) {
      if (IsPlain(loop)) innermost.push_back(loop);
    });
    std::optional<AxisInfoAnalysis> axes;
    for (ForOp inner : innermost) {
      if (!HasPlainAttributes(inner) || !OnlyReads(inner) || !LoadsForDots(inner)) continue;
      const double of_dots = TimeOfDots(inner, products, issued_warps);
      const llvm::SmallVector<ForOp> nest = NestOf(inner, of_dots);
      if (nest.size() == 1) continue;
      double of_indices = 0;
      for (ForOp loop : llvm::ArrayRef(nest).drop_back()) of_indices += CostOf(loop.getBody());
      if (!axes) axes.emplace(getOperation());
      const bool runs_beside = of_dots > 0 && of_indices <= of_dots;
      if (runs_beside || LoadsOneByOne(inner, *axes)) Flatten(nest);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
