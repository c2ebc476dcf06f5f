// SPDX-License-Identifier: Apache-2.0
// A loop that reduces a tensor in each iteration and adds the result to a sum sends data between threads in each
// iteration. The sum may as well be kept by each thread for itself, until the loop ends:
//
//   %r = scf.for … iter_args(%a = %x) {                 %p = scf.for … iter_args(%b = neutral : tensor<64x32>) {
//     %s = tt.reduce<add, axis 1>(%v : tensor<64x128>)    %t = what a thread holds of a row of %v, added up
//     %c = arith.addf %a, %s                         ->    %d = arith.addf %b, %t
//     scf.yield %c                                         scf.yield %d
//   }                                                   }
//                                                       %s = tt.reduce<add, axis 1>(%p)
//                                                       %r = arith.addf %x, %s
//
// %t is a reduction too, of a tensor whose last dimension lies in the registers of each thread (thread_parts.h).
//
// It changes the order in which elements combine, which all of these combiners allow for integers. For floats it is as
// good an order as the loop's own. The neutral element keeps zeros' signs and NaNs: -0 for sums, NaN for the minimum
// and maximum that ignore NaNs.
//
// A sum may be scaled in each iteration, as the sums of rows in attention are: %c = %a * %scale + %s. Each thread then
// scales what it has: %d = %b * %scale + %t. The scale has to be an exponential. Infinite scales would make NaN of the
// parts that are zero.
//
// Nothing but the accumulation may see the sum in the loop. A reduction that a thread finishes by itself stays. The sum
// may be converted before it is added. The loop then carries more registers for it, as many as the reduction had
// results in a thread. So many at most, with all else that is carried, that half of a thread's registers are left.
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/operands.h"
#include "compiler/passes/carried_values.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/thread_parts.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_OPTIMIZETHREADLOCALITYPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using llvm::APFloat;
using llvm::APInt;
using mlir::Attribute;
using mlir::FloatType;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

constexpr int64_t kCarriedRegisters = 128;

// The x with op(x, y) = y for all y; null if `op` does not combine in any order or supposes that there are no NaNs.
mlir::TypedAttr NeutralElement(Operation* op) {
  mlir::Type type = op->getResult(0).getType();
  mlir::Builder b(op->getContext());
  if (auto element = llvm::dyn_cast<FloatType>(type)) {
    if (element.getWidth() < 16) return {};  // some have neither infinities nor two zeros
    const llvm::fltSemantics& kind = element.getFloatSemantics();
    auto fast = llvm::dyn_cast<arith::ArithFastMathInterface>(op);
    bool finite = fast && bitEnumContainsAny(fast.getFastMathFlagsAttr().getValue(),
                                             arith::FastMathFlags::nnan | arith::FastMathFlags::ninf);
    auto of = [&](const APFloat& value) -> mlir::TypedAttr { return b.getFloatAttr(element, value); };
    return llvm::TypeSwitch<Operation*, mlir::TypedAttr>(op)
        .Case<arith::AddFOp>([&](auto) { return of(APFloat::getZero(kind, /*Negative=*/true)); })
        .Case<arith::MulFOp>([&](auto) { return of(APFloat(kind, 1)); })
        .Case<arith::MaximumFOp>([&](auto) { return finite ? nullptr : of(APFloat::getInf(kind, true)); })
        .Case<arith::MinimumFOp>([&](auto) { return finite ? nullptr : of(APFloat::getInf(kind)); })
        .Case<arith::MaxNumFOp, arith::MinNumFOp>([&](auto) { return finite ? nullptr : of(APFloat::getNaN(kind)); })
        .Default([](Operation*) { return nullptr; });
  }
  if (!llvm::isa<mlir::IntegerType>(type)) return {};
  unsigned width = type.getIntOrFloatBitWidth();
  auto of = [&](const APInt& value) -> mlir::TypedAttr { return b.getIntegerAttr(type, value); };
  return llvm::TypeSwitch<Operation*, mlir::TypedAttr>(op)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>([&](auto) { return of(APInt::getZero(width)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return of(APInt::getAllOnes(width)); })
      .Case<arith::MulIOp>([&](auto) { return of(APInt(width, 1)); })
      .Case<arith::MaxSIOp>([&](auto) { return of(APInt::getSignedMinValue(width)); })
      .Case<arith::MinSIOp>([&](auto) { return of(APInt::getSignedMaxValue(width)); })
      .Default([](Operation*) { return nullptr; });
}

// A value that the loop carries at `index`, and that in each iteration becomes op(itself, reduction), or
// op(itself * scale, reduction).
struct Accumulation {
  unsigned index;
  Operation* op;
  arith::MulFOp scaled;  // or null
  tt::ReduceOp reduce;
  llvm::SmallVector<Operation*> conversions;  // of the reduction, from the accumulation on
};

// The registers that the loop carries.
int64_t CarriedRegisters(ForOp loop) {
  int64_t registers = 0;
  for (Value value : loop.getRegionIterArgs()) registers += RegistersOf(value);
  return registers;
}

// The product of what the loop carries and an exponential, where nothing else sees it.
arith::MulFOp ScaledArgument(ForOp loop, Value argument) {
  if (!argument.hasOneUse()) return {};
  auto product = llvm::dyn_cast<arith::MulFOp>(*argument.user_begin());
  if (!product || !product->hasOneUse() || product->getBlock() != loop.getBody()) return {};
  Operation* scale = OtherOperand(product, argument).getDefiningOp();
  while (scale && llvm::isa<ttg::ConvertLayoutOp>(scale)) scale = scale->getOperand(0).getDefiningOp();
  return llvm::isa_and_nonnull<mlir::math::Exp2Op, mlir::math::ExpOp>(scale) ? product : arith::MulFOp();
}

std::optional<Accumulation> FindAccumulation(ForOp loop, unsigned index) {
  Value argument = loop.getRegionIterArg(index);
  Operation* op = loop.getYieldedValues()[index].getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumOperands() != 2 || op->getNumResults() != 1) return {};
  arith::MulFOp scaled = ScaledArgument(loop, argument);
  if (scaled && !llvm::isa<arith::AddFOp>(op)) return {};
  const Value carried = scaled ? scaled.getResult() : argument;
  if (!op->hasOneUse() || !carried.hasOneUse() || *carried.user_begin() != op) return {};
  Value sum = OtherOperand(op, carried);
  llvm::SmallVector<Operation*> conversions;
  while (auto convert = sum.getDefiningOp<ttg::ConvertLayoutOp>()) {
    if (!sum.hasOneUse() || convert->getBlock() != loop.getBody()) return {};
    conversions.push_back(convert);
    sum = convert.getSrc();
  }
  if (!conversions.empty() && CarriedRegisters(loop) + RegistersOf(sum) > kCarriedRegisters) return {};
  auto reduce = sum.getDefiningOp<tt::ReduceOp>();
  if (!reduce || !sum.hasOneUse() || reduce->getBlock() != loop.getBody() || reduce.getSrcs().size() != 1) return {};
  Operation* combiner = reduce.SingleCombiner();
  if (!combiner || combiner->getName() != op->getName()) return {};
  if (!NeutralElement(combiner) || !reduce.InputType().getEncoding()) return {};
  // The accumulation's own promises count too.
  auto fast = llvm::dyn_cast<arith::ArithFastMathInterface>(op),
       other = llvm::dyn_cast<arith::ArithFastMathInterface>(combiner);
  if (fast && fast.getFastMathFlagsAttr() != other.getFastMathFlagsAttr()) return {};
  return Accumulation{index, op, scaled, reduce, std::move(conversions)};
}

