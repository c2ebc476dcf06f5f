// SPDX-License-Identifier: Apache-2.0
// Makes one loop of two nested ones, where the outer asks for it (tl.range(…, flatten=True)). A persistent kernel loops
// over tiles, and for each over K. Pipelining the inner loop alone drains and fills the pipeline once a tile. A
// pipeline of the one loop goes on from tile to tile.
//
//   %r = scf.for %i = %l to %u step %s              %iterations = outer iterations * inner iterations
//       iter_args(%a = %x) {                        %r = scf.for %t = 0 to %iterations step 1
//     prologue                                          iter_args(%a = %x, %b, %p, %i = %l, %n = 0) {
//     %y = scf.for %j = %m to %v step %w              %c, %q = scf.if (%n == 0) { prologue } else { %b, %p }
//         iter_args(%b = %z) {               ->       %j = %m + %n * %w
//       body                                          body
//       scf.yield %d                                  %last = (%n + 1 == inner iterations)
//     }                                               %e = scf.if %last { epilogue } else { %a }
//     epilogue                                        scf.yield %e, %d, %q, (%last ? %i + %s : %i), (%last ? 0 : %n +
//     1) scf.yield %e                                  }
//   } {tt.flatten}
//
// What the prologue (all in front of the inner loop) computes and others use, the loop carries: %p. Until the first
// prologue has run, that is poison, as is %b; nobody reads it. What only the epilogue needs moves there if it is cheap.
//
// An inner loop may run no iteration. Where its bounds are known outside, this is decided once, in front:
//
//   scf.if (inner iterations > 0) { the fused loop } else { the outer loop without the inner one }
//
// Bounds that depend on %i alone are computed for all %i in a loop of their own, which counts the iterations. Each
// outer iteration then counts as one at least, and the body stands under (inner iterations > 0). With bounds that
// depend on anything else, or with several inner loops, the loop stays as it is.
//
// Iterations are counted in 64 bits. Nothing moves across anything else: effects keep their order.
//
// Loads are made iterations ahead only in loops that write no memory, as they may read what is written there. Suppose
// that the inner loop is one whose loads would be made ahead, and that the outer one writes what the inner computed.
// Then the inner loop is worth more alone, and the nest stays.
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_effects.h"
#include "compiler/pipelining/loop_iterations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_FUSENESTEDLOOPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;
using mlir::scf::ForOp;
using mlir::scf::IfOp;
using mlir::scf::YieldOp;

constexpr llvm::StringLiteral kFlattenAttr = "tt.flatten";

bool AsksForIt(ForOp loop) {
  mlir::Attribute attribute = loop->getAttr(kFlattenAttr);
  auto flag = llvm::dyn_cast_if_present<mlir::BoolAttr>(attribute);
  return attribute && (!flag || flag.getValue());
}

// The only loop directly in the body of `outer`; null if there is none or another.
ForOp InnerLoop(ForOp outer) {
  auto loops = llvm::to_vector(outer.getBody()->getOps<ForOp>());
  return loops.size() == 1 ? loops[0] : ForOp();
}

// Whether the inner loop alone could make its loads ahead, but not the one loop.
bool StopsLoadsAhead(ForOp outer, ForOp inner) {
  if (!OnlyReads(inner) || OnlyReads(outer)) return false;
  auto has = [&](auto op) { return !inner.getBody()->getOps<decltype(op)>().empty(); };
  return has(tt::LoadOp()) && (has(tt::DotOp()) || inner->hasAttr("tt.num_stages"));
}

bool IsCarriable(Type type) {
  return llvm::isa<mlir::IntegerType, mlir::FloatType, mlir::IndexType, tt::PtrType, RankedTensorType>(type);
}

