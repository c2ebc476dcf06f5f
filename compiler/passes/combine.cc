// SPDX-License-Identifier: Apache-2.0
// Merges chains of operations that the frontend emits apart:
//
//   addptr(addptr(%p, %i), %j)                      ->  addptr(%p, addi(%i, %j))         one pointer computation
//   dot(%a, %b, 0) + %d                             ->  dot(%a, %b, %d)                  one accumulator
//   select(%c, load(%p, splat %c, _), %o)           ->  load(%p, splat %c, %o)           no select
//   reduce<add, axis 1>(broadcast x * broadcast y)  ->  dot(x, y, 0)                     a matrix product, spelled out
//   reduce(reshape %x)                              ->  reduce(reshape %x allow_reorder) the order does not matter
//   reshape(descriptor_load : 1x8x16) : 8x16        ->  descriptor_load : 8x16           no reshape
//   trans(extf %x)                                  ->  extf(trans %x)                   buffers are read transposed
//   for %i = 0 to extui %c { … }                    ->  if %c { … }                      no second iteration
//
// What keeps each of them true:
// - Offsets are sign-extended to 64 bits before they are added to a pointer. The sum of two 32-bit offsets may wrap, so
//   they merge only when they are 64 bits wide, or constants whose sum fits.
// - The dot must have no other user, must not accumulate in reduced precision, and must stay in its loop.
// - The load must have no other user, and must not move across a write.
// - A reordering reshape must not be combined with another operand, whose elements would stay in their order.
// - Conversions of numbers have no other user.
// - A load by descriptor drops leading dimensions of one element only, and has no other user.
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_COMBINEPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::RankedTensorType;
using mlir::Value;

// The products of fewer rows or columns than this are not worth a dot.
constexpr int64_t kMinDotSize = 16;

std::optional<llvm::APInt> SplatInteger(Value value) {
  mlir::Attribute constant;
  if (!mlir::matchPattern(value, mlir::m_Constant(&constant))) return std::nullopt;
  if (auto splat = llvm::dyn_cast<mlir::SplatElementsAttr>(constant)) constant = splat.getSplatValue<mlir::Attribute>();
  auto integer = llvm::dyn_cast<mlir::IntegerAttr>(constant);
  return integer ? std::optional<llvm::APInt>(integer.getValue()) : std::nullopt;
}

bool IsZero(Value value) {
  return mlir::matchPattern(value, mlir::m_Zero()) || mlir::matchPattern(value, mlir::m_AnyZeroFloat());
}

bool SumIsExact(Value a, Value b) {
  if (tt::ElementOf(a.getType()).isInteger(64)) return true;
  std::optional<llvm::APInt> x = SplatInteger(a), y = SplatInteger(b);
  if (!x || !y) return false;
  bool overflow = false;
  (void)x->sadd_ov(*y, overflow);
  return !overflow;
}

LogicalResult CombineAddPtr(tt::AddPtrOp outer, PatternRewriter& rewriter) {
  auto inner = outer.getPtr().getDefiningOp<tt::AddPtrOp>();
  if (!inner || inner.getOffset().getType() != outer.getOffset().getType() ||
      !SumIsExact(inner.getOffset(), outer.getOffset()))
    return mlir::failure();
  Value sum = arith::AddIOp::create(rewriter, outer.getLoc(), inner.getOffset(), outer.getOffset());
  mlir::DictionaryAttr hints = outer->getDiscardableAttrDictionary();
  auto merged = rewriter.replaceOpWithNewOp<tt::AddPtrOp>(outer, outer.getType(), inner.getPtr(), sum);
  merged->setDiscardableAttrs(hints);
  return mlir::success();
}

bool AccumulatesExactly(tt::DotOp dot) { return dot.getMaxNumImpreciseAcc() == 0; }
bool AccumulatesExactly(tt::DotScaledOp) { return true; }

template <typename Dot>
bool IsMergeable(Dot dot, bool is_float) {
  return dot && dot->hasOneUse() && IsZero(dot.getC()) && (!is_float || AccumulatesExactly(dot));
}

