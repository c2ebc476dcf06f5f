// SPDX-License-Identifier: Apache-2.0
// Backwards from a value to what it is made of. Conditions give facts a >= b + c of numbers a and b and a constant c:
//
//   while (first <= tile && tile < first + n) { … }      inside: tile >= first, and first + n >= tile + 1
//
// So tile - first is not negative there. Of the second fact a sum is the larger side: n >= (tile - first) + 1, which
// with the first one is n >= 1. A number that can be seen at some place does not change until that place is left. So
// the conditions there hold for all that it is made of.
//
// A counted loop is entered where its end is above its start, which says something of what the end is made of:
//
//   scf.for %i = 0 to (n + 63) / 64 { … }      inside: (n + 63) / 64 >= 1, so n + 63 >= 64, so n >= 1
//
// What a loop carries is at least b if it starts there, and if an iteration that it enters so passes on no less.
#include "compiler/analysis/lower_bounds.h"

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

// larger >= smaller + distance. Without a smaller number: larger >= distance.
struct Fact {
  Value larger, smaller;
  int64_t distance;
};
using Facts = llvm::SmallVector<Fact>;

std::optional<int64_t> AnyConstantOf(Value value) {
  llvm::APInt constant;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&constant)) || constant.getBitWidth() > 64) return std::nullopt;
  return constant.getSExtValue();
}

void AddCompare(arith::CmpIOp compare, bool holds, Facts& facts) {
  using Predicate = arith::CmpIPredicate;
  Value x = compare.getLhs(), y = compare.getRhs();
  switch (holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate())) {
    case Predicate::sge:
      facts.push_back({x, y, 0});
      break;
    case Predicate::sgt:
      facts.push_back({x, y, 1});
      break;
    case Predicate::sle:
      facts.push_back({y, x, 0});
      break;
    case Predicate::slt:
      facts.push_back({y, x, 1});
      break;
    case Predicate::eq:
      facts.push_back({x, y, 0});
      facts.push_back({y, x, 0});
      break;
    default:
      break;
  }
}

// What is known where `condition` is `holds`.
void AddCondition(Value condition, bool holds, Facts& facts) {
  Operation* op = condition.getDefiningOp();
  if (auto compare = llvm::dyn_cast_if_present<arith::CmpIOp>(op)) return AddCompare(compare, holds, facts);
  if (holds ? !llvm::isa_and_present<arith::AndIOp>(op) : !llvm::isa_and_present<arith::OrIOp>(op)) return;
  for (Value part : op->getOperands()) AddCondition(part, holds, facts);
}

// The second region of a loop has other names for what its condition compares.
void AddLoopCondition(scf::WhileOp loop, Facts& facts) {
  const size_t first = facts.size();
  scf::ConditionOp condition = loop.getConditionOp();
  AddCondition(condition.getCondition(), true, facts);
  for (Fact& fact : llvm::MutableArrayRef<Fact>(facts).drop_front(first)) {
    for (auto [passed, argument] : llvm::zip_equal(condition.getArgs(), loop.getAfterArguments())) {
      if (fact.larger == passed) fact.larger = argument;
      if (fact.smaller == passed) fact.smaller = argument;
    }
  }
}

constexpr int64_t kMostNumber = int64_t{1} << 24;  // bounds stay far from the ends of a type
constexpr int64_t kLeastHash = int64_t{1} << 30;   // of a factor of 32 bits

std::optional<int64_t> ConstantOf(Value value) {
  std::optional<int64_t> constant = AnyConstantOf(value);
  return constant && *constant >= -kMostNumber && *constant <= kMostNumber ? constant : std::nullopt;
}

// Whether `value` has integers of so many bits that they do not wrap around.
bool IsWide(Value value) {
  mlir::Type element = mlir::getElementTypeOrSelf(value.getType());
  return element.isIndex() || (element.isInteger() && element.getIntOrFloatBitWidth() >= 32);
}

