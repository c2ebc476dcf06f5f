// SPDX-License-Identifier: Apache-2.0
// When a load of iteration r + 1 may run at the end of iteration r. The loads that the pipeline makes read a
// multibuffer of n slots, of which each iteration fills one and reads the next:
//
//   scf.for … iter_args(%slot = p) {
//     ttg.async_wait {num = n - 2}
//     ttg.async_copy_global_to_local …, (ttg.memdesc_index %bufs[%slot])     fills slot p of iteration r
//     ttg.async_commit_group
//     %next = %slot + 1, or 0 after the last
//     %x = ttg.local_load (ttg.memdesc_index %bufs[%next])                   reads p + 1, filled n - 1 iterations ago
//     yield %next
//   }
//
// A load for iteration r + 1 at the end of iteration r reads slot p + 2. What may change that buffer in between:
//
// 1. The copy of iteration r + 1, which comes before the load as written, and after it as rotated. It fills p + 1. As
//    n is at least 2, p + 1 and p + 2 are different slots, so the load sees the same either way. This is the one write
//    that is let through, and only in this form: the load's index is the next slot of the copy's, or the copy's that
//    of the load's. Any other write to the same allocation in the loop is a reason to decline.
// 2. The copies before, of iteration r and earlier. Those that filled p + 2 have ended where the wait of the next
//    iteration has passed. The wait counts groups, and no group is committed between the end of iteration r and the
//    wait, if the wait stands before all commits of the body. So at the end of iteration r it waits for the same
//    groups. It moves there, for loads that do not move too: they follow it all the same. Its tokens are those that
//    the loop carries; at the end of an iteration they are what the iteration yields for them.
//
// Barriers come later (see insert_barriers.cc). That analysis sees the wait, the load after it, and the copy of the
// next iteration. It puts a barrier between any two that touch the multibuffer. So a thread never reads what others
// have yet to see written, nor fills what others still read.
//
// After the last iteration the load reads a buffer once more, and before a loop without iterations it does too. What it
// reads is used by nobody; but it has to lie in the multibuffer. A slot does by induction: it begins as a constant
// below n, and each iteration it becomes the next one. The counter is replaced by its first value where it would leave
// its bounds.
#include "compiler/pipelining/multibuffers.h"

#include <limits>

#include "compiler/analysis/alias.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

bool IsConstant(Value value, int64_t expected) {
  std::optional<int64_t> constant = mlir::getConstantIntValue(value);
  return constant && *constant == expected;
}

bool IsWithin(Value value, int64_t size) {
  std::optional<int64_t> constant = mlir::getConstantIntValue(value);
  return constant && *constant >= 0 && *constant < size;
}

// The slot that `value` is the next one of; null where it is none.
Value SlotBefore(Value value, int64_t size) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!compare) return {};
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  bool wraps_if = predicate == Predicate::eq || predicate == Predicate::sge || predicate == Predicate::uge;
  bool goes_on_if = predicate == Predicate::ne || predicate == Predicate::slt || predicate == Predicate::ult;
  if (!wraps_if && !goes_on_if) return {};
  Value wrapped = wraps_if ? select.getTrueValue() : select.getFalseValue();
  Value advanced = wraps_if ? select.getFalseValue() : select.getTrueValue();
  auto sum = advanced.getDefiningOp<arith::AddIOp>();
  if (!sum || compare.getLhs() != advanced || !IsConstant(compare.getRhs(), size) || !IsConstant(wrapped, 0) ||
      !IsConstant(sum.getRhs(), 1))
    return {};
  return sum.getLhs();
}

bool IsSlot(Value value, ForOp loop, int64_t size) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  if (!argument || argument.getOwner() != loop.getBody() || argument == loop.getInductionVar()) return false;
  return IsWithin(loop.getTiedLoopInit(argument)->get(), size) &&
         IsNextSlot(loop.getTiedLoopYieldedValue(argument)->get(), argument, size);
}

