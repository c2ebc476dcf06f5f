// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/element_ranges.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/tt_dialect.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using Range = std::optional<ElementRange>;
using Predicate = arith::CmpIPredicate;

// Sums and products of ends are computed in 64 bits.
constexpr int64_t kMostEnd = int64_t{1} << 31;

std::optional<int64_t> Constant(Value value) {
  llvm::APInt constant;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&constant)) || constant.getSignificantBits() > 64)
    return std::nullopt;
  return constant.getSExtValue();
}

// What of `range` fits into the type of `value`; nothing where some does not.
Range Fitting(Value value, ElementRange range) {
  auto type = llvm::dyn_cast<mlir::IntegerType>(mlir::getElementTypeOrSelf(value.getType()));
  const int64_t limit = !type || type.getWidth() > 32 ? kMostEnd : int64_t{1} << (type.getWidth() - 1);
  return range.least >= -limit && range.most < limit ? Range(range) : std::nullopt;
}

ElementRange Hull(std::initializer_list<int64_t> ends) { return {std::min(ends), std::max(ends)}; }

Range Sum(const ElementRange& a, const ElementRange& b) { return ElementRange{a.least + b.least, a.most + b.most}; }
Range Difference(const ElementRange& a, const ElementRange& b) {
  return ElementRange{a.least - b.most, a.most - b.least};
}
Range Product(const ElementRange& a, const ElementRange& b) {
  return Hull({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most});
}
Range Quotient(const ElementRange& a, const ElementRange& b) {
  if (b.least <= 0 || b.least != b.most) return std::nullopt;
  return ElementRange{a.least / b.least, a.most / b.least};
}
Range Remainder(const ElementRange& a, const ElementRange& b) {
  if (a.least < 0 || b.least <= 0) return std::nullopt;
  return ElementRange{0, std::min(a.most, b.most - 1)};
}
// Of numbers that are not negative, readings with a sign and without agree.
Range UnsignedQuotient(const ElementRange& a, const ElementRange& b) {
  return a.least < 0 ? std::nullopt : Quotient(a, b);
}
Range Shifted(const ElementRange& a, const ElementRange& b) {
  if (a.least < 0 || b.least != b.most || b.least < 0 || b.least > 31) return std::nullopt;
  return ElementRange{a.least >> b.least, a.most >> b.least};
}
// Also where nothing is known of one of them.
Range CommonBits(const Range& a, const Range& b) {
  const bool limits_a = a && a->least >= 0, limits_b = b && b->least >= 0;
  if (!limits_a && !limits_b) return std::nullopt;
  return ElementRange{0, !limits_a ? b->most : !limits_b ? a->most : std::min(a->most, b->most)};
}
// Of bits that one or both have.
Range AllBits(const ElementRange& a, const ElementRange& b) {
  if (a.least < 0 || b.least < 0) return std::nullopt;
  return ElementRange{0, static_cast<int64_t>(llvm::NextPowerOf2(a.most | b.most)) - 1};
}
Range Least(const ElementRange& a, const ElementRange& b) {
  return ElementRange{std::min(a.least, b.least), std::min(a.most, b.most)};
}
Range Greatest(const ElementRange& a, const ElementRange& b) {
  return ElementRange{std::max(a.least, b.least), std::max(a.most, b.most)};
}

std::optional<bool> IsLess(const ElementRange& a, const ElementRange& b) {
  if (a.most < b.least) return true;
  return a.least >= b.most ? std::optional(false) : std::nullopt;
}

std::optional<bool> IsEqual(const ElementRange& a, const ElementRange& b) {
  if (a.most < b.least || b.most < a.least) return false;
  const bool one = a.least == a.most && b.least == b.most;
  return one ? std::optional(true) : std::nullopt;
}

std::optional<bool> Not(std::optional<bool> decided) { return decided ? std::optional(!*decided) : std::nullopt; }

}  // namespace

std::optional<ConstantLoop> ConstantLoopOf(mlir::scf::ForOp loop) {
  const std::optional<int64_t> begin = Constant(loop.getLowerBound()), end = Constant(loop.getUpperBound()),
                               step = Constant(loop.getStep());
  if (!begin || !end || !step || *step <= 0 || loop.getUnsignedCmp()) return std::nullopt;
  for (int64_t bound : {*begin, *end, *step})
    if (bound < -kMostEnd || bound > kMostEnd) return std::nullopt;
  return ConstantLoop{*begin, *step, std::max<int64_t>(0, llvm::divideCeilSigned(*end - *begin, *step))};
}

int64_t MostIterations(mlir::scf::ForOp loop) {
  const std::optional<ConstantLoop> constant = ConstantLoopOf(loop);
  return constant ? constant->iterations : std::numeric_limits<int64_t>::max();
}