// The operation `like` on other operands, with its fast-math flags; not with those that rule out an overflow.
Value Combine(mlir::OpBuilder& b, Operation* like, Value x, Value y) {
  Operation* made = b.create(like->getLoc(), like->getName().getIdentifier(), {x, y}, {x.getType()});
  if (auto fast = llvm::dyn_cast<arith::ArithFastMathInterface>(like))
    made->setAttr(fast.getFastMathAttrName(), fast.getFastMathFlagsAttr());
  return made->getResult(0);
}

bool IsZero(Value value) { return mlir::matchPattern(value, mlir::m_AnyZeroFloat()); }

// Gives the loop that takes the place of `loop`, which has one more value to carry.
ForOp Rewrite(ForOp loop, Accumulation sum, llvm::ArrayRef<AxisGroup> groups) {
  mlir::IRRewriter b(loop.getContext());
  b.setInsertionPoint(sum.reduce);
  Value part = ReduceInThread(b, sum.reduce, groups);
  if (!part) return loop;
  auto type = llvm::cast<RankedTensorType>(part.getType());
  mlir::TypedAttr neutral = NeutralElement(sum.reduce.SingleCombiner());
  b.setInsertionPoint(loop);
  Value start = arith::ConstantOp::create(b, loop.getLoc(), mlir::DenseElementsAttr::get(type, Attribute(neutral)));
  auto yields = [&](mlir::OpBuilder& inner, mlir::Location, llvm::ArrayRef<mlir::BlockArgument> added) {
    inner.setInsertionPoint(sum.op);
    Value carried = added[0];
    if (sum.scaled) {
      Value scale = OtherOperand(sum.scaled, loop.getRegionIterArg(sum.index));
      carried = Combine(inner, sum.scaled, carried, RepeatAlong(inner, scale, sum.reduce.getAxis(), type));
    }
    return llvm::SmallVector<Value>{Combine(inner, sum.op, carried, part)};
  };
  auto wide =
      llvm::cast<ForOp>(*loop.replaceWithAdditionalYields(b, start, /*replaceInitOperandUsesInLoop=*/false, yields));
  // The old sum is carried unchanged, or is scaled alone: the result is what it started from.
  Value argument = wide.getRegionIterArg(sum.index), total = wide.getResult(sum.index);
  const bool scales_start = sum.scaled && !IsZero(wide.getInitArgs()[sum.index]);
  wide.getBody()->getTerminator()->setOperand(sum.index, scales_start ? sum.scaled.getResult() : argument);
  b.setInsertionPointAfter(wide);
  Value all = ReduceLike(b, sum.reduce, wide.getResults().back(), sum.reduce.getAxis());
  if (all.getType() != total.getType())
    all = ttg::ConvertLayoutOp::create(b, all.getLoc(), llvm::cast<RankedTensorType>(total.getType()), all);
  Value result = Combine(b, sum.op, total, all);
  total.replaceAllUsesExcept(result, result.getDefiningOp());
  sum.op->erase();
  for (Operation* convert : sum.conversions) convert->erase();
  sum.reduce.erase();
  if (sum.scaled && !scales_start) sum.scaled.erase();
  return wide;
}

class OptimizeThreadLocalityPass : public impl::OptimizeThreadLocalityPassBase<OptimizeThreadLocalityPass> {
  void runOnOperation() override {
    RewriteCarriedValues(getOperation(), [&](ForOp loop, unsigned index) { return Visit(loop, index); });
  }

  ForOp Visit(ForOp loop, unsigned index) {
    std::optional<Accumulation> sum = FindAccumulation(loop, index);
    if (!sum) return loop;
    auto groups = AxisGroups(sum->reduce.InputType(), sum->reduce.getAxis());
    return groups && CrossesThreads(*groups) ? Rewrite(loop, *sum, *groups) : loop;
  }
};

}  // namespace
}  // namespace tritond::compiler
