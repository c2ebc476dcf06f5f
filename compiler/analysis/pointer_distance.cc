// SPDX-License-Identifier: Apache-2.0
// The distance of two sums is a constant and a sum of terms, f * n. It is never zero, if for some modulus m
//
//   - terms whose factor m divides are left out: whatever their numbers, they move the distance by multiples of m;
//   - the others reach from `low` to `high`, and there is no multiple of m between constant + low and constant + high.
//
// The moduli that matter are greatest common divisors of the largest factors.
//
// Where the pointers differ by a scalar, masks tell more. Columns below %n, and others that begin at %n, never meet:
// %n + (0 … %n - 1) - (0 … %n - 1) is more than zero.
#include "compiler/analysis/pointer_distance.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "compiler/analysis/element_ranges.h"
#include "compiler/analysis/pointer_motion.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/SaveAndRestore.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Block;
using mlir::Operation;
using mlir::Value;
using Term = PointerSum::Term;

constexpr int kMaxParts = 64;    // of a sum
constexpr int kMaxSteps = 1024;  // of a loop
// Neither sums nor products of what is in use reach the ends of int64_t.
constexpr int64_t kMaxNumber = int64_t{1} << 40;

bool IsReachedAgain(Block* block) {
  for (Block* successor : block->getSuccessors())
    for (Block* reached : llvm::depth_first(successor))
      if (reached == block) return true;
  return false;
}

std::optional<int64_t> ConstantOf(Value value) {
  mlir::Attribute attribute;
  if (!mlir::matchPattern(value, mlir::m_Constant(&attribute))) {
    auto splat = value.getDefiningOp<tt::SplatOp>();
    return splat ? ConstantOf(splat.getSrc()) : std::nullopt;
  }
  if (auto dense = llvm::dyn_cast<mlir::SplatElementsAttr>(attribute))
    attribute = dense.getSplatValue<mlir::Attribute>();
  auto integer = llvm::dyn_cast<mlir::IntegerAttr>(attribute);
  if (!integer || integer.getValue().getSignificantBits() > 64) return std::nullopt;
  return integer.getValue().getSExtValue();
}

// The sum of the constants that have been added to `from`, one after the other, to get `to`.
std::optional<int64_t> DistanceFrom(Value from, Value to) {
  int64_t distance = 0;
  for (int parts = 0; to != from; ++parts) {
    Operation* sum = to.getDefiningOp();
    if (parts == kMaxParts || !llvm::isa_and_present<mlir::arith::AddIOp, tt::AddPtrOp>(sum)) return std::nullopt;
    const std::optional<int64_t> constant = ConstantOf(sum->getOperand(1));
    if (!constant || std::abs(*constant) > kMaxNumber) return std::nullopt;
    distance += *constant;
    to = sum->getOperand(0);
  }
  return distance;
}

// What a loop carries, and adds a constant to in each iteration.
struct Progress {
  Value begin;  // null: there are several
  int64_t step = 0;
};

std::optional<Progress> ProgressOf(Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  if (!argument || argument.getOwner()->isEntryBlock()) return std::nullopt;
  std::optional<int64_t> step;
  llvm::SmallPtrSet<Value, 2> begins;
  for (Block* from : argument.getOwner()->getPredecessors()) {
    auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(from->getTerminator());
    if (!branch) return std::nullopt;
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
      if (branch->getSuccessor(i) != argument.getOwner()) continue;
      Value next = branch.getSuccessorOperands(i)[argument.getArgNumber()];
      const std::optional<int64_t> own = next ? DistanceFrom(argument, next) : std::nullopt;
      if (!own) begins.insert(next);
      if (own && step && *step != *own) return std::nullopt;
      if (own) step = own;
    }
  }
  if (!step) return std::nullopt;
  return Progress{begins.size() == 1 ? *begins.begin() : Value(), *step};
}

// An integer tensor whose elements are less than a constant, or than a scalar.
struct Bound {
  Value of;
  std::optional<int64_t> constant;
  Value scalar;
};

Value WithoutExtensions(Value value) {
  while (auto extended = value.getDefiningOp<mlir::arith::ExtSIOp>()) value = extended.getIn();
  return value;
}

// Of which number of a row, or of a column, the elements are. The layout of a row tells at which axis it is expanded.
Value WithoutShape(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (!llvm::isa<mlir::arith::ExtSIOp, tt::ExpandDimsOp, tt::BroadcastOp>(op)) break;
    value = op->getOperand(0);
  }
  return value;
}

