// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/block_access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::LogicalResult;
using mlir::OneToNPatternRewriter;
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
    vector = b.create<tt::ExpandDimsOp>(loc, RankedTensorType::get(expanded, element), vector, axis);
  }
  if (llvm::ArrayRef(expanded) == shape) return vector;
  return b.create<tt::BroadcastOp>(loc, RankedTensorType::get(shape, element), vector);
}

struct ConvertSelect : public mlir::OneToNOpConversionPattern<arith::SelectOp> {
  using OneToNOpConversionPattern::OneToNOpConversionPattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, OpAdaptor adaptor, OneToNPatternRewriter& rewriter) const final {
    if (!adaptor.getResultMapping().hasNonIdentityConversion()) return mlir::failure();
    llvm::SmallVector<Value> parts;
    for (auto [yes, no] : llvm::zip(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(rewriter.create<arith::SelectOp>(op.getLoc(), op.getCondition(), yes, no));
    rewriter.replaceOp(op, parts, adaptor.getResultMapping());
    return mlir::success();
  }
};

struct ConvertCall : public mlir::OneToNOpConversionPattern<tt::CallOp> {
  using OneToNOpConversionPattern::OneToNOpConversionPattern;
  LogicalResult matchAndRewrite(tt::CallOp op, OpAdaptor adaptor, OneToNPatternRewriter& rewriter) const final {
    const mlir::OneToNTypeMapping& results = adaptor.getResultMapping();
    if (!results.hasNonIdentityConversion() && !adaptor.getOperandMapping().hasNonIdentityConversion())
      return mlir::failure();
    if (op.getArgAttrs() || op.getResAttrs()) return op.emitOpError("has attributes on arguments that are rewritten");
    auto call = rewriter.create<tt::CallOp>(op.getLoc(), results.getConvertedTypes(), op.getCalleeAttr(),
                                            adaptor.getFlatOperands(), mlir::ArrayAttr(), mlir::ArrayAttr());
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, call.getResults(), results);
    return mlir::success();
  }
};

struct ConvertReturn : public mlir::OneToNOpConversionPattern<tt::ReturnOp> {
  using OneToNOpConversionPattern::OneToNOpConversionPattern;
  LogicalResult matchAndRewrite(tt::ReturnOp op, OpAdaptor adaptor, OneToNPatternRewriter& rewriter) const final {
    if (!adaptor.getOperandMapping().hasNonIdentityConversion()) return mlir::failure();
    rewriter.replaceOpWithNewOp<tt::ReturnOp>(op, adaptor.getFlatOperands());
    return mlir::success();
  }
};

// The attributes of an argument go to its only part; several parts have none.
void SpreadArgumentAttributes(tt::FuncOp func, const mlir::OneToNTypeMapping& mapping, unsigned old_arguments) {
  auto attributes = func.getArgAttrsAttr();
  if (!attributes) return;
  llvm::SmallVector<mlir::Attribute> spread;
  auto none = mlir::DictionaryAttr::get(func.getContext());
  for (unsigned i = 0; i < old_arguments; ++i) {
    size_t parts = mapping.getConvertedTypes(i).size();
    spread.append(parts, parts == 1 ? attributes[i] : none);
  }
  func.setArgAttrsAttr(mlir::ArrayAttr::get(func.getContext(), spread));
}

struct ConvertFunc : public mlir::OneToNOpConversionPattern<tt::FuncOp> {
  using OneToNOpConversionPattern::OneToNOpConversionPattern;
  LogicalResult matchAndRewrite(tt::FuncOp op, OpAdaptor, OneToNPatternRewriter& rewriter) const final {
    mlir::FunctionType type = op.getFunctionType();
    auto* converter = getTypeConverter<mlir::OneToNTypeConverter>();
    mlir::OneToNTypeMapping inputs(type.getInputs()), results(type.getResults());
    if (failed(converter->computeTypeMapping(type.getInputs(), inputs)) ||
        failed(converter->computeTypeMapping(type.getResults(), results)) ||
        (!inputs.hasNonIdentityConversion() && !results.hasNonIdentityConversion()))
      return mlir::failure();
    if (results.hasNonIdentityConversion() && op.getResAttrs())
      return op.emitOpError("has attributes on results that are rewritten");
    rewriter.modifyOpInPlace(op, [&] {
      op.setFunctionType(rewriter.getFunctionType(inputs.getConvertedTypes(), results.getConvertedTypes()));
      SpreadArgumentAttributes(op, inputs, type.getNumInputs());
    });
    if (!op.isExternal()) rewriter.applySignatureConversion(&op.getBody().front(), inputs);
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
    result.push_back(value.getType() == wide ? value : b.create<arith::ExtSIOp>(loc, wide, value).getResult());
  }
  return result;
}

Value BlockIndices(OpBuilder& b, Location loc, Value offset, int64_t size) {
  auto narrow = RankedTensorType::get({size}, b.getI32Type()), wide = RankedTensorType::get({size}, b.getI64Type());
  Value range = b.create<tt::MakeRangeOp>(loc, narrow, 0, size);
  Value start = b.create<tt::SplatOp>(loc, wide, offset);
  return b.create<arith::AddIOp>(loc, start, b.create<arith::ExtSIOp>(loc, wide, range));
}

Value BlockPointers(OpBuilder& b, Location loc, const BlockAccess& access) {
  llvm::SmallVector<int64_t> shape = BlockShape(access);
  Value offset;
  for (auto [dim, indices] : llvm::enumerate(access.indices)) {
    Value stride = b.create<tt::SplatOp>(loc, llvm::cast<RankedTensorType>(indices.getType()), access.strides[dim]);
    Value part = SpreadAlong(b, loc, b.create<arith::MulIOp>(loc, indices, stride), shape, dim);
    offset = offset ? b.create<arith::AddIOp>(loc, offset, part).getResult() : part;
  }
  auto type = RankedTensorType::get(shape, access.base.getType());
  Value base = b.create<tt::SplatOp>(loc, type, access.base);
  return offset ? b.create<tt::AddPtrOp>(loc, type, base, offset).getResult() : base;
}

Value BlockMask(OpBuilder& b, Location loc, const BlockAccess& access, llvm::ArrayRef<int32_t> dims) {
  llvm::SmallVector<int64_t> shape = BlockShape(access);
  Value mask;
  for (int32_t dim : dims) {
    Value indices = access.indices[dim];
    auto type = llvm::cast<RankedTensorType>(indices.getType());
    Value zero = b.create<arith::ConstantOp>(loc, mlir::DenseElementsAttr::get(type, llvm::APInt(64, 0)));
    Value size = b.create<tt::SplatOp>(loc, type, access.shape[dim]);
    Value low = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, indices, zero);
    Value high = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, indices, size);
    Value part = SpreadAlong(b, loc, b.create<arith::AndIOp>(loc, low, high), shape, dim);
    mask = mask ? b.create<arith::AndIOp>(loc, mask, part).getResult() : part;
  }
  return mask;
}

void PopulateCarrierPatterns(mlir::TypeConverter& converter, mlir::RewritePatternSet& patterns) {
  mlir::scf::populateSCFStructuralOneToNTypeConversions(converter, patterns);
  patterns.add<ConvertSelect, ConvertCall, ConvertReturn, ConvertFunc>(converter, patterns.getContext());
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
