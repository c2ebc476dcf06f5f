// SPDX-License-Identifier: Apache-2.0
// Computes on the small tensor before it is spread over the large one:
//
//   %a = tt.splat %x : f32 -> tensor<128xf32>                   %s = arith.addf %x, %y : f32
//   %b = tt.splat %y : f32 -> tensor<128xf32>              ->   %c = tt.splat %s : f32 -> tensor<128xf32>
//   %c = arith.addf %a, %b : tensor<128xf32>
//
//   %a = tt.broadcast %x : tensor<128x1xf32> -> tensor<128x64xf32>
//   %b = tt.splat %y : f32 -> tensor<128x64xf32>
//   %c = arith.addf %a, %b : tensor<128x64xf32>
//   ->
//   %b = tt.splat %y : f32 -> tensor<128x1xf32>
//   %s = arith.addf %x, %b : tensor<128x1xf32>
//   %c = tt.broadcast %s : tensor<128x1xf32> -> tensor<128x64xf32>
//
// Constants with equal elements count as splats. Several broadcasts may meet if their sources have one shape. Only
// operations without effects move, and only those whose scalar form exists: inline assembly that packs elements stays.
// So do loads, which then read each address once.
#include "compiler/ir/operands.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_REORDERBROADCASTPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

bool IsSplat(Value value) { return value.getDefiningOp<tt::SplatOp>() || SplatConstant(value); }

bool MovesThrough(Operation* op) {
  if (auto load = llvm::dyn_cast<tt::LoadOp>(op))
    return !load.getIsVolatile() && llvm::isa<RankedTensorType>(load.getType());
  if (!op->hasTrait<mlir::OpTrait::Elementwise>() || op->getNumRegions() || op->getNumOperands() == 0 ||
      op->getNumResults() != 1 || !mlir::isMemoryEffectFree(op) ||
      !llvm::isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (auto assembly = llvm::dyn_cast<tt::ElementwiseInlineAsmOp>(op)) return assembly.getPackedElement() == 1;
  return true;
}

// Contiguity, divisibility, constancy hints speak of the large tensor.
void CopyAttributes(Operation* from, Operation* to) {
  for (mlir::NamedAttribute attribute : from->getAttrs())
    if (!attribute.getName().strref().starts_with("tt.")) to->setAttr(attribute.getName(), attribute.getValue());
}

Operation* CreateLike(mlir::PatternRewriter& rewriter, Operation* op, mlir::ValueRange operands, mlir::Type result) {
  Operation* made = rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands, result);
  CopyAttributes(op, made);
  return made;
}

// The scalar that `value` is made of.
Value ScalarOf(mlir::PatternRewriter& rewriter, Value value) {
  if (auto splat = value.getDefiningOp<tt::SplatOp>()) return splat.getSrc();
  return mlir::arith::ConstantOp::create(rewriter, value.getLoc(), SplatConstant(value));
}

struct MoveSplat : public mlir::RewritePattern {
  explicit MoveSplat(mlir::MLIRContext* context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  mlir::LogicalResult matchAndRewrite(Operation* op, mlir::PatternRewriter& rewriter) const final {
    if (!MovesThrough(op)) return mlir::failure();
    for (Value operand : op->getOperands())
      if (llvm::isa<RankedTensorType>(operand.getType()) ? !IsSplat(operand) : !llvm::isa<mlir::arith::SelectOp>(op))
        return mlir::failure();
    llvm::SmallVector<Value> scalars;
    for (Value operand : op->getOperands())
      scalars.push_back(llvm::isa<RankedTensorType>(operand.getType()) ? ScalarOf(rewriter, operand) : operand);
    mlir::Type type = op->getResult(0).getType();
    Operation* scalar = CreateLike(rewriter, op, scalars, tt::ElementOf(type));
    rewriter.replaceOpWithNewOp<tt::SplatOp>(op, type, scalar->getResult(0));
    return mlir::success();
  }
};

struct MoveBroadcast : public mlir::RewritePattern {
  explicit MoveBroadcast(mlir::MLIRContext* context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  // The one shape from which all broadcast operands come; null if there is none.
  static RankedTensorType SourceOf(Operation* op) {
    RankedTensorType source;
    for (Value operand : op->getOperands()) {
      if (!llvm::isa<RankedTensorType>(operand.getType())) {
        if (llvm::isa<mlir::arith::SelectOp>(op)) continue;
        return {};
      }
      if (IsSplat(operand)) continue;
      auto broadcast = operand.getDefiningOp<tt::BroadcastOp>();
      if (!broadcast) return {};
      auto type = llvm::cast<RankedTensorType>(broadcast.getSrc().getType());
      if (source && (source.getShape() != type.getShape() || source.getEncoding() != type.getEncoding())) return {};
      source = type;
    }
    return source;
  }

  mlir::LogicalResult matchAndRewrite(Operation* op, mlir::PatternRewriter& rewriter) const final {
    if (!MovesThrough(op)) return mlir::failure();
    RankedTensorType source = SourceOf(op);
    if (!source) return mlir::failure();
    llvm::SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (!llvm::isa<RankedTensorType>(operand.getType())) {
        operands.push_back(operand);
      } else if (auto broadcast = operand.getDefiningOp<tt::BroadcastOp>()) {
        operands.push_back(broadcast.getSrc());
      } else {
        mlir::Type type = source.clone(tt::ElementOf(operand.getType()));
        operands.push_back(tt::SplatOp::create(rewriter, op->getLoc(), type, ScalarOf(rewriter, operand)));
      }
    }
    mlir::Type type = op->getResult(0).getType();
    Operation* small = CreateLike(rewriter, op, operands, source.clone(tt::ElementOf(type)));
    rewriter.replaceOpWithNewOp<tt::BroadcastOp>(op, type, small->getResult(0));
    return mlir::success();
  }
};

class ReorderBroadcastPass : public impl::ReorderBroadcastPassBase<ReorderBroadcastPass> {
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<MoveSplat, MoveBroadcast>(&getContext());
    for (auto name : {tt::BroadcastOp::getOperationName(), tt::ExpandDimsOp::getOperationName()})
      mlir::RegisteredOperationName::lookup(name, &getContext())->getCanonicalizationPatterns(patterns, &getContext());
    if (failed(mlir::applyPatternsGreedily(getOperation(), std::move(patterns)))) signalPassFailure();
  }
};

}  // namespace
}  // namespace tritond::compiler
