// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/block_access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::ConversionPatternRewriter;
using mlir::Location;
using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

llvm::SmallVector<int64_t> BlockShape(const BlockAccess& access) {
  llvm::SmallVector<int64_t> shape;
  for (Value indices : access.indices) shape.push_back(llvm::cast<RankedTensorType>(indices.getType()).getDimSize(0));
  return shape;
}

// [n] -> [1, …, n, …, 1] -> `shape`, where n is shape[dim].
Value SpreadAlong(OpBuilder& b, Location loc, Value vector, llvm::ArrayRef<int64_t> shape, size_t dim) {
  mlir::Type element = tt::ElementOf(vector.getType());
  llvm::SmallVector<int64_t> expanded{shape[dim]};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis == dim) continue;
    expanded.insert(expanded.begin() + axis, 1);
    vector = tt::ExpandDimsOp::create(b, loc, RankedTensorType::get(expanded, element), vector, axis);
  }
  if (llvm::ArrayRef(expanded) == shape) return vector;
  return tt::BroadcastOp::create(b, loc, RankedTensorType::get(shape, element), vector);
}

struct ConvertSelect : public mlir::OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    Value condition = OnlyPart(adaptor.getCondition());
    llvm::SmallVector<Value> parts;
    for (auto [yes, no] : llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(arith::SelectOp::create(rewriter, op.getLoc(), condition, yes, no));
    rewriter.replaceOpWithMultiple(op, {parts});
    return mlir::success();
  }
};

llvm::SmallVector<Value> Flat(llvm::ArrayRef<mlir::ValueRange> operands) {
  llvm::SmallVector<Value> flat;
  for (mlir::ValueRange parts : operands) llvm::append_range(flat, parts);
  return flat;
}

struct ConvertCall : public mlir::OpConversionPattern<tt::CallOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::CallOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    if (op.getArgAttrs() || op.getResAttrs()) return op.emitOpError("has attributes on arguments that are rewritten");
    mlir::TypeConverter::SignatureConversion results(op.getNumResults());
    if (failed(getTypeConverter()->convertSignatureArgs(op.getResultTypes(), results))) return mlir::failure();
    auto call = tt::CallOp::create(rewriter, op.getLoc(), results.getConvertedTypes(), op.getCalleeAttr(),
                                   Flat(adaptor.getOperands()), mlir::ArrayAttr(), mlir::ArrayAttr());
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    llvm::SmallVector<mlir::ValueRange> parts;
    for (unsigned i = 0; i < op.getNumResults(); ++i) {
      auto place = results.getInputMapping(i);
      parts.push_back(call.getResults().slice(place->inputNo, place->size));
    }
    rewriter.replaceOpWithMultiple(op, parts);
    return mlir::success();
  }
};

struct ConvertReturn : public mlir::OpConversionPattern<tt::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::ReturnOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    rewriter.replaceOpWithNewOp<tt::ReturnOp>(op, Flat(adaptor.getOperands()));
    return mlir::success();
  }
};

// The attributes of an argument go to its only part; several parts have none.
void SpreadArgumentAttributes(tt::FuncOp func, const mlir::TypeConverter::SignatureConversion& inputs,
                              unsigned old_arguments) {
  auto attributes = func.getArgAttrsAttr();
  if (!attributes) return;
  llvm::SmallVector<mlir::Attribute> spread;
  auto none = mlir::DictionaryAttr::get(func.getContext());
  for (unsigned i = 0; i < old_arguments; ++i) {
    size_t parts = inputs.getInputMapping(i)->size;
    spread.append(parts, parts == 1 ? attributes[i] : none);
  }
  func.setArgAttrsAttr(mlir::ArrayAttr::get(func.getContext(), spread));
}

struct ConvertFunc : public mlir::OpConversionPattern<tt::FuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::FuncOp op, OneToNOpAdaptor, ConversionPatternRewriter& rewriter) const final {
    mlir::FunctionType type = op.getFunctionType();
    mlir::TypeConverter::SignatureConversion inputs(type.getNumInputs());
    llvm::SmallVector<mlir::Type> results;
    if (failed(getTypeConverter()->convertSignatureArgs(type.getInputs(), inputs)) ||
        failed(getTypeConverter()->convertTypes(type.getResults(), results)))
      return mlir::failure();
    if (results != llvm::to_vector(type.getResults()) && op.getResAttrs())
      return op.emitOpError("has attributes on results that are rewritten");
    rewriter.modifyOpInPlace(op, [&] {
      op.setFunctionType(rewriter.getFunctionType(inputs.getConvertedTypes(), results));
      SpreadArgumentAttributes(op, inputs, type.getNumInputs());
    });
    if (!op.isExternal()) rewriter.applySignatureConversion(&op.getBody().front(), inputs, getTypeConverter());
    return mlir::success();
  }
};

