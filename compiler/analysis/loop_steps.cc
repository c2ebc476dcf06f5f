// SPDX-License-Identifier: Apache-2.0
// Each value is a class of numbers, base + rest + n * step of any integer n. What a loop carries begins as the class of
// what comes from outside, and is joined with that of the next iteration until it stays:
//
//   ^loop(%i = %begin, %i + 3):   {%begin, 0, 0}, then {%begin, 0, 0} and {%begin, 3, 0}: {%begin, 0, 3}
//   %i & 63                       multiples of the largest power of two that divides 3: {%masked, 0, 1}
//
// Numbers of 32 bits and more are trusted not to wrap around, as AxisInfoAnalysis does.
#include "compiler/analysis/loop_steps.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Block;
using mlir::Operation;
using mlir::Value;

constexpr int kMaxVisits = 512;
constexpr int64_t kMaxNumber = int64_t{1} << 31;  // products of two are no overflow

struct Class {
  Value base;  // null: zero
  int64_t rest = 0, step = 0;
  std::optional<int64_t> span = 0;
};

bool IsSame(const Class& a, const Class& b) {
  return a.base == b.base && a.rest == b.rest && a.step == b.step && a.span == b.span;
}

std::optional<int64_t> Plus(std::optional<int64_t> a, std::optional<int64_t> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

std::optional<int64_t> AtMost(std::optional<int64_t> span, int64_t limit) {
  return std::min(span.value_or(limit), limit);
}

// The largest power of two that divides a number.
int64_t PowerIn(int64_t number) { return number & -number; }

std::optional<int64_t> ConstantOf(Value value) {
  mlir::Attribute attribute;
  if (!mlir::matchPattern(value, mlir::m_Constant(&attribute))) return std::nullopt;
  if (auto dense = llvm::dyn_cast<mlir::SplatElementsAttr>(attribute))
    attribute = dense.getSplatValue<mlir::Attribute>();
  auto integer = llvm::dyn_cast<mlir::IntegerAttr>(attribute);
  if (!integer || integer.getValue().getSignificantBits() > 32) return std::nullopt;
  return integer.getValue().getSExtValue();
}

// What branches pass to an argument of their block.
llvm::SmallVector<Value> PassedTo(mlir::BlockArgument argument) {
  llvm::SmallVector<Value> passed;
  for (Block* from : argument.getOwner()->getPredecessors()) {
    auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(from->getTerminator());
    for (unsigned i = 0; branch && i < branch->getNumSuccessors(); ++i)
      if (branch->getSuccessor(i) == argument.getOwner())
        passed.push_back(branch.getSuccessorOperands(i)[argument.getArgNumber()]);
    if (!branch) passed.push_back(Value());
  }
  return passed;
}

class Classes final {
 public:
  Classes(Block* header, mlir::DominanceInfo& dominance) : header_(header), dominance_(dominance) {}

  // Nothing of what is not told, and, beneath its loop, of what has no number yet.
  std::optional<Class> Of(Value value) {
    if (++visits_ > kMaxVisits || !value) is_told_ = false;
    if (!is_told_) return std::nullopt;
    if (std::optional<int64_t> constant = ConstantOf(value)) return Class{{}, *constant};
    if (dominance_.properlyDominates(value.getParentBlock(), header_)) return Class{value};
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
    std::optional<Class> found = argument ? OfArgument(argument) : OfResult(value.getDefiningOp(), value);
    if (!found) return found;
    mlir::Type type = tt::ElementOf(value.getType());
    if (type.isIntOrFloat() && type.getIntOrFloatBitWidth() < 32)
      found->step = std::gcd(found->step, int64_t{1} << type.getIntOrFloatBitWidth());
    if (found->step > kMaxNumber || std::abs(found->rest) > kMaxNumber) return NotTold();
    if (found->span && *found->span > kMaxNumber) found->span = std::nullopt;
    // Of numbers that far apart, there is room for one.
    if (found->span && *found->span < found->step) return Class{value};
    return found;
  }

  bool is_told() const { return is_told_; }

 private:
  std::optional<Class> NotTold() {
    is_told_ = false;
    return std::nullopt;
  }

  std::optional<Class> Join(const std::optional<Class>& a, const std::optional<Class>& b) {
    if (!a || !b) return a ? a : b;
    if (a->base != b->base) return NotTold();
    const int64_t apart = std::abs(a->rest - b->rest);
    const int64_t step = std::gcd(std::gcd(a->step, b->step), apart);
    Class joined{a->base, step == 0 ? a->rest : (a->rest % step + step) % step, step, std::nullopt};
    if (a->step == 0 && b->step == 0) joined.span = apart;
    return joined;
  }

  std::optional<Class> OfArgument(mlir::BlockArgument argument) {
    if (argument.getOwner()->isEntryBlock()) return NotTold();
    const auto [known, is_new] = assumed_.try_emplace(argument, std::nullopt);
    if (!is_new) return known->second;
    const llvm::SmallVector<Value> passed = PassedTo(argument);
    std::optional<Class> begin, now;
    for (bool is_stable = false; !is_stable && is_told_;) {
      std::optional<Class> next;
      for (Value each : passed) next = Join(next, Of(each));
      if (!next) return NotTold();
      is_stable = now && IsSame(*next, *now);
      if (!now) begin = next;
      assumed_[argument] = now = next;
    }
    assumed_.erase(argument);
    if (!is_told_) return std::nullopt;
    if (const std::optional<int64_t> from = NumberOf(*begin); from && now->step != 0)
      now->span = SpanOfCounter(argument, *from);
    return now;
  }

  // From where it begins to the constant that ends the loop; of several comparisons that end something, the widest.
  static std::optional<int64_t> SpanOfCounter(Value counter, int64_t begin) {
    std::optional<int64_t> span;
    auto look_at = [&](Value compared) {
      for (Operation* user : compared.getUsers()) {
        auto compare = llvm::dyn_cast<arith::CmpIOp>(user);
        if (!compare || compare.getLhs() != compared) continue;
        const std::optional<int64_t> end = ConstantOf(compare.getRhs());
        if (!end) continue;
        if (compare.getPredicate() == arith::CmpIPredicate::slt || compare.getPredicate() == arith::CmpIPredicate::ult)
          span = std::max(span.value_or(0), *end - 1 - begin);
      }
    };
    look_at(counter);
    for (Operation* user : counter.getUsers())
      if (llvm::isa<arith::AddIOp>(user)) look_at(user->getResult(0));
    return span;
  }

  static bool IsPassedOn(Operation* op) {
    return llvm::isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, ttg::ConvertLayoutOp, arith::ExtSIOp,
                     arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(op);
  }

  std::optional<Class> OfResult(Operation* op, Value value) {
    if (!mlir::isMemoryEffectFree(op) || op->getNumRegions() > 0) return NotTold();
    llvm::SmallVector<Class> of;
    for (Value operand : op->getOperands()) {
      const std::optional<Class> each = Of(operand);
      if (!each) return std::nullopt;
      of.push_back(*each);
    }
    const bool is_still = llvm::all_of(of, [](const Class& each) { return each.step == 0; });
    const bool is_number = llvm::all_of(of, [](const Class& each) { return !each.base; }) && !of.empty();
    if (IsPassedOn(op)) return of[0];
    if (IsChoice(op)) return Choice(op, of);
    const bool is_sum = llvm::isa<arith::AddIOp, arith::SubIOp, tt::AddPtrOp>(op);
    if (is_still && !is_number && !is_sum) return Class{value};
    return llvm::TypeSwitch<Operation*, std::optional<Class>>(op)
        .Case<arith::AddIOp, tt::AddPtrOp>([&](auto) { return Sum(value, of[0], of[1]); })
        .Case([&](arith::SubIOp) { return Difference(value, of[0], of[1]); })
        .Case<arith::MulIOp, arith::ShLIOp>([&](auto) { return Product(op, of[0], of[1]); })
        .Case<arith::DivSIOp, arith::DivUIOp, arith::ShRSIOp, arith::ShRUIOp>(
            [&](auto) { return Quotient(op, of[0], of[1]); })
        .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return Rest(value, of[0], of[1]); })
        .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>([&](auto) { return Bits(op, of[0], of[1]); })
        .Default([&](Operation*) { return is_still ? Class{value} : AnyOf(value); });
  }

  static bool IsChoice(Operation* op) {
    return llvm::isa<arith::SelectOp, arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp>(op);
  }

  // What limits a number is near it somewhere.
  std::optional<Class> Choice(Operation* op, llvm::ArrayRef<Class> of) {
    const Class &a = of[of.size() - 2], &b = of.back();
    if (a.base == b.base) return Join(a, b);
    if (llvm::all_of(of, [](const Class& each) { return each.step == 0; })) return Class{op->getResult(0)};
    return llvm::isa<arith::SelectOp>(op) ? NotTold() : AnyOf(op->getResult(0));
  }

  static std::optional<Class> AnyOf(Value value) { return Class{value, 0, 1, std::nullopt}; }

  static std::optional<Class> Sum(Value value, const Class& a, const Class& b) {
    const bool has_both = a.base && b.base;
    return Class{has_both ? value
                 : a.base ? a.base
                          : b.base,
                 has_both ? 0 : a.rest + b.rest, std::gcd(a.step, b.step), Plus(a.span, b.span)};
  }

  static std::optional<Class> Difference(Value value, const Class& a, const Class& b) {
    const bool is_named = b.base && a.base != b.base;
    return Class{is_named ? value
                 : b.base ? Value()
                          : a.base,
                 is_named ? 0 : a.rest - b.rest, std::gcd(a.step, b.step), Plus(a.span, b.span)};
  }

  // The one number that a class has.
  static std::optional<int64_t> NumberOf(const Class& numbers) {
    return numbers.base || numbers.step != 0 ? std::nullopt : std::optional(numbers.rest);
  }

  std::optional<Class> Product(Operation* op, const Class& a, const Class& b) {
    std::optional<int64_t> by = NumberOf(b);
    const bool is_shift = llvm::isa<arith::ShLIOp>(op);
    if (is_shift && by) by = *by >= 0 && *by < 32 ? std::optional(int64_t{1} << *by) : std::nullopt;
    const Class& other = by ? a : b;
    if (!by && !is_shift) by = NumberOf(a);
    if (!by) return NotTold();
    const std::optional<int64_t> span = other.span ? std::optional(*other.span * std::abs(*by)) : std::nullopt;
    return Class{other.base ? op->getResult(0) : Value(), other.base ? 0 : other.rest * *by, other.step * std::abs(*by),
                 span};
  }

  std::optional<Class> Quotient(Operation* op, const Class& a, const Class& b) {
    const Value value = op->getResult(0);
    std::optional<int64_t> by = NumberOf(b);
    if (by && llvm::isa<arith::ShRSIOp, arith::ShRUIOp>(op)) by = *by >= 0 && *by < 32 ? int64_t{1} << *by : 0;
    if (by && *by <= 0) return NotTold();
    if (!by) return a.step == 1 ? AnyOf(value) : NotTold();
    const std::optional<int64_t> span = a.span ? std::optional(*a.span / *by + (a.step % *by != 0)) : std::nullopt;
    if (a.step % *by != 0) return Class{value, 0, 1, span};
    return Class{a.base ? value : Value(), a.base ? 0 : a.rest / *by, a.step / *by, span};
  }

  std::optional<Class> Rest(Value value, const Class& a, const Class& b) {
    const std::optional<int64_t> by = NumberOf(b);
    if (by && *by <= 0) return NotTold();
    if (!by) return a.step == 1 ? AnyOf(value) : NotTold();
    return Class{a.base ? value : Value(), a.base ? 0 : a.rest % *by, std::gcd(a.step, *by), AtMost(a.span, *by - 1)};
  }

  // Below the lowest bit that changes, bits stay as they are. Where a mask is zero, they are zero.
  static std::optional<Class> Bits(Operation* op, const Class& a, const Class& b) {
    int64_t step = PowerIn(a.step | b.step);
    const std::optional<int64_t> mask = NumberOf(b);
    std::optional<int64_t> span;
    if (llvm::isa<arith::AndIOp>(op) && mask && *mask > 0 && step != 0) {
      step = std::max(step, PowerIn(*mask));
      span = *mask;
    }
    if (a.base || b.base) return Class{op->getResult(0), 0, step, span};
    return Class{{},
                 llvm::isa<arith::AndIOp>(op)  ? a.rest & b.rest
                 : llvm::isa<arith::OrIOp>(op) ? a.rest | b.rest
                                               : a.rest ^ b.rest,
                 step,
                 step == 0 ? 0 : span};
  }

  Block* const header_;
  mlir::DominanceInfo& dominance_;
  llvm::DenseMap<Value, std::optional<Class>> assumed_;  // of what a loop carries, while its next numbers are found
  int visits_ = 0;
  bool is_told_ = true;
};

}  // namespace

std::optional<LoopSteps> StepsIn(Block* header, Value value, mlir::DominanceInfo& dominance) {
  Classes classes(header, dominance);
  const std::optional<Class> found = classes.Of(value);
  if (!found || !classes.is_told()) return std::nullopt;
  return LoopSteps{found->step, found->span};
}

void AddLoopsOf(Value value, mlir::DominanceInfo& dominance, llvm::SetVector<Block*>& headers) {
  llvm::SmallVector<Value> pending{value};
  llvm::SmallPtrSet<Value, 16> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!next || !seen.insert(next).second) continue;
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(next);
    if (!argument) {
      if (mlir::isMemoryEffectFree(next.getDefiningOp()))
        llvm::append_range(pending, next.getDefiningOp()->getOperands());
      continue;
    }
    Block* block = argument.getOwner();
    if (block->isEntryBlock()) continue;
    if (llvm::any_of(block->getPredecessors(), [&](Block* from) { return dominance.dominates(block, from); }))
      headers.insert(block);
    llvm::append_range(pending, PassedTo(argument));
  }
}

}  // namespace tritond::compiler
