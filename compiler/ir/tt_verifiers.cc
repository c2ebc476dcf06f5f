// SPDX-License-Identifier: Apache-2.0
// What makes a tt operation wrong, in words for the author of a kernel.
#include "compiler/ir/tt_dialect.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::tt {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

RankedTensorType Tensor(Type type) { return llvm::dyn_cast<RankedTensorType>(type); }
RankedTensorType Tensor(Value value) { return Tensor(value.getType()); }

unsigned BitWidth(Type type) { return llvm::isa<PtrType>(type) ? 64 : type.getIntOrFloatBitWidth(); }

// A combine or map region: arguments and terminator operands are the scalars `elements`, `copies` times over.
LogicalResult VerifyScalarRegion(mlir::Operation* op, mlir::Region& region, llvm::ArrayRef<Type> arguments,
                                 llvm::ArrayRef<Type> results) {
  mlir::Block& block = region.front();
  if (block.getArgumentTypes() != mlir::TypeRange(arguments))
    return op->emitOpError() << "region takes " << arguments.size() << " scalars of the operands' element types "
                             << arguments << ", but has arguments " << block.getArgumentTypes();
  for (mlir::Block& b : region) {
    mlir::Operation* terminator = b.getTerminator();
    if (terminator->getNumSuccessors()) continue;
    if (terminator->getOperandTypes() != mlir::TypeRange(results))
      return op->emitOpError() << "region returns " << results << ", but its terminator has "
                               << terminator->getOperandTypes();
  }
  return mlir::success();
}

llvm::SmallVector<Type> Elements(mlir::TypeRange types, int copies = 1) {
  llvm::SmallVector<Type> elements;
  for (int i = 0; i < copies; ++i)
    for (Type type : types) elements.push_back(ElementOf(type));
  return elements;
}

LogicalResult VerifyBoundaryCheck(mlir::Operation* op, Type ptr, std::optional<llvm::ArrayRef<int32_t>> dims) {
  auto block = llvm::dyn_cast<PtrType>(ptr);
  RankedTensorType tensor = block ? Tensor(block.getPointeeType()) : RankedTensorType();
  if (!dims || dims->empty()) return mlir::success();
  if (!tensor) return op->emitOpError("boundaryCheck applies to block pointers only");
  for (int32_t dim : *dims)
    if (dim < 0 || dim >= tensor.getRank())
      return op->emitOpError() << "boundaryCheck names dimension " << dim << " of a block of rank " << tensor.getRank();
  return mlir::success();
}

LogicalResult VerifyAtomic(mlir::Operation* op, Type ptr, Type value, Type result) {
  if (PointeeTypeOf(ptr) != value) return op->emitOpError() << "value of type " << value << " through " << ptr;
  if (value != result) return op->emitOpError() << "result type " << result << " differs from the value's " << value;
  return mlir::success();
}

}  // namespace

LogicalResult internal::VerifyTensorSizes(mlir::Operation* op) {
  auto check = [&](Type type) -> LogicalResult {
    RankedTensorType tensor = Tensor(type);
    if (!tensor) return mlir::success();
    if (!tensor.hasStaticShape()) return op->emitOpError() << "tensor " << tensor << " has a dynamic shape";
    int64_t total = 1;
    for (int64_t size : tensor.getShape()) {
      if (size <= 0 || !llvm::isPowerOf2_64(size))
        return op->emitOpError() << "tensor " << tensor << " has a dimension of size " << size
                                 << ", which is no power of two";
      if (size > kMaxTensorElements || (total *= size) > kMaxTensorElements)
        return op->emitOpError() << "tensor " << tensor << " has more than " << kMaxTensorElements << " elements";
    }
    return mlir::success();
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type))) return mlir::failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type))) return mlir::failure();
  return mlir::success();
}

LogicalResult internal::VerifySameShape(mlir::Operation* op) {
  if (failed(VerifyTensorSizes(op))) return mlir::failure();
  RankedTensorType first;
  bool scalar = false;
  auto check = [&](Type type) -> LogicalResult {
    if (llvm::isa<TensorDescType>(type)) return mlir::success();
    RankedTensorType tensor = Tensor(type);
    scalar |= !tensor;
    if (tensor && !first) first = tensor;
    if (tensor && tensor.getShape() != first.getShape())
      return op->emitOpError() << "requires one shape for all operands and results, but has " << first << " and "
                               << tensor;
    return mlir::success();
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type))) return mlir::failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type))) return mlir::failure();
  if (scalar && first && op->hasTrait<mlir::OpTrait::Elementwise>())
    return op->emitOpError("mixes scalars and tensors");
  return mlir::success();
}

