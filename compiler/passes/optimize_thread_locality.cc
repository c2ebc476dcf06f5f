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
// %t is a reduction too, of a tensor whose last dimension lies in the registers of each thread. The axis index of an
// element is a row of bits. Under most encodings, each is told by one bit of the register, the lane or the warp. Groups
// of such bits become dimensions by a reshape, and a transposition brings those of registers together:
//
//   64x128, bits of 128: register, 5 lanes, register       64x2x32x2 -> 64x32x2x2 -> 64x32x4 -> reduce axis 2 -> 64x32
//
// None of this moves an element. It changes the order in which elements combine, which all of these combiners allow for
// integers. For floats it is as good an order as the loop's own. The neutral element keeps zeros' signs and NaNs: -0
// for sums, NaN for the minimum and maximum that ignore NaNs.
//
// A sum may be scaled in each iteration, as the sums of rows in attention are: %c = %a * %scale + %s. Each thread then
// scales what it has: %d = %b * %scale + %t. The scale has to be an exponential. Infinite scales would make NaN of the
// parts that are zero.
//
// Nothing but the accumulation may see the sum in the loop. A reduction that a thread finishes by itself stays. The sum
// may be converted before it is added. The loop then carries more registers for it, as many as the reduction had
// results in a thread. So many at most, with all else that is carried, that half of a thread's registers are left.
#include "compiler/analysis/scratch.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
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

Value OtherOperand(Operation* op, Value operand) { return op->getOperand(op->getOperand(0) == operand ? 1 : 0); }

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

// The bits of an axis index in groups, from the highest: each of registers or of lanes, warps and blocks.
struct BitGroup {
  int64_t size;
  bool in_thread;
};

// Nullopt where a bit of the axis index does not belong to one place alone.
std::optional<llvm::SmallVector<BitGroup>> GroupsOf(const LinearLayout& layout, unsigned axis) {
  if (!IsReducible(layout, axis)) return std::nullopt;
  const LayoutDim& out = layout.OutDims()[axis];
  llvm::SmallVector<int> owners(out.bits, -1);  // 1: registers
  for (const LayoutDim& in : layout.InDims())
    for (int32_t bit = 0; bit < in.bits; ++bit) {
      uint64_t move = (layout.columns()[in.shift + bit] >> out.shift) & out.mask();
      if (move == 0) continue;
      if (!llvm::isPowerOf2_64(move)) return std::nullopt;
      owners[llvm::Log2_64(move)] = in.name == "register";
    }
  llvm::SmallVector<BitGroup> groups;
  for (int owner : llvm::reverse(owners)) {
    if (owner < 0) return std::nullopt;
    if (groups.empty() || groups.back().in_thread != (owner == 1)) groups.push_back({1, owner == 1});
    groups.back().size *= 2;
  }
  return groups;
}

Value Reshape(mlir::OpBuilder& b, Value value, llvm::ArrayRef<int64_t> shape) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape) return value;
  Attribute encoding = ttg::ReshapeEncoding(type.getEncoding(), type.getShape(), shape);
  if (!encoding) return {};
  return tt::ReshapeOp::create(b, value.getLoc(), RankedTensorType::get(shape, type.getElementType(), encoding), value,
                               false, false);
}

Value Transpose(mlir::OpBuilder& b, Value value, llvm::ArrayRef<int32_t> order) {
  if (llvm::is_sorted(order)) return value;
  auto type = llvm::cast<RankedTensorType>(value.getType());
  llvm::SmallVector<int64_t> shape;
  for (int32_t dim : order) shape.push_back(type.getDimSize(dim));
  Attribute encoding = ttg::TransEncoding(type.getEncoding(), type.getShape(), order);
  if (!encoding) return {};
  return tt::TransOp::create(b, value.getLoc(), RankedTensorType::get(shape, type.getElementType(), encoding), value,
                             order);
}

// A reduction as `like`, of another tensor along another axis.
Value Reduce(mlir::OpBuilder& b, tt::ReduceOp like, Value value, unsigned axis) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  mlir::Type result = type.getElementType();
  auto parent = llvm::cast<ttg::DistributedEncoding>(type.getEncoding());
  if (!shape.empty())
    result = RankedTensorType::get(shape, result, ttg::SliceEncodingAttr::get(b.getContext(), axis, parent));
  auto made = tt::ReduceOp::create(b, like.getLoc(), mlir::TypeRange(result), mlir::ValueRange(value), axis);
  mlir::IRMapping mapping;
  like.getCombineOp().cloneInto(&made.getCombineOp(), mapping);
  // What was said not to overflow in one order may do so in another.
  made->walk([](arith::ArithIntegerOverflowFlagsInterface op) {
    auto none = arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::none);
    op->setAttr(op.getIntegerOverflowAttrName(), none);
  });
  return made->getResult(0);
}