template <typename Add, typename Dot>
LogicalResult CombineDotAdd(Add add, PatternRewriter& rewriter) {
  constexpr bool kIsFloat = std::is_same_v<Add, arith::AddFOp>;
  auto lhs = add.getLhs().template getDefiningOp<Dot>(), rhs = add.getRhs().template getDefiningOp<Dot>();
  bool left = IsMergeable(lhs, kIsFloat);
  if (!left && !IsMergeable(rhs, kIsFloat)) return mlir::failure();
  Dot dot = left ? lhs : rhs;
  if (dot->getBlock() != add->getBlock()) return mlir::failure();
  Value accumulator = left ? add.getRhs() : add.getLhs();
  auto merged = llvm::cast<Dot>(rewriter.clone(*dot));
  rewriter.modifyOpInPlace(merged, [&] { merged.getCMutable().assign(accumulator); });
  rewriter.replaceOp(add, merged);
  return mlir::success();
}

bool IsReadOnlyBetween(mlir::Operation* first, mlir::Operation* last) {
  for (mlir::Operation* op = first->getNextNode(); op != last; op = op->getNextNode()) {
    if (mlir::isMemoryEffectFree(op)) continue;
    auto effects = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(op);
    if (!effects || !effects.onlyHasEffect<mlir::MemoryEffects::Read>()) return false;
  }
  return true;
}

LogicalResult CombineSelectMaskedLoad(arith::SelectOp select, PatternRewriter& rewriter) {
  auto load = select.getTrueValue().getDefiningOp<tt::LoadOp>();
  if (!load || !load->hasOneUse() || load.getIsVolatile() || !load.getMask()) return mlir::failure();
  Value condition = select.getCondition();
  auto splat = load.getMask().getDefiningOp<tt::SplatOp>();
  if (load.getMask() != condition && !(splat && splat.getSrc() == condition)) return mlir::failure();
  if (load->getBlock() != select->getBlock() || !IsReadOnlyBetween(load, select)) return mlir::failure();
  auto merged = tt::LoadOp::create(rewriter, load.getLoc(), load.getPtr(), load.getMask(), select.getFalseValue(),
                                   load.getCache(), load.getEvict());
  merged->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  rewriter.replaceOp(select, merged);
  rewriter.eraseOp(load);
  return mlir::success();
}

// For x[m, k] broadcast along `dim` of [m, k, n]: x itself; null for anything else.
Value MatrixBroadcastAlong(Value value, int dim) {
  auto broadcast = value.getDefiningOp<tt::BroadcastOp>();
  auto expand = broadcast ? broadcast.getSrc().getDefiningOp<tt::ExpandDimsOp>() : tt::ExpandDimsOp();
  if (!expand || static_cast<int>(expand.getAxis()) != dim) return {};
  auto from = llvm::cast<RankedTensorType>(expand.getSrc().getType());
  auto to = llvm::cast<RankedTensorType>(broadcast.getType());
  llvm::SmallVector<int64_t> rest(to.getShape());
  rest.erase(rest.begin() + dim);
  return from.getShape() == llvm::ArrayRef(rest) ? expand.getSrc() : Value();
}

LogicalResult CombineMulReduce(tt::ReduceOp reduce, PatternRewriter& rewriter) {
  if (reduce.getSrcs().size() != 1 || reduce.InputType().getRank() != 3 || reduce.getAxis() != 1 ||
      !reduce.InputType().getElementType().isF32() || reduce.InputType().getEncoding() ||
      !llvm::isa_and_present<arith::AddFOp>(reduce.SingleCombiner()))
    return mlir::failure();
  llvm::ArrayRef<int64_t> shape = reduce.InputType().getShape();
  auto product = reduce.getSrcs()[0].getDefiningOp<arith::MulFOp>();
  if (!product || shape[0] < kMinDotSize || shape[2] < kMinDotSize) return mlir::failure();
  Value a = MatrixBroadcastAlong(product.getLhs(), 2), b = MatrixBroadcastAlong(product.getRhs(), 0);
  if (!a || !b) {
    a = MatrixBroadcastAlong(product.getRhs(), 2);
    b = MatrixBroadcastAlong(product.getLhs(), 0);
  }
  if (!a || !b) return mlir::failure();
  auto type = llvm::cast<RankedTensorType>(reduce.getResult()[0].getType());
  Value zero = arith::ConstantOp::create(rewriter, reduce.getLoc(),
                                         mlir::DenseElementsAttr::get(type, rewriter.getF32FloatAttr(0).getValue()));
  rewriter.replaceOpWithNewOp<tt::DotOp>(reduce, type, a, b, zero, tt::InputPrecision::kIeee, 0);
  return mlir::success();
}

