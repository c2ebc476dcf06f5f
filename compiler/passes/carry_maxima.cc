// SPDX-License-Identifier: Apache-2.0
// A loop that sums exponentials in one pass subtracts the greatest score so far, and scales the sum where that grows:
//
//   %r = tt.reduce<max, axis 1>(%x : tensor<64x128>)     %r = the greatest that a thread holds of a row of %x
//   %n = arith.maxnumf %m, %r                            %n = arith.maxnumf %m, %r              : tensor<64x32>
//   %f = math.exp(%m - %n)                         ->    %f = math.exp(%m - %n)
//   %e = math.exp(%x - broadcast(%n))                    %e = math.exp(%x - what its thread has of %n)
//   %t = what a thread holds of a row of %e, added up    %t = the same
//   scf.yield %n, %s * %f + %t                           scf.yield %n, %s * %f + %t
//
// The maximum is there only so that no exponential overflows. The greatest score that a thread has seen itself does as
// well, and no thread waits for another in the loop. After it, the sums get a common maximum:
//
//   %g = arith.maxnumf %start, tt.reduce<max>(%m);  %s * math.exp(%m - %g)
//
// A loop that starts from -inf makes NaN of a first tile without any finite score, as -inf - -inf is one. A thread may
// well have no finite score. So each starts from the least finite number, and remembers the sum of its first tile: that
// is 0 in all threads exactly where the loop's own is NaN. A sum of 0 also tells a thread that has seen nothing: its
// own maximum would have added 1.
//
// The loop may carry several such sums, some of them with weights. Nothing else may see the maximum or the sums.
#include <cmath>

#include "compiler/ir/encodings.h"
#include "compiler/ir/operands.h"
#include "compiler/passes/carried_values.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/thread_parts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_CARRYMAXIMAPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using llvm::APFloat;
using mlir::Operation;
using mlir::OpOperand;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

// An exponential of a difference: base ^ (scale * (minuend - maximum)), with the logarithm of the base in the rate.
struct Exponential {
  arith::SubFOp difference;
  arith::MulFOp scaled;  // or null
  Operation* power;      // exp or exp2
  double rate;           // as a power of two
};

// A sum that the loop carries at `index`.
struct Sum {
  unsigned index;
  arith::MulFOp scaled;
  bool has_weights;
};

// What a loop does with the maximum that it carries at `index`.
struct Online {
  unsigned index;
  arith::MaxNumFOp update;
  tt::ReduceOp reduce;
  APFloat start;
  std::optional<Exponential> rescale;
  llvm::SmallVector<Exponential> elements;
  llvm::SmallVector<Sum> sums;
};

