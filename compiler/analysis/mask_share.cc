// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/mask_share.h"

#include <algorithm>

#include "compiler/analysis/element_ranges.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using Predicate = arith::CmpIPredicate;

constexpr int64_t kFar = int64_t{1} << 40;  // further than any index, and sums of a few of them are no overflow

// `base` + `offset`, where `base` is no such sum.
struct Shifted {
  Value base;
  int64_t offset = 0;
};

std::optional<int64_t> Constant(Value value) {
  llvm::APInt constant;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&constant)) || constant.getSignificantBits() > 40)
    return std::nullopt;
  return constant.getSExtValue();
}

Shifted Peel(Value value) {
  Shifted sum{value};
  while (Operation* op = sum.base.getDefiningOp()) {
    if (Spreads(op) || llvm::isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
      sum.base = op->getOperand(0);
    } else if (auto constant = op->getNumOperands() == 2 ? Constant(op->getOperand(1)) : std::nullopt;
               constant && std::abs(sum.offset) < kFar && llvm::isa<arith::AddIOp, arith::SubIOp>(op)) {
      sum.offset += llvm::isa<arith::AddIOp>(op) ? *constant : -*constant;
      sum.base = op->getOperand(0);
    } else {
      break;
    }
  }
  return sum;
}

// The values for which "value `predicate` constant" holds; nothing where they are no range.
std::optional<ElementRange> Passing(Predicate predicate, int64_t constant) {
  switch (predicate) {
    case Predicate::slt:
      return ElementRange{-kFar, constant - 1};
    case Predicate::sle:
      return ElementRange{-kFar, constant};
    case Predicate::ult:
      return ElementRange{0, constant - 1};
    case Predicate::ule:
      return ElementRange{0, constant};
    case Predicate::sgt:
    case Predicate::ugt:
      return ElementRange{constant + 1, kFar};
    case Predicate::sge:
    case Predicate::uge:
      return ElementRange{constant, kFar};
    case Predicate::eq:
      return ElementRange{constant, constant};
    case Predicate::ne:
      return std::nullopt;
  }
  return std::nullopt;
}

int64_t SizeOf(const ElementRange& range) { return std::max<int64_t>(0, range.most - range.least + 1); }

ElementRange Common(const ElementRange& a, const ElementRange& b) {
  return {std::max(a.least, b.least), std::min(a.most, b.most)};
}

class Conjunction final {
 public:
  void Add(Value mask) {
    Operation* op = mask.getDefiningOp();
    if (Spreads(op)) return Add(op->getOperand(0));
    if (llvm::isa_and_present<arith::AndIOp>(op)) {
      Add(op->getOperand(0));
      Add(op->getOperand(1));
    } else if (llvm::isa_and_present<arith::OrIOp>(op)) {
      others_ *= std::min(1.0, MaskShare(op->getOperand(0)) + MaskShare(op->getOperand(1)));
    } else if (auto compare = llvm::dyn_cast_if_present<arith::CmpIOp>(op)) {
      AddComparison(compare);
    }
  }

  double Share() {
    double share = others_;
    for (const auto& [base, passing] : passing_)
      if (std::optional<ElementRange> range = RangeOf(base))
        share *= static_cast<double>(SizeOf(Common(*range, passing))) / static_cast<double>(SizeOf(*range));
    return share;
  }

 private:
  void AddComparison(arith::CmpIOp compare) {
    const std::optional<int64_t> constant = Constant(compare.getRhs());
    std::optional<ElementRange> passing = constant ? Passing(compare.getPredicate(), *constant) : std::nullopt;
    if (!passing) return;
    const Shifted value = Peel(compare.getLhs());
    passing = ElementRange{passing->least - value.offset, passing->most - value.offset};
    auto [entry, is_new] = passing_.try_emplace(value.base, *passing);
    if (!is_new) entry->second = Common(entry->second, *passing);
  }

  // Of indices, which are not negative: their remainders are not, either.
  std::optional<ElementRange> RangeOf(Value base) {
    if (std::optional<ElementRange> known = ranges_.Of(base)) return known;
    Operation* op = base.getDefiningOp();
    if (!llvm::isa_and_present<arith::RemSIOp, arith::RemUIOp>(op)) return std::nullopt;
    const std::optional<int64_t> divisor = Constant(op->getOperand(1));
    return divisor && *divisor > 0 ? std::optional(ElementRange{0, *divisor - 1}) : std::nullopt;
  }

  ElementRanges ranges_;
  llvm::MapVector<Value, ElementRange> passing_;  // by what is compared
  double others_ = 1;
};

}  // namespace

double MaskShare(Value mask) {
  Conjunction conditions;
  conditions.Add(mask);
  return conditions.Share();
}

}  // namespace tritond::compiler