// What `value` is made of, and the least that it is, if `value` is at least `bound`.
Fact OneStepBack(Value value, int64_t bound) {
  Operation* op = value.getDefiningOp();
  if (auto cast = llvm::dyn_cast_if_present<arith::ExtSIOp>(op)) return {cast.getIn(), {}, bound};
  if (auto cast = llvm::dyn_cast_if_present<arith::IndexCastOp>(op)) return {cast.getIn(), {}, bound};
  if (!llvm::isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp>(op)) return {};
  Value x = op->getOperand(0);
  std::optional<int64_t> y = ConstantOf(op->getOperand(1));
  if (llvm::isa<arith::DivSIOp>(op)) {
    return bound >= 1 && y.value_or(0) >= 1 ? Fact{x, {}, bound * *y} : Fact{};
  }
  if (!y) return {};
  if (llvm::isa<arith::AddIOp>(op)) return {x, {}, bound - *y};
  if (llvm::isa<arith::SubIOp>(op)) return {x, {}, bound + *y};
  return bound >= 1 && *y >= 1 ? Fact{x, {}, (bound + *y - 1) / *y} : Fact{};
}

// A loop whose body runs has an end above its start.
void AddLoopBounds(scf::ForOp loop, Facts& facts) {
  if (loop.getUnsignedCmp() || ConstantOf(loop.getStep()).value_or(0) <= 0) return;
  facts.push_back({loop.getUpperBound(), loop.getInductionVar(), 1});
  facts.push_back({loop.getUpperBound(), loop.getLowerBound(), 1});
  std::optional<int64_t> start = ConstantOf(loop.getLowerBound());
  if (!start) return;
  Fact fact{loop.getUpperBound(), {}, *start + 1};
  while (fact.larger && IsWide(fact.larger) && std::abs(fact.distance) <= kMostNumber) {
    facts.push_back(fact);
    fact = OneStepBack(fact.larger, fact.distance);
  }
}

// Of the function around `at`.
llvm::SmallVector<Operation*> AssumptionsAround(Operation* at) {
  llvm::SmallVector<Operation*> found;
  auto function = at->getParentOfType<mlir::FunctionOpInterface>();
  if (!function) return found;
  function->walk([&](Operation* op) {
    if (op->getName().getStringRef() == "llvm.intr.assume" && op->getNumOperands() > 0) found.push_back(op);
  });
  return found;
}

Facts FactsAt(Operation* at, llvm::ArrayRef<Operation*> assumptions) {
  Facts facts;
  for (Operation* op : assumptions) {
    Operation* beside = op->getBlock()->findAncestorOpInBlock(*at);
    const bool runs_always = llvm::isa<mlir::FunctionOpInterface>(op->getParentOp()) && op->getBlock()->isEntryBlock();
    if (runs_always || (beside && op->isBeforeInBlock(beside))) AddCondition(op->getOperand(0), true, facts);
  }
  for (Operation* op = at; Operation* parent = op->getParentOp(); op = parent) {
    mlir::Region* region = op->getParentRegion();
    if (auto branch = llvm::dyn_cast<scf::IfOp>(parent))
      AddCondition(branch.getCondition(), region == &branch.getThenRegion(), facts);
    if (auto loop = llvm::dyn_cast<scf::WhileOp>(parent); loop && region == &loop.getAfter())
      AddLoopCondition(loop, facts);
    if (auto loop = llvm::dyn_cast<scf::ForOp>(parent)) AddLoopBounds(loop, facts);
  }
  return facts;
}

class Prover final {
 public:
  Prover(const AxisInfoAnalysis& axes, llvm::ArrayRef<Operation*> assumptions)
      : axes_(axes), assumptions_(assumptions) {}

  bool Holds(Value value, int64_t bound, const Facts& facts) {
    if (bound <= 0 && axes_.Get(value).non_negative) return true;
    if (auto found = supposed_.find(value); found != supposed_.end() && found->second >= bound) return true;
    if (std::abs(bound) > kMostNumber || depth_ == kMostDepth || ++steps_ > kMostSteps) return false;
    ++depth_;
    const bool holds = HoldsByMaking(value, bound, facts) || HoldsByFacts(value, bound, facts);
    --depth_;
    return holds;
  }