// The uses of a value and of what has its elements.
void CollectUses(Value value, llvm::SmallVectorImpl<OpOperand*>& uses) {
  for (OpOperand& use : value.getUses())
    if (Spreads(use.getOwner()))
      CollectUses(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
}

// The exponential that is the only use of the difference.
std::optional<Exponential> ExponentialOf(arith::SubFOp difference) {
  if (!difference->hasOneUse()) return {};
  Operation* user = *difference->user_begin();
  double rate = 1;
  auto scaled = llvm::dyn_cast<arith::MulFOp>(user);
  if (scaled) {
    std::optional<APFloat> scale = NumberOf(OtherOperand(scaled, difference));
    if (!scale || !scaled->hasOneUse()) return {};
    rate = scale->convertToDouble();
    user = *scaled->user_begin();
  }
  if (!llvm::isa<mlir::math::ExpOp, mlir::math::Exp2Op>(user) || !(rate > 0)) return {};
  if (llvm::isa<mlir::math::ExpOp>(user)) rate *= M_LOG2E;
  return Exponential{difference, scaled, user, rate};
}

// The sum that the exponentials are added to: by reductions in threads, with weights or without.
bool FindSums(Value value, bool has_weights, ForOp loop, Online& online) {
  for (Operation* user : value.getUsers()) {
    if (user->getBlock() != loop.getBody() || user->getNumResults() != 1) return false;
    Value result = user->getResult(0);
    if (llvm::isa<tt::ReshapeOp, tt::TransOp, arith::MulFOp>(user)) {
      if (user->getNumOperands() == 2 && user->getOperand(0) == user->getOperand(1)) return false;
      if (!FindSums(result, has_weights || llvm::isa<arith::MulFOp>(user), loop, online)) return false;
      continue;
    }
    auto reduce = llvm::dyn_cast<tt::ReduceOp>(user);
    Operation* combiner = reduce ? reduce.SingleCombiner() : nullptr;
    if (llvm::isa_and_nonnull<arith::AddFOp>(combiner) && result.hasOneUse()) {
      user = *result.user_begin();
    } else if (reduce) {
      return false;
    }
    // A thread that has one element of the axis does not reduce.
    auto add = llvm::dyn_cast<arith::AddFOp>(user);
    if (!add || !add->hasOneUse() || add->getBlock() != loop.getBody()) return false;
    OpOperand& yield = *add->use_begin();
    auto scaled = OtherOperand(add, reduce ? result : value).getDefiningOp<arith::MulFOp>();
    if (yield.getOwner() != loop.getBody()->getTerminator() || !scaled || !scaled->hasOneUse()) return false;
    online.sums.push_back({yield.getOperandNumber(), scaled, has_weights});
  }
  return true;
}

// Fills in the exponentials of the maximum; false where something else sees it.
bool FindExponentials(ForOp loop, Online& online) {
  Value before = loop.getRegionIterArg(online.index), after = online.update.getResult();
  llvm::SmallVector<OpOperand*> uses;
  CollectUses(before, uses);
  CollectUses(after, uses);
  for (OpOperand* use : uses) {
    if (use->getOwner() == online.update) continue;
    if (use->getOwner() == loop.getBody()->getTerminator()) {
      if (use->getOperandNumber() != online.index || use->get() != after) return false;
      continue;
    }
    auto difference = llvm::dyn_cast<arith::SubFOp>(use->getOwner());
    if (!difference || difference->getBlock() != loop.getBody() || SourceOf(difference.getRhs()) != after) return false;
    std::optional<Exponential> exponential = ExponentialOf(difference);
    if (!exponential) return false;
    if (SourceOf(difference.getLhs()) == before) {
      if (online.rescale && online.rescale->difference != difference) return false;
      online.rescale = exponential;
    } else if (difference.getLhs() == online.reduce.getSrcs()[0]) {
      online.elements.push_back(*exponential);
    } else {
      return false;
    }
  }
  return online.rescale && !online.elements.empty();
}

// Whether the carried sums are scaled by the exponential of the growth, and nothing else is.
bool ScalesSums(ForOp loop, Online& online, mlir::Type type) {
  llvm::SmallVector<OpOperand*> uses;
  CollectUses(online.rescale->power->getResult(0), uses);
  llvm::SmallDenseSet<unsigned> indices;
  for (const Sum& sum : online.sums) indices.insert(sum.index);
  // A product of two exponentials would have come here twice.
  if (uses.size() != online.sums.size() || indices.size() != online.sums.size()) return false;
  return llvm::all_of(online.sums, [&](Sum& sum) {
    Value carried = loop.getRegionIterArg(sum.index);
    return carried.getType() == type && carried.hasOneUse() && *carried.user_begin() == sum.scaled &&
           SourceOf(OtherOperand(sum.scaled, carried)) == online.rescale->power->getResult(0);
  });
}

std::optional<Online> FindOnline(ForOp loop, unsigned index) {
  auto update = loop.getYieldedValues()[index].getDefiningOp<arith::MaxNumFOp>();
  std::optional<APFloat> start = NumberOf(loop.getInitArgs()[index]);
  if (!update || update->getBlock() != loop.getBody() || !start || start->isNaN()) return {};
  if (start->isInfinity() && !start->isNegative()) return {};
  if (!llvm::isa<mlir::Float32Type>(mlir::getElementTypeOrSelf(update.getType()))) return {};
  Value argument = loop.getRegionIterArg(index);
  if (!llvm::is_contained(update->getOperands(), argument)) return {};
  Value greatest = OtherOperand(update, argument);
  while (auto convert = greatest.getDefiningOp<ttg::ConvertLayoutOp>()) {
    if (!greatest.hasOneUse()) return {};
    greatest = convert.getSrc();
  }
  auto reduce = greatest.getDefiningOp<tt::ReduceOp>();
  if (!reduce || !greatest.hasOneUse() || reduce->getBlock() != loop.getBody() || reduce.getSrcs().size() != 1)
    return {};
  if (!llvm::isa_and_nonnull<arith::MaxNumFOp>(reduce.SingleCombiner()) || !reduce.InputType().getEncoding()) return {};
  Online online{index, update, reduce, *start, {}, {}, {}};
  if (!FindExponentials(loop, online)) return {};
  for (const Exponential& element : online.elements) {
    if (std::abs(element.rate / online.rescale->rate - 1) > 1e-6) return {};
    if (!FindSums(element.power->getResult(0), false, loop, online)) return {};
  }
  const bool sees_all = llvm::any_of(online.sums, [](const Sum& sum) { return !sum.has_weights; });
  return sees_all ? std::optional(std::move(online)) : std::nullopt;
}

// base ^ (minuend - subtrahend), as the exponential that it is like.
Value PowerLike(mlir::OpBuilder& b, Exponential like, Value minuend, Value subtrahend) {
  mlir::Location loc = like.power->getLoc();
  Value value = arith::SubFOp::create(b, loc, minuend, subtrahend);
  if (like.scaled) {
    auto type = llvm::cast<RankedTensorType>(value.getType());
    const APFloat number = *NumberOf(OtherOperand(like.scaled, like.difference));
    mlir::Attribute scale = mlir::FloatAttr::get(type.getElementType(), number);
    value = arith::MulFOp::create(b, loc, value,
                                  arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, scale)));
  }
  return b.create(loc, like.power->getName().getIdentifier(), {value}, {value.getType()})->getResult(0);
}