LogicalResult internal::VerifySameEncoding(mlir::Operation* op) {
  std::optional<mlir::Attribute> encoding;
  auto check = [&](Type type) -> LogicalResult {
    RankedTensorType tensor = Tensor(type);
    if (!tensor) return mlir::success();
    if (!encoding) encoding = tensor.getEncoding();
    if (*encoding != tensor.getEncoding())
      return op->emitOpError() << "requires one encoding for all operands and results";
    return mlir::success();
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type))) return mlir::failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type))) return mlir::failure();
  return mlir::success();
}

LogicalResult BitcastOp::verify() {
  Type from = ElementOf(getSrc().getType()), to = ElementOf(getType());
  if (llvm::isa<PtrType>(from) != llvm::isa<PtrType>(to))
    return emitOpError() << "cannot cast " << from << " to " << to << "; use int_to_ptr or ptr_to_int";
  if (BitWidth(from) != BitWidth(to))
    return emitOpError() << "cannot cast " << from << " of " << BitWidth(from) << " bits to " << to << " of "
                         << BitWidth(to);
  return mlir::success();
}

LogicalResult FpToFpOp::verify() {
  unsigned from = BitWidth(ElementOf(getSrc().getType())), to = BitWidth(ElementOf(getType()));
  if (from > to && to == 8 && !getRounding())
    return emitOpError("narrowing to an 8-bit float requires a rounding mode, `rounding = rtne` or `rtz`");
  return mlir::success();
}

LogicalResult ElementwiseInlineAsmOp::verify() {
  if (getNumOperands() && !getResult().empty()) {
    auto tensor = Tensor(getOperand(0));
    int64_t elements = tensor ? tensor.getNumElements() : 1;
    if (getPackedElement() < 1 || elements % getPackedElement())
      return emitOpError() << "packs " << getPackedElement() << " elements at a time, which does not divide "
                           << elements;
  }
  return getPackedElement() < 1 ? emitOpError("packed_element must be at least 1") : mlir::success();
}

LogicalResult MapElementwiseOp::verifyRegions() {
  if (getPack() < 1) return emitOpError("pack must be at least 1");
  return VerifyScalarRegion(*this, getScalarOp(), Elements(getSrcs().getTypes(), getPack()),
                            Elements(getResultTypes(), getPack()));
}

LogicalResult LoadOp::verify() {
  if (getPadding() && !getBoundaryCheck()) return emitOpError("padding requires boundaryCheck");
  if (llvm::isa<PtrType>(getPtr().getType()) && Tensor(getType()) && getMask())
    return emitOpError("a block pointer takes boundaryCheck, not a mask");
  return VerifyBoundaryCheck(*this, getPtr().getType(), getBoundaryCheck());
}

LogicalResult StoreOp::verify() {
  if (llvm::isa<PtrType>(getPtr().getType()) && Tensor(getValue()) && getMask())
    return emitOpError("a block pointer takes boundaryCheck, not a mask");
  return VerifyBoundaryCheck(*this, getPtr().getType(), getBoundaryCheck());
}

LogicalResult AtomicRMWOp::verify() {
  Type element = ElementOf(getVal().getType());
  bool is_float = llvm::isa<mlir::FloatType>(element);
  RmwOp op = getAtomicRmwOp();
  bool float_op = op == RmwOp::kFadd, any = op == RmwOp::kXchg;
  if (!any && is_float != float_op)
    return emitOpError() << stringifyRmwOp(op) << " does not apply to elements of type " << element;
  return VerifyAtomic(*this, getPtr().getType(), getVal().getType(), getType());
}

LogicalResult AtomicCASOp::verify() {
  if (getCmp().getType() != getVal().getType()) return emitOpError("cmp and val differ in type");
  return VerifyAtomic(*this, getPtr().getType(), getVal().getType(), getType());
}

LogicalResult MakeTensorPtrOp::verify() {
  auto block = Tensor(getType().getPointeeType());
  if (!block) return emitOpError("makes a pointer to a tensor, not to ") << getType().getPointeeType();
  size_t rank = block.getRank();
  if (getShape().size() != rank || getOrder().size() != rank)
    return emitOpError() << "shape, strides, offsets and order need " << rank << " entries for a block of rank " << rank;
  return mlir::success();
}