bool IsCarrier(mlir::Operation* op) {
  return llvm::isa<mlir::scf::ForOp, mlir::scf::IfOp, mlir::scf::WhileOp, mlir::scf::YieldOp, mlir::scf::ConditionOp,
                   arith::SelectOp, tt::FuncOp, tt::CallOp, tt::ReturnOp>(op);
}

}  // namespace

llvm::SmallVector<Value> ExtendToI64(OpBuilder& b, Location loc, mlir::ValueRange values) {
  llvm::SmallVector<Value> result;
  for (Value value : values) {
    mlir::Type wide = tt::WithElement(value.getType(), b.getI64Type());
    result.push_back(value.getType() == wide ? value : arith::ExtSIOp::create(b, loc, wide, value).getResult());
  }
  return result;
}

Value BlockIndices(OpBuilder& b, Location loc, Value offset, int64_t size) {
  auto narrow = RankedTensorType::get({size}, b.getI32Type()), wide = RankedTensorType::get({size}, b.getI64Type());
  Value range = tt::MakeRangeOp::create(b, loc, narrow, 0, size);
  Value start = tt::SplatOp::create(b, loc, wide, offset);
  return arith::AddIOp::create(b, loc, start, arith::ExtSIOp::create(b, loc, wide, range));
}

Value BlockPointers(OpBuilder& b, Location loc, const BlockAccess& access) {
  llvm::SmallVector<int64_t> shape = BlockShape(access);
  Value offset;
  for (auto [dim, indices] : llvm::enumerate(access.indices)) {
    Value stride = tt::SplatOp::create(b, loc, llvm::cast<RankedTensorType>(indices.getType()), access.strides[dim]);
    Value part = SpreadAlong(b, loc, arith::MulIOp::create(b, loc, indices, stride), shape, dim);
    offset = offset ? arith::AddIOp::create(b, loc, offset, part).getResult() : part;
  }
  auto type = RankedTensorType::get(shape, access.base.getType());
  Value base = tt::SplatOp::create(b, loc, type, access.base);
  return offset ? tt::AddPtrOp::create(b, loc, type, base, offset).getResult() : base;
}

Value BlockMask(OpBuilder& b, Location loc, const BlockAccess& access, llvm::ArrayRef<int32_t> dims) {
  llvm::SmallVector<int64_t> shape = BlockShape(access);
  Value mask;
  for (int32_t dim : dims) {
    Value indices = access.indices[dim];
    auto type = llvm::cast<RankedTensorType>(indices.getType());
    Value zero = arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, llvm::APInt(64, 0)));
    Value size = tt::SplatOp::create(b, loc, type, access.shape[dim]);
    Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, indices, zero);
    Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, indices, size);
    Value part = SpreadAlong(b, loc, arith::AndIOp::create(b, loc, low, high), shape, dim);
    mask = mask ? arith::AndIOp::create(b, loc, mask, part).getResult() : part;
  }
  return mask;
}

llvm::SmallVector<Value> OnlyParts(llvm::ArrayRef<mlir::ValueRange> operands) {
  return llvm::map_to_vector(operands, OnlyPart);
}

LogicalResult TakeApart(mlir::Operation* root, const mlir::TypeConverter& converter, mlir::RewritePatternSet patterns) {
  mlir::scf::populateSCFStructuralTypeConversions(converter, patterns);
  patterns.add<ConvertSelect, ConvertCall, ConvertReturn, ConvertFunc>(converter, patterns.getContext());
  mlir::ConversionTarget target(*root->getContext());
  target.markUnknownOpDynamicallyLegal([&](mlir::Operation* op) {
    if (auto func = llvm::dyn_cast<tt::FuncOp>(op)) return converter.isSignatureLegal(func.getFunctionType());
    return converter.isLegal(op) &&
           llvm::all_of(op->getRegions(), [&](mlir::Region& region) { return converter.isLegal(&region); });
  });
  return mlir::applyFullConversion(root, target, std::move(patterns));
}

LogicalResult CheckCarriers(mlir::Operation* root, llvm::StringRef what,
                            llvm::function_ref<bool(mlir::Type)> is_carried,
                            llvm::function_ref<bool(mlir::Operation*)> is_access) {
  auto any = [&](mlir::TypeRange types) { return llvm::any_of(types, is_carried); };
  auto check = [&](mlir::Operation* op) -> mlir::WalkResult {
    if ((any(op->getOperandTypes()) || any(op->getResultTypes())) && !IsCarrier(op) && !is_access(op)) {
      op->emitOpError() << "does not take " << what;
      return mlir::WalkResult::interrupt();
    }
    for (mlir::Region& region : op->getRegions()) {
      for (mlir::Block& block : region) {
        if (!any(block.getArgumentTypes()) || (IsCarrier(op) && block.isEntryBlock())) continue;
        op->emitOpError() << "passes " << what << " from block to block; use it inside structured control flow";
        return mlir::WalkResult::interrupt();
      }
    }
    return mlir::WalkResult::advance();
  };
  return mlir::failure(root->walk(check).wasInterrupted());
}

}  // namespace tritond::compiler