// What `mask` says where it holds. Neither transposed nor converted, so that it says so of the elements at their
// places: the layout of a tensor tells at which axis it may be expanded.
void AddBounds(Value mask, llvm::SmallVectorImpl<Bound>& bounds) {
  Operation* op = mask ? mask.getDefiningOp() : nullptr;
  if (!op) return;
  if (llvm::isa<mlir::arith::AndIOp>(op))
    for (Value operand : op->getOperands()) AddBounds(operand, bounds);
  if (llvm::isa<tt::BroadcastOp, tt::ExpandDimsOp>(op)) AddBounds(op->getOperand(0), bounds);
  auto compare = llvm::dyn_cast<mlir::arith::CmpIOp>(op);
  if (!compare) return;
  using Predicate = mlir::arith::CmpIPredicate;
  const bool is_less = compare.getPredicate() == Predicate::slt, is_more = compare.getPredicate() == Predicate::sgt;
  if (!is_less && !is_more) return;
  const Value of = is_less ? compare.getLhs() : compare.getRhs(), limit = is_less ? compare.getRhs() : compare.getLhs();
  Bound bound{WithoutShape(of), ConstantOf(limit), {}};
  if (auto splat = WithoutExtensions(limit).getDefiningOp<tt::SplatOp>(); splat && !bound.constant)
    bound.scalar = WithoutExtensions(splat.getSrc());
  bounds.push_back(bound);
}

class SumBuilder final {
 public:
  // Bounds hold for those elements that count.
  explicit SumBuilder(llvm::ArrayRef<Bound> bounds) : bounds_(bounds) {}

  // False where the sum is too long, or a number too large.
  bool Add(Value value, int64_t factor) {
    if (++parts_ > kMaxParts || std::abs(factor) > kMaxNumber) return false;
    if (factor == 0) return true;
    if (std::optional<int64_t> constant = ConstantOf(value)) return AddConstant(*constant, factor);
    Operation* op = value.getDefiningOp();
    mlir::Type element = tt::ElementOf(value.getType());
    if (llvm::isa<tt::PtrType>(element)) {
      const std::optional<Progress> carried = ProgressOf(value);
      if (carried && carried->begin && std::abs(carried->step) <= kMaxNumber / std::abs(factor)) {
        AddAny(value, carried->step, factor);
        return Add(carried->begin, factor);
      }
    }
    if (!op || (element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 32)) return AddLeaf(value, factor);
    return llvm::TypeSwitch<Operation*, bool>(op)
        .Case<tt::AddPtrOp, mlir::arith::AddIOp>(
            [&](auto) { return Add(op->getOperand(0), factor) && Add(op->getOperand(1), factor); })
        .Case([&](mlir::arith::SubIOp sub) { return Add(sub.getLhs(), factor) && Add(sub.getRhs(), -factor); })
        .Case([&](mlir::arith::MulIOp product) { return AddProduct(product, factor); })
        .Case<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, mlir::arith::ExtSIOp>(
            [&](auto) { return Add(op->getOperand(0), factor); })
        .Case<tt::TransOp, tt::ReshapeOp, ttg::ConvertLayoutOp>([&](auto) {
          // From here on the elements have other places than those of the mask.
          llvm::SaveAndRestore none(bounds_, llvm::ArrayRef<Bound>());
          return Add(op->getOperand(0), factor);
        })
        .Case([&](tt::MakeRangeOp range) { return AddRange(range, factor); })
        .Default([&](Operation*) { return AddLeaf(value, factor); });
  }

  PointerSum Take(mlir::Type pointee) {
    sum_.pointee = pointee;
    AddMoves();
    llvm::sort(sum_.fixed, [](const auto& a, const auto& b) {
      return std::pair(a.first.getAsOpaquePointer(), a.second) < std::pair(b.first.getAsOpaquePointer(), b.second);
    });
    return std::move(sum_);
  }

 private:
  bool AddConstant(int64_t constant, int64_t factor) {
    if (std::abs(constant) > kMaxNumber / std::abs(factor)) return false;
    sum_.constant += constant * factor;
    return true;
  }

  bool AddRange(tt::MakeRangeOp range, int64_t factor) {
    const int64_t start = range.getStart(), end = range.getEnd();
    Term term{factor, end - start - 1};
    for (const Bound& bound : bounds_) {
      if (bound.of != range.getResult()) continue;
      if (bound.constant) term.last = std::clamp<int64_t>(*bound.constant - start - 1, 0, *term.last);
      if (bound.scalar && start == 0) term.below = bound.scalar;
    }
    sum_.terms.push_back(term);
    return AddConstant(start, factor);
  }

  bool AddRange(const ElementRange& range, int64_t factor) {
    sum_.terms.push_back({factor, range.most - range.least});
    return AddConstant(range.least, factor);
  }

