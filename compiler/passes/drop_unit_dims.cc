// SPDX-License-Identifier: Apache-2.0
// Computes without dimensions of one element where reshapes drop them later:
//
//   %v = tt.load %p : tensor<1x128x64x!tt.ptr<f16>>             %q = tt.reshape %p : tensor<128x64x!tt.ptr<f16>>
//   %m = tt.reshape %v : tensor<128x64xf16>             ->      %v = tt.load %q : tensor<128x64x!tt.ptr<f16>>
//   %d = tt.dot %m, %n, %c : tensor<128x32xf32>                 %d = tt.dot %v, %n, %c : tensor<128x32xf32>
//
// So a product of a batch is a plain product: a reshape between a buffer and its dot would cost a copy. The reshapes
// move up through loads, operations on elements, reductions and what loops carry. They end at splats, at
// `tt.expand_dims` that adds the dimension, and at reshapes that do. A store drops the dimensions that a reshape has
// added to its value.
//
// Indices are computed twice where something else uses them. Other values get their dimensions back for other users.
// Accesses of blocks that `tt.block_mask` names stay: copies of blocks have their shape.
#include "compiler/ir/ttg_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_DROPUNITDIMSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::PatternRewriter;
using mlir::RankedTensorType;
using mlir::Value;
using Shape = llvm::ArrayRef<int64_t>;
using Dims = llvm::SmallVector<int>;

Shape ShapeOf(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()).getShape(); }

// The dimensions of one element that `from` has and `to` lacks; nothing where that is not the difference.
std::optional<Dims> DroppedDims(Shape from, Shape to) {
  if (from.size() <= to.size() || to.empty()) return std::nullopt;
  Dims dropped;
  size_t kept = 0;
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (kept < to.size() && size == to[kept]) {
      ++kept;
    } else if (size == 1) {
      dropped.push_back(static_cast<int>(dim));
    } else {
      return std::nullopt;
    }
  }
  return kept == to.size() ? std::optional(dropped) : std::nullopt;
}

std::optional<Dims> DroppedDims(tt::ReshapeOp reshape) {
  if (reshape.getEfficientLayout() || reshape.getType().getEncoding()) return std::nullopt;
  return DroppedDims(ShapeOf(reshape.getSrc()), reshape.getType().getShape());
}

// A reshape that adds dimensions of one element.
tt::ReshapeOp Addition(Value value) {
  auto reshape = value.getDefiningOp<tt::ReshapeOp>();
  const bool adds = reshape && !reshape.getEfficientLayout() && !reshape.getAllowReorder() &&
                    DroppedDims(reshape.getType().getShape(), ShapeOf(reshape.getSrc()));
  return adds ? reshape : tt::ReshapeOp();
}

Value Reshaped(PatternRewriter& rewriter, Value value, Shape shape) {
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getShape() == shape) return value;
  return tt::ReshapeOp::create(rewriter, value.getLoc(), type.clone(shape), value, false, false);
}

// `shape` without `dims`.
llvm::SmallVector<int64_t> Without(Shape shape, const Dims& dims) {
  llvm::SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(dims, static_cast<int>(dim))) kept.push_back(size);
  return kept;
}

bool IsOnElements(Operation* op) {
  if (!op->hasTrait<mlir::OpTrait::Elementwise>() || op->getNumRegions() || op->getNumOperands() == 0 ||
      op->getNumResults() != 1 || !mlir::isMemoryEffectFree(op))
    return false;
  auto assembly = llvm::dyn_cast<tt::ElementwiseInlineAsmOp>(op);
  return !assembly || assembly.getPackedElement() == 1;
}

bool NamesBlock(Value mask) { return mask && mask.getDefiningOp<tt::BlockMaskOp>(); }

bool IsOfPointers(Operation* access) { return llvm::isa<RankedTensorType>(access->getOperand(0).getType()); }

// `op` with operands that lack `dims`, and so its result. Hints on contents speak of the dimensions that there were.
Operation* CloneWithout(PatternRewriter& rewriter, Operation* op, const Dims& dims) {
  mlir::IRMapping operands;
  for (Value operand : op->getOperands())
    if (llvm::isa<RankedTensorType>(operand.getType()))
      operands.map(operand, Reshaped(rewriter, operand, Without(ShapeOf(operand), dims)));
  Operation* made = rewriter.clone(*op, operands);
  for (mlir::NamedAttribute hint : llvm::to_vector(op->getDiscardableAttrs()))
    if (hint.getName().strref().starts_with("tt.")) made->removeDiscardableAttr(hint.getName());
  return made;
}

// Gives `op`'s users the elements of `made`, in the shape that they had.
void ReplaceByReshaped(PatternRewriter& rewriter, Operation* op, Value made) {
  rewriter.replaceOp(op, Reshaped(rewriter, made, ShapeOf(op->getResult(0))));
}