 private:
  static constexpr int kMostSteps = 1 << 12, kMostDepth = 48;

  static bool IsOrdered(Value larger, Value smaller, int64_t distance, const Facts& facts) {
    if (larger == smaller) return distance <= 0;
    return llvm::any_of(facts, [&](const Fact& fact) {
      return fact.larger == larger && fact.smaller == smaller && fact.distance >= distance;
    });
  }

  bool HoldsByFacts(Value value, int64_t bound, const Facts& facts) {
    for (const Fact& fact : facts) {
      if (fact.larger == value) {
        std::optional<int64_t> smaller = fact.smaller ? ConstantOf(fact.smaller) : 0;
        if (smaller ? *smaller >= bound - fact.distance : Holds(fact.smaller, bound - fact.distance, facts))
          return true;
      }
      // x + value >= y + distance, and y >= x.
      auto sum = fact.larger.getDefiningOp<arith::AddIOp>();
      if (!sum || !fact.smaller || fact.distance < bound) continue;
      if (sum.getRhs() == value && IsOrdered(fact.smaller, sum.getLhs(), 0, facts)) return true;
      if (sum.getLhs() == value && IsOrdered(fact.smaller, sum.getRhs(), 0, facts)) return true;
    }
    return false;
  }

  bool Sum(Value x, Value y, int64_t bound, const Facts& facts) {
    if (std::optional<int64_t> constant = ConstantOf(y)) return Holds(x, bound - *constant, facts);
    return (Holds(x, 0, facts) && Holds(y, bound, facts)) ||
           (bound > 0 && Holds(x, bound, facts) && Holds(y, 0, facts));
  }

  bool Difference(Value x, Value y, int64_t bound, const Facts& facts) {
    if (std::optional<int64_t> constant = ConstantOf(y)) return Holds(x, bound + *constant, facts);
    return IsOrdered(x, y, bound, facts);
  }

  // Whether a loop multiplies `factor` again and again, or it is as large as that of a hash.
  bool WrapsAround(Value factor) const {
    const bool is_large = AnyConstantOf(factor).value_or(0) >= kLeastHash;
    return supposed_.contains(factor) || (is_large && mlir::getElementTypeOrSelf(factor.getType()).isInteger(32));
  }

  bool Product(Value x, Value y, int64_t bound, const Facts& facts) {
    if (WrapsAround(x) || WrapsAround(y)) return false;
    if (bound <= 0) return Holds(x, 0, facts) && Holds(y, 0, facts);
    return (Holds(x, bound, facts) && Holds(y, 1, facts)) ||
           (bound > 1 && Holds(x, 1, facts) && Holds(y, bound, facts));
  }

  // It is rounded towards zero. Divisors that are not known are positive.
  bool Quotient(Value x, Value y, int64_t bound, const Facts& facts) {
    if (AnyConstantOf(y).value_or(1) <= 0) return false;
    std::optional<int64_t> divisor = ConstantOf(y);
    if (!divisor) return bound <= 0 && Holds(x, 0, facts);
    return Holds(x, bound > 0 ? bound * *divisor : (bound - 1) * *divisor + 1, facts);
  }

