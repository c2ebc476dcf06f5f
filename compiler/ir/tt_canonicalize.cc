// SPDX-License-Identifier: Apache-2.0
// Canonicalisation of tt operations: shape operations move towards the splat that they see, masks that are constant
// disappear.
#include "compiler/ir/tt_dialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace tritond::tt {
namespace {

using mlir::LogicalResult;
using mlir::PatternRewriter;

// What a mask is known to be everywhere.
std::optional<bool> ConstantMask(mlir::Value mask) {
  mlir::Attribute value;
  if (!mask || !mlir::matchPattern(mask, mlir::m_Constant(&value))) return std::nullopt;
  if (auto splat = llvm::dyn_cast<mlir::SplatElementsAttr>(value)) return splat.getSplatValue<bool>();
  if (auto scalar = llvm::dyn_cast<mlir::BoolAttr>(value)) return scalar.getValue();
  return std::nullopt;
}

// load(p, true, o) -> load(p);  load(p, false, o) -> o
LogicalResult DropConstantLoadMask(LoadOp load, PatternRewriter& rewriter) {
  std::optional<bool> mask = ConstantMask(load.getMask());
  if (!mask || load.getIsVolatile()) return mlir::failure();
  if (*mask) {
    auto plain = LoadOp::create(rewriter, load.getLoc(), load.getPtr(), mlir::Value(), mlir::Value(), load.getCache(),
                                load.getEvict());
    plain->setDiscardableAttrs(load->getDiscardableAttrDictionary());
    rewriter.replaceOp(load, plain);
    return mlir::success();
  }
  if (!load.getOther()) return mlir::failure();
  rewriter.replaceOp(load, load.getOther());
  return mlir::success();
}

// store(p, v, true) -> store(p, v);  store(p, v, false) -> nothing
LogicalResult DropConstantStoreMask(StoreOp store, PatternRewriter& rewriter) {
  std::optional<bool> mask = ConstantMask(store.getMask());
  if (!mask) return mlir::failure();
  if (*mask)
    rewriter.modifyOpInPlace(store, [&] { store.getMaskMutable().clear(); });
  else
    rewriter.eraseOp(store);
  return mlir::success();
}

// expand_dims, broadcast or reshape of splat(x) -> splat(x)
template <typename Op>
LogicalResult ShapeOfSplat(Op op, PatternRewriter& rewriter) {
  auto splat = op.getSrc().template getDefiningOp<SplatOp>();
  if (!splat) return mlir::failure();
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
  return mlir::success();
}

// broadcast(broadcast(x)) -> broadcast(x)
LogicalResult BroadcastOfBroadcast(BroadcastOp op, PatternRewriter& rewriter) {
  auto inner = op.getSrc().getDefiningOp<BroadcastOp>();
  if (!inner) return mlir::failure();
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getSrc());
  return mlir::success();
}

// reshape(reshape(x)) -> reshape(x); a reordering anywhere lets the whole reorder
LogicalResult ReshapeOfReshape(ReshapeOp op, PatternRewriter& rewriter) {
  auto inner = op.getSrc().getDefiningOp<ReshapeOp>();
  if (!inner || inner.getEfficientLayout() || op.getEfficientLayout() || op.getType().getEncoding())
    return mlir::failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getSrc(),
                                         op.getAllowReorder() || inner.getAllowReorder(), false);
  return mlir::success();
}

}  // namespace

void LoadOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  patterns.add(DropConstantLoadMask);
}
void StoreOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  patterns.add(DropConstantStoreMask);
}
void ExpandDimsOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  patterns.add(ShapeOfSplat<ExpandDimsOp>);
}
void BroadcastOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  patterns.add(ShapeOfSplat<BroadcastOp>).add(BroadcastOfBroadcast);
}
void ReshapeOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  patterns.add(ShapeOfSplat<ReshapeOp>).add(ReshapeOfReshape);
}

}  // namespace tritond::tt
