// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/block_access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::ConversionPatternRewriter;
using mlir::Location;
using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

size_t AxisOf(const BlockAccess& access, size_t dim) { return access.axes.empty() ? dim : access.axes[dim]; }

int64_t SizeOf(const BlockIndices& indices) {
  return indices.IsList() ? llvm::cast<RankedTensorType>(indices.start.getType()).getDimSize(0) : indices.size;
}

llvm::SmallVector<int64_t> BlockShape(const BlockAccess& access) {
  llvm::SmallVector<int64_t> shape;
  for (auto [dim, indices] : llvm::enumerate(access.indices)) {
    shape.resize(AxisOf(access, dim) + 1, 1);
    shape.back() *= SizeOf(indices);
  }
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

// The numbers of a block's elements along a dimension, as tensor<n x i32> of its axis: 0, 1, … where it has the axis
// for itself. Of sizes 8 and 16 the first one's are those of 0, 1, … 127 by 16, the second one's what is left.
Value NumbersOf(OpBuilder& b, Location loc, const BlockAccess& access, size_t dim) {
  const int64_t all = BlockShape(access)[AxisOf(access, dim)], own = access.indices[dim].size;
  int64_t inner = 1;
  for (size_t next = dim + 1; next < access.indices.size() && AxisOf(access, next) == AxisOf(access, dim); ++next)
    inner *= access.indices[next].size;
  auto type = RankedTensorType::get({all}, b.getI32Type());
  auto constant = [&](int64_t value) -> Value {
    auto attribute = b.getI32IntegerAttr(static_cast<int32_t>(value));
    return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, attribute.getValue()));
  };
  Value numbers = tt::MakeRangeOp::create(b, loc, type, 0, all);
  if (inner > 1) numbers = arith::DivUIOp::create(b, loc, numbers, constant(inner));
  if (inner * own < all) numbers = arith::RemUIOp::create(b, loc, numbers, constant(own));
  return numbers;
}

// The number (i32) in the block of the element at `index` (i64); 0 in front of the block, its size behind it. An index
// that no tensor has is cut, so that the difference does not wrap around.
Value NumberAt(OpBuilder& b, Location loc, const BlockIndices& indices, Value index) {
  constexpr int64_t kNoTensor = int64_t{1} << 62;
  llvm::APInt known;
  if (!mlir::matchPattern(index, mlir::m_ConstantInt(&known)))
    index = arith::MinSIOp::create(b, loc, index, arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(kNoTensor)));
  Value number = arith::SubIOp::create(b, loc, index, indices.start);
  Value first = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  Value end = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(indices.size));
  number = arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, number, first), end);
  return arith::TruncIOp::create(b, loc, b.getI32Type(), number);
}

// Whether the elements along the dimension are neighbours in memory.
bool AreNeighbours(const BlockAccess& access, size_t dim) {
  return mlir::matchPattern(access.strides[dim], mlir::m_One());
}

// Which elements they are, as tensor<n x i64>.
Value ListOf(OpBuilder& b, Location loc, const BlockAccess& access, size_t dim) {
  const BlockIndices& indices = access.indices[dim];
  if (indices.IsList()) return indices.start;
  Value numbers = ExtendToI64(b, loc, NumbersOf(b, loc, access, dim))[0];
  return arith::AddIOp::create(b, loc, tt::SplatOp::create(b, loc, numbers.getType(), indices.start), numbers);
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

Value BlockPointers(OpBuilder& b, Location loc, const BlockAccess& access) {
  llvm::SmallVector<int64_t> shape = BlockShape(access);
  Value base = access.base, offset;
  for (auto [dim, indices] : llvm::enumerate(access.indices)) {
    Value list = ListOf(b, loc, access, dim);
    if (!indices.IsList() && !AreNeighbours(access, dim)) {
      Value distance = arith::MulIOp::create(b, loc, indices.start, access.strides[dim]);
      base = tt::AddPtrOp::create(b, loc, base.getType(), base, distance);
      list = ExtendToI64(b, loc, NumbersOf(b, loc, access, dim))[0];
    }
    Value stride = tt::SplatOp::create(b, loc, llvm::cast<RankedTensorType>(list.getType()), access.strides[dim]);
    Value part = SpreadAlong(b, loc, arith::MulIOp::create(b, loc, list, stride), shape, AxisOf(access, dim));
    offset = offset ? arith::AddIOp::create(b, loc, offset, part).getResult() : part;
  }
  auto type = RankedTensorType::get(shape, base.getType());
  Value bases = tt::SplatOp::create(b, loc, type, base);
  return offset ? tt::AddPtrOp::create(b, loc, type, bases, offset).getResult() : bases;
}

Value BlockMask(OpBuilder& b, Location loc, const BlockAccess& access, llvm::ArrayRef<int32_t> dims) {
  llvm::SmallVector<int64_t> shape = BlockShape(access);
  Value mask;
  for (int32_t dim : dims) {
    const BlockIndices& indices = access.indices[dim];
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    Value numbers = ListOf(b, loc, access, dim), low = zero, high = access.shape[dim];
    if (!indices.IsList() && !AreNeighbours(access, dim)) {
      numbers = NumbersOf(b, loc, access, dim);
      low = NumberAt(b, loc, indices, low);
      high = NumberAt(b, loc, indices, high);
    }
    auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
      return arith::CmpIOp::create(b, loc, predicate, numbers, tt::SplatOp::create(b, loc, numbers.getType(), bound));
    };
    Value from = compare(arith::CmpIPredicate::sge, low), to = compare(arith::CmpIPredicate::slt, high);
    Value part = SpreadAlong(b, loc, arith::AndIOp::create(b, loc, from, to), shape, AxisOf(access, dim));
    mask = mask ? arith::AndIOp::create(b, loc, mask, part).getResult() : part;
  }
  return mask;
}

llvm::SmallVector<Value> OnlyParts(llvm::ArrayRef<mlir::ValueRange> operands) {
  return llvm::map_to_vector(operands, OnlyPart);
}

LogicalResult TakeApart(mlir::Operation* root, const mlir::TypeConverter& converter, mlir::RewritePatternSet patterns) {
  auto is_whole = [&](mlir::Operation* op) {
    if (auto func = llvm::dyn_cast<tt::FuncOp>(op)) return converter.isSignatureLegal(func.getFunctionType());
    return converter.isLegal(op) &&
           llvm::all_of(op->getRegions(), [&](mlir::Region& region) { return converter.isLegal(&region); });
  };
  // Most modules have none of these types, and a conversion costs more than a look.
  auto look = [&](mlir::Operation* op) {
    return is_whole(op) ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  };
  if (!root->walk(look).wasInterrupted()) return mlir::success();
  mlir::scf::populateSCFStructuralTypeConversions(converter, patterns);
  patterns.add<ConvertSelect, ConvertCall, ConvertReturn, ConvertFunc>(converter, patterns.getContext());
  mlir::ConversionTarget target(*root->getContext());
  target.markUnknownOpDynamicallyLegal(is_whole);
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