void ElementRanges::Limit(mlir::scf::ForOp loop, int64_t first, int64_t iterations) {
  limits_[loop] = {first, iterations};
  known_.clear();
}

Range ElementRanges::Of(Value value) {
  if (auto found = known_.find(value); found != known_.end()) return found->second;
  Range range = Find(value);
  if (range) range = Fitting(value, *range);
  return known_[value] = range;
}

Range ElementRanges::Find(Value value) {
  if (std::optional<int64_t> constant = Constant(value)) return ElementRange{*constant, *constant};
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    auto loop = llvm::dyn_cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar()) return std::nullopt;
    std::optional<ConstantLoop> constant = ConstantLoopOf(loop);
    if (!constant) return std::nullopt;
    if (auto limit = limits_.find(loop); limit != limits_.end()) {
      constant->begin += limit->second.first * constant->step;
      constant->iterations = limit->second.second;
    }
    if (constant->iterations == 0) return std::nullopt;
    return ElementRange{constant->begin, constant->begin + (constant->iterations - 1) * constant->step};
  }
  auto both = [&](Range (*combine)(const ElementRange&, const ElementRange&)) {
    return [this, combine](Operation* op) -> Range {
      const Range a = Of(op->getOperand(0)), b = Of(op->getOperand(1));
      return a && b ? combine(*a, *b) : std::nullopt;
    };
  };
  return llvm::TypeSwitch<Operation*, Range>(value.getDefiningOp())
      .Case([](tt::MakeRangeOp op) {
        return ElementRange{op.getStart(), int64_t{op.getEnd()} - 1};
      })
      .Case<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp, ttg::ConvertLayoutOp,
            arith::ExtSIOp, arith::TruncIOp>([&](Operation* op) { return Of(op->getOperand(0)); })
      .Case([&](arith::ExtUIOp op) {
        const Range range = Of(op.getIn());
        return range && range->least >= 0 ? range : std::nullopt;
      })
      .Case<arith::AddIOp>(both(Sum))
      .Case<arith::SubIOp>(both(Difference))
      .Case<arith::MulIOp>(both(Product))
      .Case<arith::DivSIOp>(both(Quotient))
      .Case<arith::DivUIOp>(both(UnsignedQuotient))
      .Case<arith::ShRSIOp, arith::ShRUIOp>(both(Shifted))
      .Case<arith::RemSIOp>(both(Remainder))
      .Case([&](arith::AndIOp op) { return CommonBits(Of(op.getLhs()), Of(op.getRhs())); })
      .Case([&](arith::RemUIOp op) {
        const Range a = Of(op.getLhs()), b = Of(op.getRhs());
        if (a && a->least >= 0 && b) return Remainder(*a, *b);
        return b && b->least > 0 ? Range(ElementRange{0, b->most - 1}) : std::nullopt;
      })
      .Case<arith::OrIOp, arith::XOrIOp>(both(AllBits))
      .Case<arith::MinSIOp>(both(Least))
      .Case<arith::MaxSIOp>(both(Greatest))
      .Default([](Operation*) { return std::nullopt; });
}

std::optional<bool> ElementRanges::Decides(arith::CmpIOp compare) {
  const Range a = Of(compare.getLhs()), b = Of(compare.getRhs());
  if (!a || !b) return std::nullopt;
  const Predicate predicate = compare.getPredicate();
  const bool is_unsigned =
      llvm::is_contained({Predicate::ult, Predicate::ule, Predicate::ugt, Predicate::uge}, predicate);
  // Without negative numbers both readings agree.
  if (is_unsigned && (a->least < 0 || b->least < 0)) return std::nullopt;
  switch (predicate) {
    case Predicate::slt:
    case Predicate::ult:
      return IsLess(*a, *b);
    case Predicate::sge:
    case Predicate::uge:
      return Not(IsLess(*a, *b));
    case Predicate::sgt:
    case Predicate::ugt:
      return IsLess(*b, *a);
    case Predicate::sle:
    case Predicate::ule:
      return Not(IsLess(*b, *a));
    case Predicate::eq:
      return IsEqual(*a, *b);
    case Predicate::ne:
      return Not(IsEqual(*a, *b));
  }
  return std::nullopt;
}

void DecideComparisons(mlir::Operation* op) {
  ElementRanges ranges;
  op->walk([&](arith::CmpIOp compare) {
    const std::optional<bool> decided = ranges.Decides(compare);
    if (!decided) return;
    mlir::OpBuilder b(compare);
    mlir::TypedAttr value = b.getBoolAttr(*decided);
    if (auto type = llvm::dyn_cast<mlir::RankedTensorType>(compare.getType()))
      value = mlir::DenseElementsAttr::get(type, *decided);
    compare.replaceAllUsesWith(arith::ConstantOp::create(b, compare.getLoc(), value).getResult());
  });
}

}  // namespace tritond::compiler