LogicalResult AdvanceOp::verify() {
  auto block = Tensor(getPtr().getType().getPointeeType());
  if (!block) return emitOpError("advances a block pointer, not ") << getPtr().getType();
  if (static_cast<size_t>(block.getRank()) != getOffsets().size())
    return emitOpError() << "needs " << block.getRank() << " offsets, but has " << getOffsets().size();
  return mlir::success();
}

LogicalResult SplatOp::verify() {
  if (ElementOf(getType()) != getSrc().getType())
    return emitOpError() << "splats " << getSrc().getType() << " into " << getType();
  return internal::VerifyTensorSizes(*this);
}

LogicalResult UnsplatOp::verify() {
  if (getSrc().getType().getNumElements() != 1)
    return emitOpError() << "takes a tensor of one element, not " << getSrc().getType();
  return mlir::success();
}

LogicalResult ExpandDimsOp::verify() {
  RankedTensorType src = Tensor(getSrc()), dst = Tensor(getResult());
  if (getAxis() > static_cast<uint32_t>(src.getRank()))
    return emitOpError() << "axis " << getAxis() << " is out of range for rank " << src.getRank();
  llvm::SmallVector<int64_t> shape(src.getShape());
  shape.insert(shape.begin() + getAxis(), 1);
  if (dst.getShape() != llvm::ArrayRef(shape) || dst.getElementType() != src.getElementType())
    return emitOpError() << "cannot expand " << src << " at axis " << getAxis() << " to " << dst;
  auto slice = llvm::dyn_cast_if_present<ttg::SliceEncodingAttr>(src.getEncoding());
  if (dst.getEncoding() && (!slice || slice.getDim() != getAxis() || slice.getParent() != dst.getEncoding()))
    return emitOpError() << "source encoding must be the slice of the result's along axis " << getAxis();
  return internal::VerifyTensorSizes(*this);
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType src = Tensor(getSrc()), dst = Tensor(getResult());
  if (src.getRank() != dst.getRank() || src.getElementType() != dst.getElementType())
    return emitOpError() << "cannot broadcast " << src << " to " << dst;
  for (auto [from, to] : llvm::zip(src.getShape(), dst.getShape()))
    if (from != to && from != 1)
      return emitOpError() << "cannot broadcast a dimension of size " << from << " to " << to;
  return internal::VerifyTensorSizes(*this);
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType src = Tensor(getSrc()), dst = Tensor(getResult());
  if (src.getNumElements() != dst.getNumElements() || src.getElementType() != dst.getElementType())
    return emitOpError() << "cannot reshape " << src << " to " << dst;
  return internal::VerifyTensorSizes(*this);
}

LogicalResult TransOp::verify() {
  RankedTensorType src = Tensor(getSrc()), dst = Tensor(getResult());
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<bool> seen(src.getRank());
  for (int32_t dim : getOrder()) {
    if (dim < 0 || dim >= src.getRank() || seen[dim])
      return emitOpError() << "order is no permutation of " << src.getRank() << " dimensions";
    seen[dim] = true;
    shape.push_back(src.getDimSize(dim));
  }
  if (dst.getShape() != llvm::ArrayRef(shape) || src.getElementType() != dst.getElementType())
    return emitOpError() << "transposes " << src << " to shape " << shape << ", not to " << dst;
  return internal::VerifyTensorSizes(*this);
}

static LogicalResult VerifyPair(mlir::Operation* op, RankedTensorType half, RankedTensorType pair) {
  llvm::SmallVector<int64_t> shape(half.getShape());
  shape.push_back(2);
  if (pair.getShape() != llvm::ArrayRef(shape) || half.getElementType() != pair.getElementType())
    return op->emitOpError() << half << " twice makes a tensor of shape " << shape << ", not " << pair;
  return internal::VerifyTensorSizes(op);
}
LogicalResult JoinOp::verify() { return VerifyPair(*this, Tensor(getLhs()), Tensor(getResult())); }
LogicalResult SplitOp::verify() { return VerifyPair(*this, Tensor(getOutLHS()), Tensor(getSrc())); }

LogicalResult CatOp::verify() {
  RankedTensorType src = Tensor(getLhs()), dst = Tensor(getResult());
  if (dst.getNumElements() != 2 * src.getNumElements() || src.getElementType() != dst.getElementType())
    return emitOpError() << "cannot concatenate two of " << src << " to " << dst;
  return internal::VerifyTensorSizes(*this);
}