struct MoveDropUp : public mlir::OpRewritePattern<tt::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(tt::ReshapeOp drop, PatternRewriter& rewriter) const final {
    std::optional<Dims> dims = DroppedDims(drop);
    if (!dims) return mlir::failure();
    if (CarryWithout(drop, rewriter)) return mlir::success();
    Operation* op = drop.getSrc().getDefiningOp();
    if (!op) return mlir::failure();
    mlir::OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    if (auto expand = llvm::dyn_cast<tt::ExpandDimsOp>(op)) return Expanded(drop, expand, *dims, rewriter);
    if (auto reduce = llvm::dyn_cast<tt::ReduceOp>(op)) return Reduced(reduce, *dims, rewriter);
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    if (load && (load.getIsVolatile() || !IsOfPointers(load) || NamesBlock(load.getMask()))) return mlir::failure();
    if (!load && !llvm::isa<tt::BroadcastOp>(op) && !IsOnElements(op)) return mlir::failure();
    Operation* made = CloneWithout(rewriter, op, *dims);
    made->getResult(0).setType(drop.getType());
    if (load || !tt::ElementOf(drop.getType()).isInteger() || op->getResult(0).hasOneUse())
      ReplaceByReshaped(rewriter, op, made->getResult(0));
    else
      rewriter.replaceOp(drop, made);
    return mlir::success();
  }

  // What is dropped may be what has been added.
  static mlir::LogicalResult Expanded(tt::ReshapeOp drop, tt::ExpandDimsOp expand, const Dims& dims,
                                      PatternRewriter& rewriter) {
    const int axis = static_cast<int>(expand.getAxis());
    if (llvm::is_contained(dims, axis)) {
      rewriter.replaceOp(drop, Reshaped(rewriter, expand.getSrc(), drop.getType().getShape()));
      return mlir::success();
    }
    Dims in_source;
    for (int dim : dims) in_source.push_back(dim > axis ? dim - 1 : dim);
    const auto before = llvm::count_if(dims, [&](int dim) { return dim < axis; });
    Value source = Reshaped(rewriter, expand.getSrc(), Without(ShapeOf(expand.getSrc()), in_source));
    rewriter.replaceOpWithNewOp<tt::ExpandDimsOp>(drop, drop.getType(), source, static_cast<int32_t>(axis - before));
    return mlir::success();
  }

  static mlir::LogicalResult Reduced(tt::ReduceOp reduce, const Dims& dims, PatternRewriter& rewriter) {
    if (reduce->getNumOperands() != 1) return mlir::failure();
    const int axis = static_cast<int>(reduce.getAxis());
    Dims in_source;
    for (int dim : dims) in_source.push_back(dim < axis ? dim : dim + 1);
    auto made = llvm::cast<tt::ReduceOp>(CloneWithout(rewriter, reduce, in_source));
    made.setAxis(static_cast<int32_t>(axis - llvm::count_if(in_source, [&](int dim) { return dim < axis; })));
    auto type = llvm::cast<RankedTensorType>(reduce->getResult(0).getType());
    made->getResult(0).setType(type.clone(Without(type.getShape(), dims)));
    ReplaceByReshaped(rewriter, reduce, made->getResult(0));
    return mlir::success();
  }

  // Where a loop carries the source of `drop`, or yields it, it carries what `drop` makes of it.
  static bool CarryWithout(tt::ReshapeOp drop, PatternRewriter& rewriter) {
    Value source = drop.getSrc();
    mlir::scf::ForOp loop = source.getDefiningOp<mlir::scf::ForOp>();
    unsigned i = 0;
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(source)) {
      loop = llvm::dyn_cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop || argument.getArgNumber() == 0) return false;
      i = argument.getArgNumber() - 1;
    } else if (loop) {
      i = llvm::cast<mlir::OpResult>(source).getResultNumber();
    } else {
      return false;
    }
    const Shape shape = ShapeOf(source), kept = drop.getType().getShape();
    mlir::OpBuilder::InsertionGuard guard(rewriter);
    auto retype = [&](Value value) {
      value.setType(drop.getType());
      auto added = llvm::cast<tt::ReshapeOp>(Reshaped(rewriter, value, shape).getDefiningOp());
      rewriter.replaceAllUsesExcept(value, added.getResult(), added);
    };
    rewriter.modifyOpInPlace(loop, [&] {
      rewriter.setInsertionPoint(loop);
      loop.getInitArgsMutable()[i].assign(Reshaped(rewriter, loop.getInitArgs()[i], kept));
      rewriter.setInsertionPointToStart(loop.getBody());
      retype(loop.getRegionIterArg(i));
      rewriter.setInsertionPointAfter(loop);
      retype(loop.getResult(i));
    });
    Operation* yield = loop.getBody()->getTerminator();
    rewriter.setInsertionPoint(yield);
    Value yielded = Reshaped(rewriter, yield->getOperand(i), kept);
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(i, yielded); });
    return true;
  }
};

// The reshape that adds dimensions to what `value` is computed of; null if there is none.
tt::ReshapeOp AdditionAbove(Value value) {
  if (tt::ReshapeOp reshape = Addition(value)) return reshape;
  Operation* op = value.getDefiningOp();
  if (!op || !IsOnElements(op)) return {};
  for (Value operand : op->getOperands())
    if (tt::ReshapeOp reshape = AdditionAbove(operand)) return reshape;
  return {};
}

struct StoreWithout : public mlir::OpRewritePattern<tt::StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(tt::StoreOp store, PatternRewriter& rewriter) const final {
    if (!IsOfPointers(store) || NamesBlock(store.getMask())) return mlir::failure();
    tt::ReshapeOp added = AdditionAbove(store.getValue());
    if (!added) return mlir::failure();
    CloneWithout(rewriter, store, *DroppedDims(added.getType().getShape(), ShapeOf(added.getSrc())));
    rewriter.eraseOp(store);
    return mlir::success();
  }
};

class DropUnitDimsPass : public impl::DropUnitDimsPassBase<DropUnitDimsPass> {
  void runOnOperation() override {
    const auto drops = [](tt::ReshapeOp reshape) {
      return DroppedDims(reshape) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
    };
    if (!getOperation().walk(drops).wasInterrupted()) return;
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<MoveDropUp, StoreWithout>(&getContext());
    tt::ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(mlir::applyPatternsGreedily(getOperation(), std::move(patterns)))) signalPassFailure();
  }
};

}  // namespace
}  // namespace tritond::compiler