Value Splat(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type, const APFloat& number) {
  mlir::Attribute value = mlir::FloatAttr::get(mlir::getElementTypeOrSelf(type), number);
  if (auto tensor = llvm::dyn_cast<RankedTensorType>(type)) value = mlir::DenseElementsAttr::get(tensor, value);
  return arith::ConstantOp::create(b, loc, llvm::cast<mlir::TypedAttr>(value));
}

// The index of a sum without weights.
unsigned PlainSum(const Online& online) {
  return llvm::find_if(online.sums, [](const Sum& sum) { return !sum.has_weights; })->index;
}

bool IsEndless(const Online& online) { return online.start.isInfinity(); }

APFloat LeastFinite(const Online& online) {
  return APFloat::getLargest(online.start.getSemantics(), /*Negative=*/true);
}

// Lets the body go by each thread's own maximum. Gives what it yields for the maximum and for the sum of the first
// tile.
llvm::SmallVector<Value> RewriteBody(mlir::OpBuilder& b, ForOp loop, Online& online, llvm::ArrayRef<AxisGroup> groups,
                                     Value part, llvm::ArrayRef<mlir::BlockArgument> carried) {
  mlir::Location loc = online.update.getLoc();
  b.setInsertionPoint(online.update);
  Value greatest = arith::MaxNumFOp::create(b, loc, carried[0], part);
  Value growth = PowerLike(b, *online.rescale, carried[0], greatest);
  for (Sum& sum : online.sums) {
    Value sum_before = loop.getRegionIterArg(sum.index);
    sum.scaled->setOperands({sum_before, growth});
  }
  Value repeated = RepeatInThread(b, greatest, online.reduce.InputType(), online.reduce.getAxis(), groups);
  for (Exponential& element : online.elements) element.difference.getRhsMutable().assign(repeated);
  llvm::SmallVector<Value> yields{greatest};
  if (!IsEndless(online)) return yields;
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Value is_first =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, loop.getInductionVar(), loop.getLowerBound());
  yields.push_back(arith::SelectOp::create(b, loc, is_first, loop.getYieldedValues()[PlainSum(online)], carried[1]));
  return yields;
}

