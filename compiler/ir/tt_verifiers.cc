// SPDX-License-Identifier: Apache-2.0
// What makes a tt operation wrong, in words for the author of a kernel.
#include "compiler/ir/collapsed_block.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/ir/ttg_dialect.h"

namespace tritond::tt {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

RankedTensorType Tensor(Type type) { return llvm::dyn_cast<RankedTensorType>(type); }
RankedTensorType Tensor(Value value) { return Tensor(value.getType()); }

// 0 for types without a width, such as a block.
unsigned BitWidth(Type type) {
  if (llvm::isa<PtrType>(type)) return 64;
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

bool IsBlockPointer(Type type) {
  auto ptr = llvm::dyn_cast<PtrType>(type);
  return ptr && Tensor(ptr.getPointeeType());
}

// A combine or map region: arguments and terminator operands are the scalars `elements`, `copies` times over.
// Its terminators are `Return`.
template <typename Return>
LogicalResult VerifyScalarRegion(mlir::Operation* op, mlir::Region& region, llvm::ArrayRef<Type> arguments,
                                 llvm::ArrayRef<Type> results) {
  if (region.empty()) return op->emitOpError("needs a region with a body");
  mlir::Block& block = region.front();
  if (block.getArgumentTypes() != mlir::TypeRange(arguments))
    return op->emitOpError() << "region takes " << arguments.size() << " scalars of the operands' element types "
                             << arguments << ", but has arguments " << block.getArgumentTypes();
  for (mlir::Block& b : region) {
    mlir::Operation* terminator = b.getTerminator();
    if (terminator->getNumSuccessors()) continue;
    if (!llvm::isa<Return>(terminator))
      return op->emitOpError() << "region ends with '" << terminator->getName() << "' instead of '"
                               << Return::getOperationName() << "'";
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

// As Elements, with the copies of each type side by side.
llvm::SmallVector<Type> Repeated(mlir::TypeRange types, int copies) {
  llvm::SmallVector<Type> elements;
  for (Type type : types) elements.append(copies, ElementOf(type));
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

// A tensor's placement follows from another's: `expected`, null if there is none.
LogicalResult VerifyPlacement(mlir::Operation* op, mlir::Attribute expected, RankedTensorType actual) {
  mlir::Attribute encoding = actual.getEncoding();
  if (encoding == expected) return mlir::success();
  if (!encoding || !expected || !ttg::SamePlacement(actual.getShape(), encoding, expected))
    return op->emitOpError() << "moves elements between threads: its operand's encoding gives "
                             << (expected ? expected : mlir::UnitAttr::get(op->getContext())) << ", not " << actual;
  return mlir::success();
}

// Either both have an encoding or none has.
LogicalResult VerifyBothEncoded(mlir::Operation* op, RankedTensorType a, RankedTensorType b) {
  if (!a.getEncoding() == !b.getEncoding()) return mlir::success();
  return op->emitOpError() << "has encodings on some tensors only: " << a << " and " << b;
}

LogicalResult VerifyAtomic(mlir::Operation* op, Type ptr, Type value, Type result) {
  if (IsBlockPointer(ptr)) return op->emitOpError("does not take a block pointer");
  if (PointeeTypeOf(ptr) != value) return op->emitOpError() << "value of type " << value << " through " << ptr;
  if (value != result) return op->emitOpError() << "result type " << result << " differs from the value's " << value;
  return mlir::success();
}

}  // namespace

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

LogicalResult BlockMaskOp::verify() {
  if (!compiler::CollapsedDims(getBlock(), getMask().getType().getShape()) || getBlock().size() != getIndices().size())
    return emitOpError("has a mask or indices for another block");
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
  if (!getResult().empty()) {
    auto tensor = Tensor(getResult()[0]);
    int64_t elements = tensor ? tensor.getNumElements() : 1;
    if (getPackedElement() < 1 || elements % getPackedElement())
      return emitOpError() << "packs " << getPackedElement() << " elements at a time, which does not divide "
                           << elements;
  }
  return getPackedElement() < 1 ? emitOpError("packed_element must be at least 1") : mlir::success();
}

LogicalResult MapElementwiseOp::verifyRegions() {
  if (getPack() < 1) return emitOpError("pack must be at least 1");
  return VerifyScalarRegion<MapElementwiseReturnOp>(*this, getScalarOp(), Repeated(getSrcs().getTypes(), getPack()),
                                                    Repeated(getResultTypes(), getPack()));
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
  if (getMask() && getMask().getType() != BoolTypeLike(getVal().getType()))
    return emitOpError() << "mask of type " << getMask().getType() << " for a value of type " << getVal().getType();
  return VerifyAtomic(*this, getPtr().getType(), getVal().getType(), getType());
}

LogicalResult AtomicCASOp::verify() {
  if (getCmp().getType() != getVal().getType()) return emitOpError("cmp and val differ in type");
  return VerifyAtomic(*this, getPtr().getType(), getVal().getType(), getType());
}

LogicalResult AtomicPollOp::verify() {
  if (getPtr().getType().getPointeeType() != getExpected().getType())
    return emitOpError() << "expects " << getExpected().getType() << " through " << getPtr().getType();
  return mlir::success();
}

LogicalResult MakeTensorPtrOp::verify() {
  auto block = Tensor(getType().getPointeeType());
  if (!block) return emitOpError("makes a pointer to a tensor, not to ") << getType().getPointeeType();
  size_t rank = block.getRank();
  if (getShape().size() != rank || getOrder().size() != rank)
    return emitOpError() << "shape, strides, offsets and order need " << rank << " entries for a block of rank "
                         << rank;
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
  if (failed(internal::VerifyTensorSizes(*this))) return mlir::failure();
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
  if (failed(VerifyBothEncoded(*this, src, dst))) return mlir::failure();
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
  if (failed(internal::VerifyTensorSizes(*this))) return mlir::failure();
  RankedTensorType src = Tensor(getSrc()), dst = Tensor(getResult());
  if (src.getNumElements() != dst.getNumElements() || src.getElementType() != dst.getElementType())
    return emitOpError() << "cannot reshape " << src << " to " << dst;
  if (failed(VerifyBothEncoded(*this, src, dst))) return mlir::failure();
  if (!src.getEncoding() || getAllowReorder()) return mlir::success();
  return VerifyPlacement(*this, ttg::ReshapeEncoding(src.getEncoding(), src.getShape(), dst.getShape()), dst);
}

LogicalResult TransOp::verify() {
  RankedTensorType src = Tensor(getSrc()), dst = Tensor(getResult());
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<bool> seen(src.getRank());
  if (getOrder().size() != seen.size())
    return emitOpError() << "order is no permutation of " << src.getRank() << " dimensions";
  for (int32_t dim : getOrder()) {
    if (dim < 0 || dim >= src.getRank() || seen[dim])
      return emitOpError() << "order is no permutation of " << src.getRank() << " dimensions";
    seen[dim] = true;
    shape.push_back(src.getDimSize(dim));
  }
  if (dst.getShape() != llvm::ArrayRef(shape) || src.getElementType() != dst.getElementType())
    return emitOpError() << "transposes " << src << " to shape " << shape << ", not to " << dst;
  if (failed(internal::VerifyTensorSizes(*this)) || failed(VerifyBothEncoded(*this, src, dst))) return mlir::failure();
  if (!src.getEncoding()) return mlir::success();
  return VerifyPlacement(*this, ttg::TransEncoding(src.getEncoding(), src.getShape(), getOrder()), dst);
}

static LogicalResult VerifyPairShapes(mlir::Operation* op, RankedTensorType half, RankedTensorType pair) {
  llvm::SmallVector<int64_t> shape(half.getShape());
  shape.push_back(2);
  if (pair.getShape() != llvm::ArrayRef(shape) || half.getElementType() != pair.getElementType())
    return op->emitOpError() << half << " twice makes a tensor of shape " << shape << ", not " << pair;
  if (failed(internal::VerifyTensorSizes(op))) return mlir::failure();
  return VerifyBothEncoded(op, half, pair);
}

LogicalResult JoinOp::verify() {
  RankedTensorType half = Tensor(getLhs()), pair = Tensor(getResult());
  if (failed(VerifyPairShapes(*this, half, pair))) return mlir::failure();
  if (!half.getEncoding()) return mlir::success();
  return VerifyPlacement(*this, ttg::JoinEncoding(half.getEncoding(), half.getShape()), pair);
}

LogicalResult SplitOp::verify() {
  RankedTensorType half = Tensor(getOutLHS()), pair = Tensor(getSrc());
  if (failed(VerifyPairShapes(*this, half, pair))) return mlir::failure();
  if (!pair.getEncoding()) return mlir::success();
  return VerifyPlacement(*this, ttg::SplitEncoding(pair.getEncoding(), pair.getShape()), half);
}

LogicalResult CatOp::verify() {
  if (failed(internal::VerifyTensorSizes(*this))) return mlir::failure();
  RankedTensorType src = Tensor(getLhs()), dst = Tensor(getResult());
  if (dst.getNumElements() != 2 * src.getNumElements() || src.getElementType() != dst.getElementType())
    return emitOpError() << "cannot concatenate two of " << src << " to " << dst;
  return VerifyBothEncoded(*this, src, dst);
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
  if (index.getEncoding() != dst.getEncoding()) return emitOpError("indices and result differ in encoding");
  if (failed(VerifyBothEncoded(*this, src, dst))) return mlir::failure();
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
  auto is_float = [](RankedTensorType type) { return llvm::isa<mlir::FloatType>(type.getElementType()); };
  if (is_float(a) != is_float(c) || is_float(b) != is_float(c))
    return emitOpError() << "mixes floats and integers: " << a.getElementType() << " * " << b.getElementType() << " + "
                         << c.getElementType();
  return internal::VerifyTensorSizes(*this);
}

LogicalResult DotScaledOp::verify() {
  RankedTensorType a = Tensor(getA()), b = Tensor(getB()), c = Tensor(getC());
  int64_t rank = c.getRank();
  if (rank < 2 || a.getRank() != rank || b.getRank() != rank) return emitOpError("takes matrices of one rank");
  int64_t k_a = a.getDimSize(rank - 1) * (getAElemType() == ScaleDotElemType::kE2M1 && getLhsKPack() ? 2 : 1);
  int64_t k_b = b.getDimSize(rank - 2) * (getBElemType() == ScaleDotElemType::kE2M1 && getRhsKPack() ? 2 : 1);
  if (k_a != k_b) return emitOpError() << "operands differ in K: " << k_a << " and " << k_b;
  int64_t m = c.getDimSize(rank - 2), n = c.getDimSize(rank - 1);
  if (a.getDimSize(rank - 2) * (getAElemType() == ScaleDotElemType::kE2M1 && !getLhsKPack() ? 2 : 1) != m ||
      b.getDimSize(rank - 1) * (getBElemType() == ScaleDotElemType::kE2M1 && !getRhsKPack() ? 2 : 1) != n)
    return emitOpError() << "shapes of " << a << " * " << b << " + " << c << " do not fit";
  auto fits = [&](Value scale, int64_t rows) {
    RankedTensorType type = scale ? Tensor(scale) : RankedTensorType();
    return !type || (type.getRank() == rank && type.getDimSize(rank - 2) == rows && type.getDimSize(rank - 1) <= k_a);
  };
  if (!fits(getAScale(), m) || !fits(getBScale(), n))
    return emitOpError("a scale has a row for each row of a or column of b, and a column for each group along K");
  return internal::VerifyTensorSizes(*this);
}

LogicalResult ReduceOp::verify() {
  if (getSrcs().empty()) return emitOpError("needs an operand");
  if (getNumResults() != getSrcs().size()) return emitOpError("needs one result for each operand");
  if (failed(internal::VerifyTensorSizes(*this))) return mlir::failure();
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
    if (out && failed(VerifyBothEncoded(*this, type, out))) return mlir::failure();
    if (out && out.getEncoding() && type != out &&
        failed(VerifyPlacement(*this, ttg::ResultEncodingFor(*this, type.getEncoding()), out)))
      return mlir::failure();
  }
  return internal::VerifyTensorSizes(*this);
}

LogicalResult ReduceOp::verifyRegions() {
  auto elements = Elements(getSrcs().getTypes());
  return VerifyScalarRegion<ReduceReturnOp>(*this, getCombineOp(), Elements(getSrcs().getTypes(), 2), elements);
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
  return VerifyScalarRegion<ScanReturnOp>(*this, getCombineOp(), Elements(getSrcs().getTypes(), 2), elements);
}

LogicalResult PrintOp::verify() {
  if (!getIsSigned().empty() && getIsSigned().size() != getArgs().size())
    return emitOpError() << "has " << getIsSigned().size() << " signs for " << getArgs().size() << " operands";
  return mlir::success();
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
  if (failed(internal::VerifyTensorSizes(op))) return mlir::failure();
  RankedTensorType block = desc.getBlockType(), type = Tensor(tensor);
  if (static_cast<size_t>(block.getRank()) != indices)
    return op->emitOpError() << "needs " << block.getRank() << " indices, but has " << indices;
  if (block.getNumElements() != type.getNumElements() ||
      BitWidth(block.getElementType()) != BitWidth(type.getElementType()))
    return op->emitOpError() << "descriptor of " << block << " does not fit " << type;
  return mlir::success();
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