  bool AddProduct(mlir::arith::MulIOp product, int64_t factor) {
    std::optional<int64_t> by = ConstantOf(product.getRhs()), left = ConstantOf(product.getLhs());
    Value other = by ? product.getLhs() : product.getRhs();
    if (!by) by = left;
    if (!by) return AddLeaf(product, factor);
    return std::abs(*by) <= kMaxNumber / std::abs(factor) && Add(other, factor * *by);
  }

  // A pointer that varies may point anywhere.
  bool AddLeaf(Value value, int64_t factor) {
    const bool is_tensor = llvm::isa<mlir::RankedTensorType>(value.getType());
    if (!is_tensor && IsFixed(value)) {
      sum_.fixed.push_back({value, factor});
      return true;
    }
    if (is_tensor && IsFixed(value))
      if (const std::optional<ElementRange> range = ElementRanges().Of(value)) return AddRange(*range, factor);
    AddAny(value, 1, factor);
    return true;
  }

  // Any multiple of `step`, of which `value` is one.
  void AddAny(Value value, int64_t step, int64_t factor) {
    if (step != 0) sum_.terms.push_back({std::abs(step * factor), std::nullopt});
    varying_[value] += factor;
  }

  // How the loops move the sum that carry what varies.
  void AddMoves() {
    if (varying_.empty()) return;
    mlir::DominanceInfo dominance;
    llvm::SetVector<Block*> headers;
    for (const auto& [value, factor] : varying_) AddLoopsOf(value, dominance, headers);
    for (Block* header : headers) {
      std::optional<LoopSteps> all = LoopSteps();
      for (const auto& [value, factor] : varying_) {
        std::optional<LoopSteps> own = StepsIn(header, value, dominance);
        // The order may change so that all go on to other places: ComesBack asks for that.
        if (own && own->step != 0 && MovesUnevenly(value)) own = std::nullopt;
        const std::optional<int64_t> step = own ? llvm::checkedMul(own->step, std::abs(factor)) : std::nullopt;
        all = step && all ? std::optional(LoopSteps{std::gcd(all->step, *step), all->span}) : std::nullopt;
        if (!all) break;
        const std::optional<int64_t> span = own->span ? llvm::checkedMul(*own->span, std::abs(factor)) : std::nullopt;
        all->span = all->span && span ? llvm::checkedAdd(*all->span, *span) : std::nullopt;
      }
      if (all && all->step != 0) sum_.moves.push_back(*all);
    }
  }

  llvm::ArrayRef<Bound> bounds_;
  PointerSum sum_;
  llvm::MapVector<Value, int64_t> varying_;  // what is not fixed, and its factor
  int parts_ = 0;
};

// Whether no multiple of `modulus` lies from `low` to `high`; of modulus 0, that is 0.
bool HasNoMultiple(int64_t low, int64_t high, int64_t modulus) {
  if (low <= 0 && high >= 0) return false;
  if (modulus == 0) return true;
  const int64_t nearest = low > 0 ? low : -high, farthest = low > 0 ? high : -low;
  return nearest / modulus == farthest / modulus && nearest % modulus != 0;
}

// The scalar by which two sums differ besides constants and terms, and how often it is in `a` more than in `b`.
std::optional<std::pair<Value, int64_t>> DifferenceOf(const PointerSum& a, const PointerSum& b) {
  llvm::SmallMapVector<Value, int64_t, 4> factors;
  for (const auto& [value, factor] : a.fixed) factors[value] += factor;
  for (const auto& [value, factor] : b.fixed) factors[value] -= factor;
  factors.remove_if([](const auto& each) { return each.second == 0; });
  if (factors.size() != 1) return std::nullopt;
  return *factors.begin();
}

// Whether `scalar`, `times` of which `a` has more than `b`, keeps all of `a` above all of `b`. Terms of numbers below
// it take it away at most `less` times. It is at least one where there are such numbers.
bool KeepsAbove(Value scalar, int64_t times, const PointerSum& a, const PointerSum& b) {
  int64_t rest = a.constant - b.constant, less = 0;
  bool is_positive = false;
  auto add = [&](const Term& term, int64_t factor) {
    is_positive |= term.below == scalar;
    if (!term.last) return false;
    if (factor >= 0) return true;
    if (term.below == scalar)
      less -= factor;
    else
      rest += factor * *term.last;
    return true;
  };
  for (const Term& term : a.terms)
    if (!add(term, term.factor)) return false;
  for (const Term& term : b.terms)
    if (!add(term, -term.factor)) return false;
  return is_positive && less <= times && times + rest > 0;
}

}  // namespace