bool IsCounter(Value value, ForOp loop, int64_t size) {
  if (value != loop.getInductionVar()) return false;
  auto lower = mlir::getConstantIntValue(loop.getLowerBound()), upper = mlir::getConstantIntValue(loop.getUpperBound()),
       step = mlir::getConstantIntValue(loop.getStep());
  // A step of at most `size` cannot overflow.
  return lower && upper && step && *lower >= 0 && *lower<*upper&& * upper <= size&& * step> 0 && *step <= size;
}

bool IsIndex(Value index, ForOp loop, int64_t size) {
  if (IsWithin(index, size) || IsSlot(index, loop, size) || IsCounter(index, loop, size)) return true;
  Value slot = SlotBefore(index, size);
  return slot && IsSlot(slot, loop, size);
}

bool IsView(Operation* op) {
  return llvm::isa_and_present<ttg::MemDescIndexOp, ttg::MemDescSubsliceOp, ttg::MemDescTransOp, ttg::MemDescReshapeOp>(
      op);
}

// Makes `value` anew for another iteration, in which the arguments of the body are as `argument_of` says.
Value Repeat(mlir::OpBuilder& b, Value value, ForOp loop, llvm::function_ref<Value(Value)> argument_of) {
  if (loop.isDefinedOutsideOfLoop(value)) return value;
  Operation* op = value.getDefiningOp();
  if (!op) return argument_of(value);
  mlir::IRMapping mapping;
  for (Value operand : op->getOperands()) mapping.map(operand, Repeat(b, operand, loop, argument_of));
  return b.clone(*op, mapping)->getResult(0);
}

// One walk over the loop, for FindRotatedWait.
class Body final {
 public:
  Body(ForOp loop, llvm::ArrayRef<Value> buffers)
      : loop_(loop), aliases_(loop->getParentOfType<mlir::FunctionOpInterface>()), buffers_(buffers) {}

  mlir::FailureOr<ttg::AsyncWaitOp> Check() {
    for (Value buffer : buffers_) {
      llvm::ArrayRef<Operation*> owners = aliases_.Of(buffer);
      if (owners.size() != 1 || !loop_.isDefinedOutsideOfLoop(owners[0]->getResult(0))) return mlir::failure();
    }
    auto result = loop_.getBody()->walk(
        [&](Operation* op) { return IsHarmless(op) ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt(); });
    // A copy that nothing in the loop waits for is not understood.
    if (result.wasInterrupted() || (fills_ && !wait_)) return mlir::failure();
    return wait_;
  }

 private:
  bool IsHarmless(Operation* op) {
    if (auto wait = llvm::dyn_cast<ttg::AsyncWaitOp>(op)) {
      bool moves = !wait_ && !commits_ && wait->getBlock() == loop_.getBody() &&
                   llvm::all_of(wait.getTokens(), [&](Value token) { return IsOfIterationsBefore(token); });
      wait_ = wait;
      return moves;
    }
    if (llvm::isa<ttg::AsyncCommitGroupOp>(op)) {
      commits_ = true;
      return op->getBlock() == loop_.getBody();
    }
    if (auto copy = llvm::dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(op)) {
      if (!MayTouch(copy.getResult())) return true;
      fills_ = true;
      return op->getBlock() == loop_.getBody() &&
             llvm::all_of(buffers_, [&](Value buffer) { return AreApart(copy.getResult(), buffer); });
    }
    if (IsView(op) || llvm::isa<ttg::LocalLoadOp, ttg::LocalGatherOp>(op)) return true;
    // Calls may do anything with groups of copies.
    if (llvm::isa<mlir::CallOpInterface>(op)) return false;
    bool known = llvm::isa<mlir::MemoryEffectOpInterface>(op) || mlir::isMemoryEffectFree(op) ||
                 op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>() ||
                 op->hasTrait<mlir::OpTrait::IsTerminator>();
    return known && llvm::none_of(op->getOperands(), [&](Value operand) { return MayTouch(operand); });
  }