// `value` with what each thread holds of its axis combined; null where an encoding cannot be said.
Value ReduceInThread(mlir::OpBuilder& b, tt::ReduceOp reduce, llvm::ArrayRef<BitGroup> groups) {
  Value value = reduce.getSrcs()[0];
  unsigned axis = reduce.getAxis();
  llvm::ArrayRef<int64_t> shape = reduce.InputType().getShape();
  llvm::SmallVector<int64_t> split(shape.take_front(axis)), merged(split);
  llvm::SmallVector<int32_t> order = llvm::to_vector(llvm::seq<int32_t>(0, axis));
  int64_t registers = 1, threads = 1;
  for (bool in_thread : {false, true})
    for (auto [i, group] : llvm::enumerate(groups)) {
      if (group.in_thread != in_thread) continue;
      order.push_back(axis + i);
      (in_thread ? registers : threads) *= group.size;
    }
  if (registers == 1) return value;
  for (const BitGroup& group : groups) split.push_back(group.size);
  merged.append({threads, registers});
  for (size_t dim = axis + 1; dim < shape.size(); ++dim) {
    order.push_back(split.size());
    split.push_back(shape[dim]);
    merged.push_back(shape[dim]);
  }
  value = Reshape(b, value, split);
  if (value) value = Transpose(b, value, order);
  if (value) value = Reshape(b, value, merged);
  return value ? Reduce(b, reduce, value, axis + 1) : Value();
}

// The operation `like` on other operands, with its fast-math flags; not with those that rule out an overflow.
Value Combine(mlir::OpBuilder& b, Operation* like, Value x, Value y) {
  Operation* made = b.create(like->getLoc(), like->getName().getIdentifier(), {x, y}, {x.getType()});
  if (auto fast = llvm::dyn_cast<arith::ArithFastMathInterface>(like))
    made->setAttr(fast.getFastMathAttrName(), fast.getFastMathFlagsAttr());
  return made->getResult(0);
}

// A tensor along all dimensions but one, or a scalar, repeated along that one.
Value RepeatAlong(mlir::OpBuilder& b, Value value, unsigned axis, RankedTensorType type) {
  mlir::Location loc = value.getLoc();
  auto line = llvm::dyn_cast<RankedTensorType>(value.getType());
  if (!line) return tt::SplatOp::create(b, loc, type, value);
  auto encoding = llvm::cast<ttg::DistributedEncoding>(type.getEncoding());
  line = line.cloneWithEncoding(ttg::SliceEncodingAttr::get(b.getContext(), axis, encoding));
  value = ttg::ConvertLayoutOp::create(b, loc, line, value);
  llvm::SmallVector<int64_t> shape(line.getShape());
  shape.insert(shape.begin() + axis, 1);
  value = tt::ExpandDimsOp::create(b, loc, type.clone(shape), value, axis);
  return tt::BroadcastOp::create(b, loc, type, value);
}

bool IsZero(Value value) { return mlir::matchPattern(value, mlir::m_AnyZeroFloat()); }

// Gives the loop that takes the place of `loop`, which has one more value to carry.
ForOp Rewrite(ForOp loop, Accumulation sum, llvm::ArrayRef<BitGroup> groups) {
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
  Value all = Reduce(b, sum.reduce, wide.getResults().back(), sum.reduce.getAxis());
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
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) { loops.push_back(loop); });
    for (ForOp loop : loops)
      for (unsigned i = 0, end = loop.getNumRegionIterArgs(); i < end; ++i) loop = Visit(loop, i);
  }

  ForOp Visit(ForOp loop, unsigned index) {
    std::optional<Accumulation> sum = FindAccumulation(loop, index);
    if (!sum) return loop;
    auto groups = GroupsOf(ttg::ToLinearLayout(sum->reduce.InputType()), sum->reduce.getAxis());
    bool crosses_threads = groups && llvm::any_of(*groups, [](const BitGroup& group) { return !group.in_thread; });
    return crosses_threads ? Rewrite(loop, *sum, *groups) : loop;
  }
};

}  // namespace
}  // namespace tritond::compiler