  bool HoldsByMaking(Value value, int64_t bound, const Facts& facts) {
    Operation* op = value.getDefiningOp();
    auto both = [&](auto pair) { return Holds(pair.getLhs(), bound, facts) && Holds(pair.getRhs(), bound, facts); };
    auto source = [&](auto cast) { return Holds(cast.getSrc(), bound, facts); };
    if (!IsWide(value)) return false;
    if (!op) return IsCounter(value, bound, facts) || IsCarried(value, bound, facts);
    return llvm::TypeSwitch<Operation*, bool>(op)
        .Case([&](arith::ConstantOp) { return AnyConstantOf(value).value_or(bound - 1) >= bound; })
        .Case([&](tt::MakeRangeOp range) { return static_cast<int32_t>(range.getStart()) >= bound; })
        .Case<tt::GetProgramIdOp, tt::BlockInClusterOp>([&](auto) { return bound <= 0; })
        .Case([&](tt::GetNumProgramsOp) { return bound <= 1; })
        .Case([&](arith::AddIOp sum) { return Sum(sum.getLhs(), sum.getRhs(), bound, facts); })
        .Case([&](arith::SubIOp difference) {
          return Difference(difference.getLhs(), difference.getRhs(), bound, facts);
        })
        .Case([&](arith::MulIOp product) { return Product(product.getLhs(), product.getRhs(), bound, facts); })
        .Case([&](arith::DivSIOp quotient) { return Quotient(quotient.getLhs(), quotient.getRhs(), bound, facts); })
        .Case([&](arith::RemSIOp rest) { return bound <= 0 && Holds(rest.getLhs(), 0, facts); })
        .Case<arith::MinSIOp>(both)
        .Case([&](arith::MaxSIOp most) {
          return Holds(most.getLhs(), bound, facts) || Holds(most.getRhs(), bound, facts);
        })
        .Case([&](arith::SelectOp select) {
          return Holds(select.getTrueValue(), bound, facts) && Holds(select.getFalseValue(), bound, facts);
        })
        .Case([&](arith::ExtSIOp cast) { return IsWide(cast.getIn()) && Holds(cast.getIn(), bound, facts); })
        .Case([&](arith::IndexCastOp cast) { return IsWide(cast.getIn()) && Holds(cast.getIn(), bound, facts); })
        .Case<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp>(source)
        .Case([&](scf::IfOp branch) { return HoldsInBranches(branch, value, bound, facts); })
        .Default([](Operation*) { return false; });
  }

  // The counter of a loop begins at its lower bound and grows.
  bool IsCounter(Value value, int64_t bound, const Facts& facts) {
    auto loop = llvm::dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
    if (!loop || loop.getInductionVar() != value) return false;
    return ConstantOf(loop.getStep()).value_or(0) > 0 && Holds(loop.getLowerBound(), bound, facts);
  }

  // What a loop carries. An iteration before this one need not have met the conditions of this place.
  bool IsCarried(Value value, int64_t bound, const Facts& facts) {
    auto argument = llvm::cast<mlir::BlockArgument>(value);
    auto loop = llvm::dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar() || supposed_.contains(value)) return false;
    if (!Holds(loop.getTiedLoopInit(argument)->get(), bound, facts)) return false;
    supposed_[value] = bound;
    Operation* yield = loop.getBody()->getTerminator();
    const bool holds = Holds(loop.getTiedLoopYieldedValue(argument)->get(), bound, FactsAt(yield, assumptions_));
    supposed_.erase(value);
    return holds;
  }

  bool HoldsInBranches(scf::IfOp branch, Value result, int64_t bound, const Facts& facts) {
    const unsigned number = llvm::cast<mlir::OpResult>(result).getResultNumber();
    for (mlir::Region* region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
      Operation* yield = region->front().getTerminator();
      Facts inside = FactsAt(yield, assumptions_);
      llvm::append_range(inside, facts);
      if (!Holds(yield->getOperand(number), bound, inside)) return false;
    }
    return true;
  }

  const AxisInfoAnalysis& axes_;
  const llvm::ArrayRef<Operation*> assumptions_;
  llvm::DenseMap<Value, int64_t> supposed_;  // of what loops carry, while the ends of iterations are looked at
  int steps_ = 0, depth_ = 0;
};

}  // namespace

bool IsAtLeast(Value value, int64_t bound, Operation* at, const AxisInfoAnalysis& axes) {
  const llvm::SmallVector<Operation*> assumptions = AssumptionsAround(at);
  return Prover(axes, assumptions).Holds(value, bound, FactsAt(at, assumptions));
}

}  // namespace tritond::compiler