Value Constant(OpBuilder& b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value Compare(OpBuilder& b, Location loc, arith::CmpIPredicate predicate, Value l, Value r) {
  return arith::CmpIOp::create(b, loc, predicate, l, r);
}

// With a block in both regions, which wait for their yields.
IfOp CreateBranch(OpBuilder& b, Location loc, mlir::ValueRange results, Value condition) {
  auto branch = IfOp::create(b, loc, results.getTypes(), condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (mlir::Block* block : {branch.thenBlock(), branch.elseBlock()})
    if (!block->empty()) block->back().erase();
  return branch;
}

// Moves after the inner loop what is in front of it for the epilogue's sake alone, unless that takes larger tensors
// than it gives. These would be carried instead.
void SinkIntoEpilogue(ForOp outer, ForOp inner) {
  auto elements = [](mlir::TypeRange types) {
    int64_t most = 1;
    for (Type type : types)
      if (auto tensor = llvm::dyn_cast<RankedTensorType>(type)) most = std::max(most, tensor.getNumElements());
    return most;
  };
  llvm::SmallVector<Operation*> prologue;
  for (Operation* op = inner->getPrevNode(); op; op = op->getPrevNode()) prologue.push_back(op);
  for (Operation* op : prologue) {
    if (!mlir::isPure(op) || elements(op->getOperandTypes()) > elements(op->getResultTypes())) continue;
    bool late = llvm::all_of(op->getUsers(), [&](Operation* user) {
      return inner->isBeforeInBlock(outer.getBody()->findAncestorOpInBlock(*user));
    });
    if (late) op->moveAfter(inner);
  }
}

class FusedLoop final {
 public:
  FusedLoop(ForOp outer, ForOp inner) : outer_(outer), inner_(inner), loc_(outer.getLoc()), b_(outer) {}

  // `total`: all iterations; `inner_iterations`: those of the inner loop, null if they change. Gives the results of the
  // outer loop, which it empties.
  mlir::ValueRange Create(Value total, Value inner_iterations) {
    if (!inner_iterations) inner_iterations = CountInnerIterations();
    FindLiveOut(inner_iterations);
    Type i64 = b_.getI64Type();
    b_.setInsertionPoint(outer_);
    llvm::SmallVector<Value> inits(outer_.getInitArgs());
    for (Value value : inner_.getInitArgs()) inits.push_back(Poison(value.getType()));
    for (Value value : live_out_) inits.push_back(Poison(value.getType()));
    inits.push_back(outer_.getLowerBound());
    Value zero = Constant(b_, loc_, i64, 0), one = Constant(b_, loc_, i64, 1);
    inits.push_back(zero);
    auto fused = ForOp::create(b_, loc_, zero, total, one, inits);
    SetAttributes(fused);
    mlir::ValueRange carried = fused.getRegionIterArgs();
    size_t num_outer = outer_.getNumRegionIterArgs(), num_inner = inner_.getNumRegionIterArgs();
    outer_carried_ = llvm::to_vector(carried.take_front(num_outer));
    inner_carried_ = llvm::to_vector(carried.slice(num_outer, num_inner));
    live_out_carried_ = llvm::to_vector(carried.slice(num_outer + num_inner, live_out_.size()));
    Value counter = carried[carried.size() - 2], n = carried.back();
    outer_.getInductionVar().replaceAllUsesWith(counter);
    for (auto [from, to] : llvm::zip(outer_.getRegionIterArgs(), outer_carried_)) from.replaceAllUsesWith(to);

    b_.setInsertionPointToEnd(fused.getBody());
    MovePrologue(Compare(b_, loc_, arith::CmpIPredicate::eq, n, zero));
    if (Value renamed = renamed_iterations_) inner_iterations = renamed;
    llvm::SmallVector<Value> inner_next = MoveBody(n, inner_iterations);
    for (auto [from, to] : llvm::zip(inner_.getResults(), inner_next)) from.replaceAllUsesWith(to);
    Value next = arith::AddIOp::create(b_, loc_, n, one);
    Value end = is_counted_ ? arith::MaxUIOp::create(b_, loc_, inner_iterations, one).getResult() : inner_iterations;
    Value last = Compare(b_, loc_, arith::CmpIPredicate::eq, next, end);
    llvm::SmallVector<Value> yields = MoveEpilogue(last);
    llvm::append_range(yields, inner_next);
    llvm::append_range(yields, live_out_);
    Value advanced = arith::AddIOp::create(b_, loc_, counter, outer_.getStep());
    yields.push_back(arith::SelectOp::create(b_, loc_, last, advanced, counter));
    yields.push_back(arith::SelectOp::create(b_, loc_, last, zero, next));
    YieldOp::create(b_, loc_, yields);
    b_.setInsertionPointAfter(fused);
    return fused.getResults().take_front(num_outer);
  }

 private:
  Value Poison(Type type) { return mlir::ub::PoisonOp::create(b_, loc_, type, mlir::ub::PoisonAttr()); }

  // Puts the number of the inner iterations at the end of the prologue, with the bounds that change.
  Value CountInnerIterations() {
    is_counted_ = true;
    b_.setInsertionPoint(inner_);
    return CountIterations(b_, inner_);
  }

  // What is computed in front of the inner loop and used in it, after it or in its control.
  void FindLiveOut(Value inner_iterations) {
    for (Operation& op : *outer_.getBody()) {
      if (&op == inner_.getOperation()) break;
      for (Value result : op.getResults()) {
        bool used = result == inner_iterations || result == inner_.getLowerBound() || result == inner_.getStep();
        for (Operation* user : result.getUsers()) {
          Operation* here = outer_.getBody()->findAncestorOpInBlock(*user);
          used |= inner_->isProperAncestor(user) || inner_->isBeforeInBlock(here);
        }
        if (used) live_out_.push_back(result);
      }
    }
    iterations_ = inner_iterations;
  }

  void SetAttributes(ForOp fused) {
    for (Operation* from : {inner_.getOperation(), outer_.getOperation()})
      for (mlir::NamedAttribute attribute : from->getDiscardableAttrs())
        fused->setDiscardableAttr(attribute.getName(), attribute.getValue());
    fused->removeDiscardableAttr(kFlattenAttr);
  }

  // Then: the prologue. Both regions yield what the inner loop starts with, then what lives on.
  void MovePrologue(Value first) {
    llvm::SmallVector<Value> then_values(inner_.getInitArgs()), else_values(inner_carried_);
    llvm::append_range(then_values, live_out_);
    llvm::append_range(else_values, live_out_carried_);
    IfOp branch = CreateBranch(b_, loc_, then_values, first);
    mlir::Block* then = branch.thenBlock();
    then->getOperations().splice(then->end(), outer_.getBody()->getOperations(), outer_.getBody()->begin(),
                                 mlir::Block::iterator(inner_));
    EndBlock(then, then_values);
    EndBlock(branch.elseBlock(), else_values);
    size_t num_inner = inner_carried_.size();
    for (auto [argument, start] : llvm::zip(inner_.getRegionIterArgs(), branch.getResults().take_front(num_inner)))
      argument.replaceAllUsesWith(start);
    inner_start_ = llvm::to_vector(mlir::ValueRange(branch.getResults()).take_front(num_inner));
    for (auto [value, result] : llvm::zip(live_out_, branch.getResults().drop_front(num_inner))) {
      value.replaceUsesWithIf(result, [&](mlir::OpOperand& use) { return !branch->isAncestor(use.getOwner()); });
      if (value == iterations_) renamed_iterations_ = result;
      value = result;
    }
    b_.setInsertionPointAfter(branch);
  }

  // Gives what the inner loop carries on.
  llvm::SmallVector<Value> MoveBody(Value n, Value inner_iterations) {
    Location loc = inner_.getLoc();
    inner_.getInductionVar().replaceAllUsesWith(CounterAt(b_, inner_, n));
    llvm::SmallVector<Value> yielded(inner_.getYieldedValues());
    mlir::Block* body = inner_.getBody();
    body->getTerminator()->erase();
    if (!is_counted_) {
      b_.getInsertionBlock()->getOperations().splice(b_.getInsertionPoint(), body->getOperations());
      return yielded;
    }
    Value runs = Compare(b_, loc, arith::CmpIPredicate::ne, inner_iterations, Constant(b_, loc, b_.getI64Type(), 0));
    IfOp branch = CreateBranch(b_, loc, yielded, runs);
    mlir::Block* then = branch.thenBlock();
    then->getOperations().splice(then->end(), body->getOperations());
    EndBlock(then, yielded);
    EndBlock(branch.elseBlock(), inner_start_);
    return llvm::to_vector(mlir::ValueRange(branch.getResults()));
  }

  // Gives what the outer loop carries on.
  llvm::SmallVector<Value> MoveEpilogue(Value last) {
    llvm::SmallVector<Value> yielded(outer_.getYieldedValues());
    outer_.getBody()->getTerminator()->erase();
    IfOp branch = CreateBranch(b_, loc_, yielded, last);
    mlir::Block* then = branch.thenBlock();
    then->getOperations().splice(then->end(), outer_.getBody()->getOperations(),
                                 std::next(mlir::Block::iterator(inner_)), outer_.getBody()->end());
    EndBlock(then, yielded);
    EndBlock(branch.elseBlock(), outer_carried_);
    b_.setInsertionPointAfter(branch);
    return llvm::to_vector(mlir::ValueRange(branch.getResults()));
  }

  void EndBlock(mlir::Block* block, llvm::ArrayRef<Value> values) {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToEnd(block);
    YieldOp::create(b_, loc_, values);
  }

  ForOp outer_, inner_;
  Location loc_;
  OpBuilder b_;
  bool is_counted_ = false;                // each outer iteration counts the inner ones
  llvm::SmallVector<Value> live_out_;      // of the prologue; once that has moved, as its branch gives them
  Value iterations_, renamed_iterations_;  // of the inner loop, where it is among live_out_
  llvm::SmallVector<Value> outer_carried_, inner_carried_, live_out_carried_, inner_start_;
};

// A copy of the outer loop whose inner one runs no iteration.
mlir::ValueRange CloneWithoutInner(OpBuilder& b, ForOp outer) {
  auto copy = llvm::cast<ForOp>(b.clone(*outer));
  copy->removeAttr(kFlattenAttr);
  ForOp inner = InnerLoop(copy);
  inner.replaceAllUsesWith(inner.getInitArgs());
  inner.erase();
  return copy.getResults();
}

// Under the condition that the inner loop runs.
void FuseIfRuns(OpBuilder& b, ForOp outer, ForOp inner, Value total, Value inner_iterations) {
  Location loc = outer.getLoc();
  Value runs =
      Compare(b, loc, arith::CmpIPredicate::ne, inner_iterations, Constant(b, loc, inner_iterations.getType(), 0));
  IfOp branch = CreateBranch(b, loc, outer.getResults(), runs);
  outer.replaceAllUsesWith(branch.getResults());
  b.setInsertionPointToEnd(branch.elseBlock());
  YieldOp::create(b, loc, CloneWithoutInner(b, outer));
  outer->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  mlir::ValueRange results = FusedLoop(outer, inner).Create(total, inner_iterations);
  outer.erase();
  b.setInsertionPointToEnd(branch.thenBlock());
  YieldOp::create(b, loc, results);
}

void Fuse(ForOp outer) {
  ForOp inner = InnerLoop(outer);
  if (!inner || StopsLoadsAhead(outer, inner) || !llvm::all_of(outer.getResultTypes(), IsCarriable)) return;
  for (Operation& op : *outer.getBody())
    if (!llvm::all_of(op.getResultTypes(), IsCarriable)) return;
  std::optional<llvm::SmallVector<Operation*>> slice = BoundsSlice(outer, inner);
  if (!slice) return;
  OpBuilder b(outer);
  if (!HoistBounds(outer, *slice, inner)) {
    Value total = CountAllIterations(b, outer, inner, *slice);
    SinkIntoEpilogue(outer, inner);
    outer.replaceAllUsesWith(FusedLoop(outer, inner).Create(total, {}));
    outer.erase();
    return;
  }
  SinkIntoEpilogue(outer, inner);
  Value inner_iterations = CountIterations(b, inner);
  Value total = arith::MulIOp::create(b, outer.getLoc(), CountIterations(b, outer), inner_iterations);
  if (!CertainlyRuns(inner)) return FuseIfRuns(b, outer, inner, total, inner_iterations);
  outer.replaceAllUsesWith(FusedLoop(outer, inner).Create(total, inner_iterations));
  outer.erase();
}

class FuseNestedLoopsPass : public impl::FuseNestedLoopsPassBase<FuseNestedLoopsPass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;  // inner ones first
    getOperation().walk([&](ForOp loop) {
      if (AsksForIt(loop)) loops.push_back(loop);
    });
    for (ForOp loop : loops) Fuse(loop);
  }
};

}  // namespace
}  // namespace tritond::compiler