bool IsFixed(Value value) {
  for (Block* block = value.getParentBlock(); block; block = block->getParentOp()->getBlock()) {
    if (IsReachedAgain(block)) return false;
    Operation* parent = block->getParentOp();
    if (!parent || llvm::isa<mlir::LoopLikeOpInterface>(parent)) return false;
    if (llvm::isa<tt::FuncOp>(parent)) return true;
  }
  return false;
}

std::optional<PointerSum> SumOfPointer(Value pointer, Value mask) {
  auto type = llvm::dyn_cast<tt::PtrType>(tt::ElementOf(pointer.getType()));
  llvm::SmallVector<Bound> bounds;
  AddBounds(mask, bounds);
  SumBuilder builder(bounds);
  if (!type || !builder.Add(pointer, 1)) return std::nullopt;
  return builder.Take(type.getPointeeType());
}

bool AreApart(const PointerSum& a, const PointerSum& b) {
  if (a.pointee != b.pointee) return false;
  if (a.fixed != b.fixed) {
    const auto difference = DifferenceOf(a, b);
    if (!difference) return false;
    const auto [scalar, times] = *difference;
    return times > 0 ? KeepsAbove(scalar, times, a, b) : KeepsAbove(scalar, -times, b, a);
  }
  // Of the distance from b to a.
  llvm::SmallVector<Term> terms(a.terms);
  for (const Term& term : b.terms) terms.push_back({-term.factor, term.last});
  llvm::sort(terms, [](const Term& x, const Term& y) { return std::abs(x.factor) > std::abs(y.factor); });
  int64_t low = a.constant - b.constant, high = low, modulus = 0;
  for (const Term& term : terms) {
    if (!term.last) continue;
    const int64_t reach = term.factor * *term.last;
    (reach < 0 ? low : high) += reach;
  }
  size_t bounded = llvm::count_if(terms, [](const Term& term) { return term.last.has_value(); });
  size_t unbounded = terms.size() - bounded;
  // From the largest factor on, one term after the other becomes part of the modulus.
  for (size_t i = 0;; ++i) {
    if (unbounded == 0 && HasNoMultiple(low, high, modulus)) return true;
    if (i == terms.size()) return false;
    modulus = std::gcd(modulus, terms[i].factor);
    if (!terms[i].last) {
      --unbounded;
      continue;
    }
    const int64_t reach = terms[i].factor * *terms[i].last;
    (reach < 0 ? low : high) -= reach;
  }
}

bool MeetsItself(const PointerSum& sum) {
  PointerSum here;
  llvm::copy_if(sum.terms, std::back_inserter(here.terms), [](const Term& term) { return term.last.has_value(); });
  int64_t reach = 0;
  for (const Term& term : here.terms) reach += std::abs(term.factor * *term.last);
  return llvm::any_of(sum.moves, [&](const LoopSteps& move) {
    const int64_t steps = std::min(std::max<int64_t>(move.span.value_or(0) / move.step, 1), reach / move.step);
    PointerSum there = here;
    for (int64_t n = 1; n <= std::min<int64_t>(steps, kMaxSteps); ++n) {
      there.constant = n * move.step;
      if (!AreApart(here, there)) return true;
    }
    return false;
  });
}

static bool IsScanned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation* user) {
    return llvm::isa<tt::ScanOp>(user) || (llvm::isa<ttg::ConvertLayoutOp>(user) && IsScanned(user->getResult(0)));
  });
}

bool IsGathered(Value pointer) {
  llvm::SmallVector<Value> pending{pointer};
  llvm::SmallPtrSet<Value, 16> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    // A number moves all elements alike. Truth values and scans give places that nothing else has. What is scanned is
    // taken from its sum, for the place of the first.
    if (!type || type.getNumElements() == 1 || type.getElementType().isInteger(1)) continue;
    if (!seen.insert(value).second || IsFixed(value) || IsScanned(value)) continue;
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      for (Block* from : argument.getOwner()->getPredecessors()) {
        auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(from->getTerminator());
        for (unsigned i = 0; branch && i < branch->getNumSuccessors(); ++i)
          if (branch->getSuccessor(i) == argument.getOwner())
            if (Value passed = branch.getSuccessorOperands(i)[argument.getArgNumber()]) pending.push_back(passed);
      }
      continue;
    }
    Operation* op = value.getDefiningOp();
    if (llvm::isa<tt::ScanOp>(op)) continue;
    if (!mlir::isMemoryEffectFree(op)) return true;
    llvm::append_range(pending, op->getOperands());
  }
  return false;
}

}  // namespace tritond::compiler