// Gives the sums of all threads one maximum, and takes that for the loop's.
void Finish(mlir::OpBuilder& b, ForOp wide, Online& online, unsigned added) {
  mlir::Location loc = online.update.getLoc();
  const unsigned axis = online.reduce.getAxis();
  Value total = wide.getResult(online.index), own = wide.getResult(added), seen = own;
  auto type = llvm::cast<RankedTensorType>(own.getType());
  llvm::SmallVector<OpOperand*> uses;
  for (Sum& sum : online.sums)
    for (OpOperand& use : wide.getResult(sum.index).getUses()) uses.push_back(&use);
  auto reduce = [&](Value value) {
    Value all = ReduceLike(b, online.reduce, value, axis);
    auto row = llvm::dyn_cast<RankedTensorType>(total.getType());
    return row && row != all.getType() ? ttg::ConvertLayoutOp::create(b, loc, row, all).getResult() : all;
  };
  auto number = [&](mlir::Type of, const APFloat& value) { return Splat(b, loc, of, value); };
  const llvm::fltSemantics& kind = online.start.getSemantics();
  auto is_zero = [&](Value value) {
    Value zero = number(value.getType(), APFloat::getZero(kind));
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value, zero);
  };
  if (IsEndless(online))
    seen = arith::SelectOp::create(b, loc, is_zero(wide.getResult(PlainSum(online))), number(type, online.start), own);
  Value greatest = arith::MaxNumFOp::create(b, loc, wide.getInitArgs()[online.index], reduce(seen));
  Value common = greatest;
  if (IsEndless(online)) {
    common = arith::MaxNumFOp::create(b, loc, common, number(total.getType(), LeastFinite(online)));
    Value none = is_zero(reduce(wide.getResult(added + 1)));
    common = arith::SelectOp::create(b, loc, none, number(total.getType(), APFloat::getNaN(kind)), common);
  }
  Value growth = PowerLike(b, *online.rescale, own, RepeatAlong(b, common, axis, type));
  total.replaceAllUsesWith(greatest);
  for (OpOperand* use : uses) use->set(arith::MulFOp::create(b, loc, use->get(), growth));
}

// Gives the loop that takes the place of `loop`.
ForOp Rewrite(ForOp loop, Online& online, llvm::ArrayRef<AxisGroup> groups) {
  mlir::IRRewriter b(loop.getContext());
  b.setInsertionPoint(online.reduce);
  Value part = ReduceInThread(b, online.reduce, groups);
  if (!part || !ScalesSums(loop, online, part.getType())) return loop;
  // What the maxima will be like, which are made once the loop carries them.
  if (!RepeatInThread(b, part, online.reduce.InputType(), online.reduce.getAxis(), groups)) return loop;
  auto type = llvm::cast<RankedTensorType>(part.getType());
  b.setInsertionPoint(loop);
  llvm::SmallVector<Value> starts{
      Splat(b, loop.getLoc(), type, IsEndless(online) ? LeastFinite(online) : online.start)};
  if (IsEndless(online)) starts.push_back(Splat(b, loop.getLoc(), type, APFloat(1.0f)));
  auto yields = [&](mlir::OpBuilder& inner, mlir::Location, llvm::ArrayRef<mlir::BlockArgument> carried) {
    return RewriteBody(inner, loop, online, groups, part, carried);
  };
  auto wide =
      llvm::cast<ForOp>(*loop.replaceWithAdditionalYields(b, starts, /*replaceInitOperandUsesInLoop=*/false, yields));
  wide.getBody()->getTerminator()->setOperand(online.index, wide.getRegionIterArg(online.index));
  b.setInsertionPointAfter(wide);
  Finish(b, wide, online, wide.getNumResults() - starts.size());
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(*wide.getBody())))
    if (mlir::isOpTriviallyDead(&op)) op.erase();
  return wide;
}

class CarryMaximaPass : public impl::CarryMaximaPassBase<CarryMaximaPass> {
  void runOnOperation() override {
    RewriteCarriedValues(getOperation(), [&](ForOp loop, unsigned index) { return Visit(loop, index); });
  }

  ForOp Visit(ForOp loop, unsigned index) {
    std::optional<Online> online = FindOnline(loop, index);
    if (!online) return loop;
    auto groups = AxisGroups(online->reduce.InputType(), online->reduce.getAxis());
    return groups && CrossesThreads(*groups) ? Rewrite(loop, *online, *groups) : loop;
  }
};

}  // namespace
}  // namespace tritond::compiler