LogicalResult MakeRangeOp::verify() {
  int64_t start = static_cast<int32_t>(getStart()), end = static_cast<int32_t>(getEnd());
  RankedTensorType type = Tensor(getResult());
  if (start >= end) return emitOpError() << "start " << start << " must be below end " << end;
  if (type.getRank() != 1 || type.getDimSize(0) != end - start)
    return emitOpError() << "has " << end - start << " elements, but the result is " << type;
  if (!type.getElementType().isInteger(32)) return emitOpError("yields i32, not ") << type.getElementType();
  return internal::VerifyTensorSizes(*this);
}

LogicalResult GatherOp::verify() {
  RankedTensorType src = Tensor(getSrc()), index = Tensor(getIndices()), dst = Tensor(getResult());
  if (getAxis() >= static_cast<uint32_t>(src.getRank()))
    return emitOpError() << "axis " << getAxis() << " is out of range for rank " << src.getRank();
  if (index.getShape() != dst.getShape() || src.getElementType() != dst.getElementType() ||
      src.getRank() != index.getRank())
    return emitOpError() << "gathers " << src << " at " << index << " into " << dst;
  for (int dim = 0; dim < src.getRank(); ++dim)
    if (dim != static_cast<int>(getAxis()) && src.getDimSize(dim) != index.getDimSize(dim))
      return emitOpError() << "source and indices differ in dimension " << dim << ", which is not the axis";
  return internal::VerifyTensorSizes(*this);
}

LogicalResult HistogramOp::verify() {
  if (Tensor(getSrc()).getRank() != 1 || Tensor(getResult()).getRank() != 1)
    return emitOpError("takes and yields tensors of rank one");
  return internal::VerifyTensorSizes(*this);
}

LogicalResult DotOp::verify() {
  RankedTensorType a = Tensor(getA()), b = Tensor(getB()), c = Tensor(getC());
  int64_t rank = c.getRank();
  if ((rank != 2 && rank != 3) || a.getRank() != rank || b.getRank() != rank)
    return emitOpError() << "takes matrices, or batches of matrices, not " << a << " * " << b;
  bool fits = a.getDimSize(rank - 1) == b.getDimSize(rank - 2) && a.getDimSize(rank - 2) == c.getDimSize(rank - 2) &&
              b.getDimSize(rank - 1) == c.getDimSize(rank - 1);
  if (rank == 3) fits = fits && a.getDimSize(0) == b.getDimSize(0) && a.getDimSize(0) == c.getDimSize(0);
  if (!fits) return emitOpError() << "shapes of " << a << " * " << b << " + " << c << " do not fit";
  if (BitWidth(a.getElementType()) != BitWidth(b.getElementType()))
    return emitOpError() << "operands differ in width: " << a.getElementType() << " and " << b.getElementType();
  return internal::VerifyTensorSizes(*this);
}

LogicalResult DotScaledOp::verify() {
  RankedTensorType a = Tensor(getA()), b = Tensor(getB()), c = Tensor(getC());
  int64_t rank = c.getRank();
  if (rank < 2 || a.getRank() != rank || b.getRank() != rank) return emitOpError("takes matrices of one rank");
  int64_t k_a = a.getDimSize(rank - 1) * (getAElemType() == ScaleDotElemType::kE2M1 && getLhsKPack() ? 2 : 1);
  int64_t k_b = b.getDimSize(rank - 2) * (getBElemType() == ScaleDotElemType::kE2M1 && getRhsKPack() ? 2 : 1);
  if (k_a != k_b) return emitOpError() << "operands differ in K: " << k_a << " and " << k_b;
  return internal::VerifyTensorSizes(*this);
}

LogicalResult ReduceOp::verify() {
  if (getSrcs().empty()) return emitOpError("needs an operand");
  if (getNumResults() != getSrcs().size()) return emitOpError("needs one result for each operand");
  RankedTensorType first = InputType();
  if (getAxis() >= static_cast<uint32_t>(first.getRank()))
    return emitOpError() << "axis " << getAxis() << " is out of range for rank " << first.getRank();
  llvm::SmallVector<int64_t> shape(first.getShape());
  shape.erase(shape.begin() + getAxis());
  for (auto [src, result] : llvm::zip(getSrcs(), getResults())) {
    RankedTensorType type = Tensor(src);
    if (type.getShape() != first.getShape() || type.getEncoding() != first.getEncoding())
      return emitOpError() << "operands differ in shape or encoding: " << first << " and " << type;
    RankedTensorType out = Tensor(result);
    if (ElementOf(result.getType()) != type.getElementType() || (out ? out.getRank() : 0) != first.getRank() - 1 ||
        (out && out.getShape() != llvm::ArrayRef(shape)))
      return emitOpError() << "reduces " << type << " along axis " << getAxis() << " to " << result.getType();
  }
  return internal::VerifyTensorSizes(*this);
}