  bool IsOfIterationsBefore(Value token) {
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(token);
    return loop_.isDefinedOutsideOfLoop(token) || (argument && argument.getOwner() == loop_.getBody());
  }

  // Whether `value` is a buffer that may be memory of the `buffers_`.
  bool MayTouch(Value value) {
    if (!llvm::isa<ttg::MemDescType>(value.getType())) return false;
    llvm::ArrayRef<Operation*> owners = aliases_.Of(value);
    return owners.empty() ||
           llvm::any_of(buffers_, [&](Value buffer) { return llvm::is_contained(owners, aliases_.Of(buffer)[0]); });
  }

  // Whether they are never the same memory in one iteration.
  bool AreApart(Value filled, Value read) {
    llvm::ArrayRef<Operation*> owners = aliases_.Of(filled);
    if (!owners.empty() && !llvm::is_contained(owners, aliases_.Of(read)[0])) return true;
    auto fills = filled.getDefiningOp<ttg::MemDescIndexOp>();
    Value source = read;
    while (source.getDefiningOp() && !source.getDefiningOp<ttg::MemDescIndexOp>() && IsView(source.getDefiningOp()))
      source = source.getDefiningOp()->getOperand(0);
    auto reads = source.getDefiningOp<ttg::MemDescIndexOp>();
    if (!fills || !reads || fills.getSrc() != reads.getSrc()) return false;
    int64_t size = fills.getSrc().getType().getShape()[0];
    return size >= 2 && (IsNextSlot(reads.getIndex(), fills.getIndex(), size) ||
                         IsNextSlot(fills.getIndex(), reads.getIndex(), size));
  }

  ForOp loop_;
  BufferAliases aliases_;
  llvm::ArrayRef<Value> buffers_;
  ttg::AsyncWaitOp wait_;
  bool commits_ = false, fills_ = false;
};

}  // namespace

bool IsNextSlot(Value value, Value slot, int64_t size) { return slot && SlotBefore(value, size) == slot; }

std::optional<MultibufferSlot> SlotOf(Value value, ForOp loop, int64_t size) {
  int64_t ahead = 0;
  for (; !IsSlot(value, loop, size); ++ahead) {
    value = SlotBefore(value, size);
    if (!value || ahead == size) return std::nullopt;
  }
  return MultibufferSlot{llvm::cast<mlir::BlockArgument>(value), ahead};
}

bool CanRotate(Value buffer, ForOp loop) {
  while (!loop.isDefinedOutsideOfLoop(buffer)) {
    Operation* op = buffer.getDefiningOp();
    if (!IsView(op) || op->getBlock() != loop.getBody()) return false;
    if (auto index = llvm::dyn_cast<ttg::MemDescIndexOp>(op))
      if (!IsIndex(index.getIndex(), loop, index.getSrc().getType().getShape()[0])) return false;
    buffer = op->getOperand(0);
  }
  return true;
}

Value InFirstIteration(mlir::OpBuilder& b, Value value, ForOp loop) {
  return Repeat(b, value, loop, [&](Value argument) {
    if (argument == loop.getInductionVar()) return loop.getLowerBound();
    return loop.getTiedLoopInit(llvm::cast<mlir::BlockArgument>(argument))->get();
  });
}

Value InNextIteration(mlir::OpBuilder& b, Value value, ForOp loop) {
  return Repeat(b, value, loop, [&](Value argument) {
    if (argument != loop.getInductionVar())
      return loop.getTiedLoopYieldedValue(llvm::cast<mlir::BlockArgument>(argument))->get();
    mlir::Location loc = loop.getLoc();
    Value next = arith::AddIOp::create(b, loc, argument, loop.getStep());
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, next, loop.getUpperBound());
    return arith::SelectOp::create(b, loc, exists, next, loop.getLowerBound()).getResult();
  });
}

mlir::FailureOr<ttg::AsyncWaitOp> FindRotatedWait(ForOp loop, llvm::ArrayRef<Value> buffers) {
  return Body(loop, buffers).Check();
}

}  // namespace tritond::compiler