LogicalResult ReorderReshape(tt::ReshapeOp reshape, PatternRewriter& rewriter) {
  if (reshape.getAllowReorder() || reshape.getType().getRank() != 1 || reshape->use_empty()) return mlir::failure();
  bool any_order = llvm::all_of(reshape->getUsers(), [](mlir::Operation* user) {
    return llvm::isa<tt::ReduceOp, tt::HistogramOp>(user) && user->getNumOperands() == 1;
  });
  if (!any_order) return mlir::failure();
  rewriter.modifyOpInPlace(reshape, [&] { reshape.setAllowReorder(true); });
  return mlir::success();
}

// Whether `to` is `from` without some leading ones.
bool DropsLeadingOnes(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  if (to.empty() || to.size() >= from.size()) return false;
  size_t dropped = from.size() - to.size();
  return from.drop_front(dropped) == to &&
         llvm::all_of(from.take_front(dropped), [](int64_t size) { return size == 1; });
}

LogicalResult CombineReshapeDescriptorLoad(tt::ReshapeOp reshape, PatternRewriter& rewriter) {
  auto load = reshape.getSrc().getDefiningOp<tt::DescriptorLoadOp>();
  if (!load || !load->hasOneUse()) return mlir::failure();
  auto from = llvm::cast<RankedTensorType>(load.getType());
  if (from.getEncoding() || !DropsLeadingOnes(from.getShape(), reshape.getType().getShape())) return mlir::failure();
  rewriter.modifyOpInPlace(load, [&] { load.getResult().setType(reshape.getType()); });
  rewriter.replaceOp(reshape, load);
  return mlir::success();
}

// What is loaded comes from a buffer, which can be read in another order; what is converted does not.
LogicalResult TransposeBeforeCast(tt::TransOp trans, PatternRewriter& rewriter) {
  mlir::Operation* cast = trans.getSrc().getDefiningOp();
  if (!cast || !llvm::isa<mlir::CastOpInterface>(cast) || !cast->hasTrait<mlir::OpTrait::Elementwise>() ||
      cast->getNumOperands() != 1 || !cast->hasOneUse())
    return mlir::failure();
  auto from = llvm::cast<RankedTensorType>(cast->getOperand(0).getType());
  RankedTensorType to = trans.getType();
  // Fewer bits change places.
  if (from.getEncoding() || from.getElementTypeBitWidth() >= to.getElementTypeBitWidth()) return mlir::failure();
  Value first = tt::TransOp::create(rewriter, trans.getLoc(), to.clone(from.getElementType()), cast->getOperand(0),
                                    trans.getOrder());
  mlir::IRMapping copies;
  copies.map(cast->getOperand(0), first);
  mlir::Operation* last = rewriter.clone(*cast, copies);
  last->getResult(0).setType(to);
  rewriter.replaceOp(trans, last);
  return mlir::success();
}

LogicalResult BranchInsteadOfLoop(mlir::scf::ForOp loop, PatternRewriter& b) {
  auto count = loop.getUpperBound().getDefiningOp<arith::ExtUIOp>();
  if (!count || !count.getIn().getType().isInteger(1)) return mlir::failure();
  if (!mlir::isZeroInteger(loop.getLowerBound()) || mlir::getConstantIntValue(loop.getStep()).value_or(0) < 1)
    return mlir::failure();
  auto branch = mlir::scf::IfOp::create(b, loop.getLoc(), loop.getResultTypes(), count.getIn(), /*addThenBlock=*/true,
                                        /*addElseBlock=*/loop.getNumResults() > 0);
  llvm::SmallVector<Value> arguments{loop.getLowerBound()};
  llvm::append_range(arguments, loop.getInitArgs());
  if (loop.getNumResults() > 0) {
    b.setInsertionPointToStart(branch.elseBlock());
    mlir::scf::YieldOp::create(b, loop.getLoc(), loop.getInitArgs());
  }
  b.mergeBlocks(loop.getBody(), branch.thenBlock(), arguments);
  b.replaceOp(loop, branch.getResults());
  return mlir::success();
}

class CombinePass : public impl::CombinePassBase<CombinePass> {
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add(CombineAddPtr).add(CombineSelectMaskedLoad).add(CombineMulReduce).add(ReorderReshape);
    patterns.add(CombineReshapeDescriptorLoad).add(TransposeBeforeCast).add(BranchInsteadOfLoop);
    patterns.add(CombineDotAdd<arith::AddFOp, tt::DotOp>).add(CombineDotAdd<arith::AddIOp, tt::DotOp>);
    patterns.add(CombineDotAdd<arith::AddFOp, tt::DotScaledOp>);
    if (failed(mlir::applyPatternsGreedily(getOperation(), std::move(patterns)))) signalPassFailure();
  }
};

}  // namespace
}  // namespace tritond::compiler
