// SPDX-License-Identifier: Apache-2.0
// Replaces block pointers (tt.make_tensor_ptr, tt.advance; Triton up to 3.7) by what they are made of. These are the
// base, and for each dimension the size, stride and offset as i64. Where one is accessed, its parts become a tensor of
// pointers and, for the dimensions in `boundaryCheck`, a mask:
//
//   %p = tt.make_tensor_ptr %base, [%m], [%s], [%o] {order = array<i32: 0>} : <tensor<128xf32>>
//   %q = tt.advance %p, [%d] : <tensor<128xf32>>
//   %v = tt.load %q {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<128xf32>>
// becomes
//   %o1 = arith.addi (extsi %o), (extsi %d) : i64
//   %i  = make_range 0, 128                                : tensor<128xi32>
//   %b  = tt.addptr %base, %o1 * %s                        : !tt.ptr<f32>, i64
//   %pt = tt.addptr (splat %b), (extsi %i) * splat %s      : tensor<128x!tt.ptr<f32>>, tensor<128xi64>
//   %k  = %i >= -%o1 and %i < %m - %o1                     : tensor<128xi1>; the scalars are cut to 0 … 128
//   %v  = tt.load %pt, %k, 0.0                             : tensor<128x!tt.ptr<f32>>
//
// A block pointer that goes through a loop, a branch or a call goes through as its parts; canonicalisation then drops
// those that never change. An advance moves the offsets alone. `order` is a hint that coalescing does not need.
#include "compiler/encoding/block_access.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_REWRITETENSORPOINTERPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::ConversionPatternRewriter;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

RankedTensorType BlockOf(Type type) {
  auto ptr = llvm::dyn_cast<tt::PtrType>(type);
  return ptr ? llvm::dyn_cast<RankedTensorType>(ptr.getPointeeType()) : RankedTensorType();
}

bool IsBlockPointer(Type type) { return BlockOf(type) != nullptr; }

// The converted type: base, then sizes, strides and offsets.
std::optional<LogicalResult> PartsOf(tt::PtrType type, llvm::SmallVectorImpl<Type>& parts) {
  if (!IsBlockPointer(type)) return std::nullopt;
  parts.push_back(tt::ElementPtrOf(type));
  parts.append(3 * BlockOf(type).getRank(), mlir::IntegerType::get(type.getContext(), 64));
  return mlir::success();
}

BlockAccess AccessOf(mlir::ValueRange parts, RankedTensorType block) {
  size_t rank = block.getRank();
  auto list = [&](size_t i) { return llvm::to_vector(parts.slice(1 + i * rank, rank)); };
  BlockAccess access{parts[0], list(0), list(1), {}};
  for (auto [dim, offset] : llvm::enumerate(list(2))) access.indices.push_back({offset, block.getDimSize(dim)});
  return access;
}

// What a load yields outside the tensor: zeros, or NaNs for floats if `padding` says so.
Value PaddingTensor(mlir::OpBuilder& b, mlir::Location loc, RankedTensorType type, tt::PaddingOption padding) {
  Type element = type.getElementType();
  mlir::TypedAttr value = b.getZeroAttr(element);
  auto float_type = llvm::dyn_cast<mlir::FloatType>(element);
  if (float_type && padding == tt::PaddingOption::kNan)
    value = b.getFloatAttr(element, llvm::APFloat::getNaN(float_type.getFloatSemantics()));
  if (value) return mlir::arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, value));
  // Pointers have no constants.
  Value zero = mlir::arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  return tt::SplatOp::create(b, loc, type, tt::IntToPtrOp::create(b, loc, element, zero));
}

struct ConvertMake : public mlir::OpConversionPattern<tt::MakeTensorPtrOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::MakeTensorPtrOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    llvm::SmallVector<Value> parts{OnlyPart(adaptor.getBase())};
    parts.append(OnlyParts(adaptor.getShape()));
    parts.append(OnlyParts(adaptor.getStrides()));
    parts.append(ExtendToI64(rewriter, op.getLoc(), OnlyParts(adaptor.getOffsets())));
    rewriter.replaceOpWithMultiple(op, {parts});
    return mlir::success();
  }
};

struct ConvertAdvance : public mlir::OpConversionPattern<tt::AdvanceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::AdvanceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    llvm::SmallVector<Value> parts = llvm::to_vector(adaptor.getPtr());
    llvm::SmallVector<Value> steps = ExtendToI64(rewriter, op.getLoc(), OnlyParts(adaptor.getOffsets()));
    size_t first = parts.size() - steps.size();
    for (auto [i, step] : llvm::enumerate(steps))
      parts[first + i] = mlir::arith::AddIOp::create(rewriter, op.getLoc(), parts[first + i], step);
    rewriter.replaceOpWithMultiple(op, {parts});
    return mlir::success();
  }
};

struct ConvertLoad : public mlir::OpConversionPattern<tt::LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    RankedTensorType block = BlockOf(op.getPtr().getType());
    if (!block) return mlir::failure();
    BlockAccess access = AccessOf(adaptor.getPtr(), block);
    Value pointers = BlockPointers(rewriter, op.getLoc(), access);
    Value mask, other;
    if (auto dims = op.getBoundaryCheck()) mask = BlockMask(rewriter, op.getLoc(), access, *dims);
    if (mask && op.getPadding()) other = PaddingTensor(rewriter, op.getLoc(), block, *op.getPadding());
    auto load = tt::LoadOp::create(rewriter, op.getLoc(), pointers, mask, other, op.getCache(), op.getEvict(),
                                   op.getIsVolatile());
    load->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, load.getResult());
    return mlir::success();
  }
};

struct ConvertStore : public mlir::OpConversionPattern<tt::StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    RankedTensorType block = BlockOf(op.getPtr().getType());
    if (!block) return mlir::failure();
    BlockAccess access = AccessOf(adaptor.getPtr(), block);
    Value pointers = BlockPointers(rewriter, op.getLoc(), access);
    Value mask;
    if (auto dims = op.getBoundaryCheck()) mask = BlockMask(rewriter, op.getLoc(), access, *dims);
    auto store = tt::StoreOp::create(rewriter, op.getLoc(), pointers, OnlyPart(adaptor.getValue()), mask, op.getCache(),
                                     op.getEvict());
    store->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.eraseOp(op);
    return mlir::success();
  }
};

class RewriteTensorPointerPass : public impl::RewriteTensorPointerPassBase<RewriteTensorPointerPass> {
  LogicalResult CheckKernels() {
    for (auto func : getOperation().getOps<tt::FuncOp>())
      if (func.isPublic() && llvm::any_of(func.getArgumentTypes(), IsBlockPointer))
        return func.emitOpError("a kernel takes no block pointers");
    return mlir::success();
  }

  void runOnOperation() override {
    auto is_access = [](mlir::Operation* op) {
      return llvm::isa<tt::MakeTensorPtrOp, tt::AdvanceOp, tt::LoadOp, tt::StoreOp>(op);
    };
    if (failed(CheckKernels()) || failed(CheckCarriers(getOperation(), "a block pointer", IsBlockPointer, is_access)))
      return signalPassFailure();
    mlir::TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(PartsOf);
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<ConvertMake, ConvertAdvance, ConvertLoad, ConvertStore>(converter, &getContext());
    if (failed(TakeApart(getOperation(), converter, std::move(patterns)))) signalPassFailure();
  }
};

}  // namespace
}  // namespace tritond::compiler