LogicalResult ReduceOp::verifyRegions() {
  auto elements = Elements(getSrcs().getTypes());
  return VerifyScalarRegion(*this, getCombineOp(), Elements(getSrcs().getTypes(), 2), elements);
}

LogicalResult ScanOp::verify() {
  if (getSrcs().empty()) return emitOpError("needs an operand");
  if (getSrcs().getTypes() != getResultTypes()) return emitOpError("results have the types of the operands");
  if (getAxis() >= static_cast<uint32_t>(Tensor(getSrcs()[0]).getRank()))
    return emitOpError() << "axis " << getAxis() << " is out of range";
  return mlir::success();
}

LogicalResult ScanOp::verifyRegions() {
  auto elements = Elements(getSrcs().getTypes());
  return VerifyScalarRegion(*this, getCombineOp(), Elements(getSrcs().getTypes(), 2), elements);
}

LogicalResult MakeTensorDescOp::verify() {
  RankedTensorType block = getType().getBlockType();
  if (static_cast<size_t>(block.getRank()) != getShape().size())
    return emitOpError() << "needs " << block.getRank() << " sizes and strides, but has " << getShape().size();
  if (BitWidth(getBase().getType().getPointeeType()) != BitWidth(block.getElementType()))
    return emitOpError() << "base " << getBase().getType() << " does not point to elements of " << block;
  return mlir::success();
}

static LogicalResult VerifyBlock(mlir::Operation* op, TensorDescType desc, Type tensor, size_t indices) {
  RankedTensorType block = desc.getBlockType(), type = Tensor(tensor);
  if (static_cast<size_t>(block.getRank()) != indices)
    return op->emitOpError() << "needs " << block.getRank() << " indices, but has " << indices;
  if (block.getNumElements() != type.getNumElements() ||
      BitWidth(block.getElementType()) != BitWidth(type.getElementType()))
    return op->emitOpError() << "descriptor of " << block << " does not fit " << type;
  return internal::VerifyTensorSizes(op);
}
LogicalResult DescriptorLoadOp::verify() {
  return VerifyBlock(*this, getDesc().getType(), getType(), getIndices().size());
}
LogicalResult DescriptorStoreOp::verify() {
  return VerifyBlock(*this, getDesc().getType(), getSrc().getType(), getIndices().size());
}
LogicalResult DescriptorReduceOp::verify() {
  return VerifyBlock(*this, getDesc().getType(), getSrc().getType(), getIndices().size());
}

static LogicalResult VerifyRows(mlir::Operation* op, TensorDescType desc, Type offsets, Type tensor) {
  RankedTensorType block = desc.getBlockType(), rows = Tensor(offsets), type = Tensor(tensor);
  if (block.getRank() != 2 || block.getDimSize(0) != 1)
    return op->emitOpError() << "needs a descriptor of one row, not of " << block;
  if (rows.getRank() != 1 || type.getRank() != 2 || rows.getDimSize(0) != type.getDimSize(0) ||
      block.getDimSize(1) != type.getDimSize(1))
    return op->emitOpError() << "rows " << rows << " of " << block << " do not make " << type;
  return internal::VerifyTensorSizes(op);
}
LogicalResult DescriptorGatherOp::verify() {
  return VerifyRows(*this, getDesc().getType(), getXOffsets().getType(), getType());
}
LogicalResult DescriptorScatterOp::verify() {
  return VerifyRows(*this, getDesc().getType(), getXOffsets().getType(), getSrc().getType());
}

LogicalResult CallOp::verifySymbolUses(mlir::SymbolTableCollection& symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee) return emitOpError() << "calls '" << getCallee() << "', which is no function of this module";
  mlir::FunctionType type = callee.getFunctionType();
  if (mlir::TypeRange(type.getInputs()) != getOperandTypes() || mlir::TypeRange(type.getResults()) != getResultTypes())
    return emitOpError() << "calls '" << getCallee() << "' of type " << type << " with other types";
  return mlir::success();
}

LogicalResult ReturnOp::verify() {
  auto func = llvm::cast<FuncOp>((*this)->getParentOp());
  if (mlir::TypeRange(func.getResultTypes()) != getOperandTypes())
    return emitOpError() << "returns " << getOperandTypes() << " from a function of type " << func.getFunctionType();
  return mlir::success();
}

}  // namespace tritond::tt
