// SPDX-License-Identifier: Apache-2.0
// Verification of the ttg operations. A view of a buffer is right when both types place each element alike, which is
// checked on their linear layouts.
#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "compiler/layout/layout_algebra.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::ttg {
namespace {

using compiler::DimSize;
using compiler::LinearLayout;
using mlir::LogicalResult;
using mlir::RankedTensorType;

LogicalResult VerifyBufferAccess(mlir::Operation* op, RankedTensorType tensor, MemDescType buffer) {
  if (tensor.getShape() != buffer.getShape() || tensor.getElementType() != buffer.getElementType())
    return op->emitOpError() << "moves " << tensor << " to or from a buffer of another shape or type " << buffer;
  return mlir::success();
}

LogicalResult VerifyMutable(mlir::Operation* op, MemDescType buffer) {
  return buffer.getMutableMemory() ? mlir::success() : op->emitOpError("writes to an immutable buffer");
}

// A view keeps what is stored, where, and whether it may be written.
LogicalResult VerifyView(mlir::Operation* op, MemDescType src, MemDescType dst) {
  if (src.getElementType() != dst.getElementType()) return op->emitOpError("changes the element type");
  if (src.getMemorySpace() != dst.getMemorySpace()) return op->emitOpError("changes the memory space");
  if (src.getMutableMemory() != dst.getMutableMemory()) return op->emitOpError("changes mutability");
  if (PaddingOf(src) != PaddingOf(dst)) return op->emitOpError("changes the padding");
  return mlir::success();
}

LogicalResult VerifySamePlacement(mlir::Operation* op, const LinearLayout& src, const LinearLayout& dst) {
  if (src == dst) return mlir::success();
  return op->emitOpError() << "has a result encoding that places elements elsewhere: " << dst.ToString()
                           << "\ninstead of " << src.ToString();
}

// src, indices and what is moved, in gathers and scatters of buffers.
LogicalResult VerifyIndexed(mlir::Operation* op, MemDescType buffer, RankedTensorType indices, RankedTensorType values,
                            uint32_t axis) {
  if (buffer.getElementType() != values.getElementType()) return op->emitOpError("changes the element type");
  if (indices.getShape() != values.getShape() || indices.getEncoding() != values.getEncoding())
    return op->emitOpError() << "needs indices and values of one shape and encoding, not " << indices << " and "
                             << values;
  if (indices.getRank() != static_cast<int64_t>(buffer.getShape().size()))
    return op->emitOpError() << "indices of rank " << indices.getRank() << " for a buffer of rank "
                             << buffer.getShape().size();
  if (axis >= indices.getRank()) return op->emitOpError() << "axis " << axis << " of rank " << indices.getRank();
  for (int64_t dim = 0; dim < indices.getRank(); ++dim)
    if (dim != axis && indices.getDimSize(dim) > buffer.getShape()[dim])
      return op->emitOpError() << "indices have " << indices.getDimSize(dim) << " elements along dimension " << dim
                               << ", the buffer " << buffer.getShape()[dim];
  return mlir::success();
}

RankedTensorType TensorType(mlir::Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

}  // namespace

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType src = TensorType(getSrc());
  if (src.getElementType() != getType().getElementType()) return emitOpError("changes the element type");
  if (!llvm::isa_and_present<DistributedEncoding>(src.getEncoding()) ||
      !llvm::isa_and_present<DistributedEncoding>(getType().getEncoding()))
    return emitOpError("needs a distributed encoding on both sides");
  return mlir::success();
}

LogicalResult Fp4ToFpOp::verify() {
  RankedTensorType src = TensorType(getSrc()), dst = TensorType(getResult());
  uint32_t axis = getAxis();
  if (axis >= src.getRank()) return emitOpError() << "axis " << axis << " of rank " << src.getRank();
  if (failed(tt::internal::VerifyTensorSizes(*this))) return mlir::failure();
  llvm::SmallVector<int64_t> unpacked(src.getShape());
  unpacked[axis] *= 2;
  if (dst.getShape() != llvm::ArrayRef<int64_t>(unpacked))
    return emitOpError() << "needs twice as many elements along axis " << axis << " in " << dst << " as in " << src;
  if (!dst.getElementType().isF16() && !dst.getElementType().isBF16() && !dst.getElementType().isF32())
    return emitOpError() << "unpacks to f16, bf16 or f32, not to " << dst.getElementType();
  if ((src.getEncoding() == nullptr) != (dst.getEncoding() == nullptr))
    return emitOpError("needs an encoding on both sides or on none");
  if (!src.getEncoding() || IsFp4ToFpEncoding(src.getEncoding(), dst.getEncoding(), src.getShape(), axis))
    return mlir::success();
  return emitOpError("has a result encoding under which the halves of a byte do not stay in its thread");
}

LogicalResult LocalAllocOp::verify() {
  if (getAlignment() && (static_cast<int32_t>(*getAlignment()) <= 0 || !llvm::isPowerOf2_32(*getAlignment())))
    return emitOpError() << "alignment " << static_cast<int32_t>(*getAlignment()) << " is no power of two";
  if (!HasAllocShape(getType())) return emitOpError() << "makes a part of a buffer, " << getType();
  if (getSrc()) return VerifyBufferAccess(*this, TensorType(getSrc()), getType());
  return getType().getMutableMemory() ? mlir::success() : emitOpError("a buffer without contents must be mutable");
}

LogicalResult LocalLoadOp::verify() { return VerifyBufferAccess(*this, TensorType(getResult()), getSrc().getType()); }

LogicalResult LocalStoreOp::verify() {
  if (failed(VerifyMutable(*this, getDst().getType()))) return mlir::failure();
  return VerifyBufferAccess(*this, TensorType(getSrc()), getDst().getType());
}

LogicalResult LocalGatherOp::verify() {
  return VerifyIndexed(*this, getSrc().getType(), TensorType(getIndices()), TensorType(getResult()), getAxis());
}

LogicalResult LocalScatterOp::verify() {
  if (failed(VerifyMutable(*this, getDst().getType()))) return mlir::failure();
  return VerifyIndexed(*this, getDst().getType(), TensorType(getIndices()), TensorType(getValues()), getAxis());
}

LogicalResult LocalAtomicScatterRMWOp::verify() {
  if (failed(VerifyMutable(*this, getDst().getType()))) return mlir::failure();
  if (getResult().getType() != getValues().getType()) return emitOpError("needs a result of the values' type");
  RankedTensorType indices = TensorType(getIndices());
  if (getMask() && getMask().getType() != tt::BoolTypeLike(indices))
    return emitOpError() << "needs a mask like the indices " << indices;
  return VerifyIndexed(*this, getDst().getType(), indices, TensorType(getValues()), getAxis());
}

LogicalResult MemDescIndexOp::verify() {
  MemDescType src = getSrc().getType(), dst = getType();
  if (failed(VerifyView(*this, src, dst))) return mlir::failure();
  if (src.getShape().size() < 2 || dst.getShape() != src.getShape().drop_front())
    return emitOpError() << "takes one of " << src << " along its first dimension, which is no " << dst;
  size_t rank = dst.getShape().size();
  if (src.getAllocShape().take_back(rank) != dst.getAllocShape().take_back(rank))
    return emitOpError("changes the shape of the allocation");
  // The first dimension is the slowest in memory.
  auto names = DimNames(rank + 1);
  llvm::SmallVector<absl::string_view> all(names.begin(), names.end());
  auto count = static_cast<int32_t>(llvm::PowerOf2Ceil(src.getAllocShape().take_back(rank + 1).front()));
  LinearLayout expected = ToLinearLayout(dst).RenameOuts(llvm::ArrayRef(all).drop_front()) *
                          LinearLayout::Identity1D(count, "offset", names[0]);
  return VerifySamePlacement(*this, ToLinearLayout(src), expected.TransposeOuts(all));
}

LogicalResult MemDescSubsliceOp::verify() {
  MemDescType src = getSrc().getType(), dst = getType();
  if (failed(VerifyView(*this, src, dst))) return mlir::failure();
  size_t rank = src.getShape().size();
  if (dst.getShape().size() != rank || getOffsets().size() != rank)
    return emitOpError() << "needs " << rank << " offsets and a result of rank " << rank;
  if (src.getEncoding() != dst.getEncoding()) return emitOpError("changes the encoding");
  if (src.getAllocShape().take_back(rank) != dst.getAllocShape().take_back(rank))
    return emitOpError("changes the shape of the allocation");
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t offset = getOffsets()[dim], size = dst.getShape()[dim];
    if (offset < 0 || offset + size > src.getShape()[dim])
      return emitOpError() << "takes elements " << offset << " to " << offset + size << " of " << src.getShape()[dim]
                           << " along dimension " << dim;
    // Offsets of parts of parts add up without carries.
    if (size != src.getShape()[dim] && !llvm::isPowerOf2_64(size))
      return emitOpError() << "part of size " << size << " along dimension " << dim << " is no power of two";
    if (offset % size != 0)
      return emitOpError() << "offset " << offset << " along dimension " << dim << " is no multiple of the size "
                           << size;
  }
  return mlir::success();
}

LogicalResult MemDescTransOp::verify() {
  MemDescType src = getSrc().getType(), dst = getType();
  if (failed(VerifyView(*this, src, dst))) return mlir::failure();
  size_t rank = src.getShape().size();
  if (!IsPermutation(getOrder(), rank)) return emitOpError() << "order is no permutation of " << rank << " dimensions";
  auto names = DimNames(rank);
  llvm::SmallVector<absl::string_view> all(names.begin(), names.end()), permuted;
  for (size_t dim = 0; dim < rank; ++dim) {
    permuted.push_back(names[getOrder()[dim]]);
    if (dst.getShape().size() != rank || dst.getShape()[dim] != src.getShape()[getOrder()[dim]] ||
        dst.getAllocShape().take_back(rank)[dim] != src.getAllocShape().take_back(rank)[getOrder()[dim]])
      return emitOpError() << "result " << dst << " is no transposition of " << src;
  }
  return VerifySamePlacement(*this, ToLinearLayout(src).TransposeOuts(permuted).RenameOuts(all), ToLinearLayout(dst));
}

LogicalResult MemDescReshapeOp::verify() {
  MemDescType src = getSrc().getType(), dst = getType();
  if (failed(VerifyView(*this, src, dst))) return mlir::failure();
  if (!HasAllocShape(src) || !HasAllocShape(dst)) return emitOpError("cannot reshape a part of a buffer");
  if (Product(src.getShape()) != Product(dst.getShape())) return emitOpError("changes the number of elements");
  return VerifySamePlacement(*this, ReshapeRowMajor(ToLinearLayout(src), dst.getShape()), ToLinearLayout(dst));
}

LogicalResult MemDescReinterpretOp::verify() {
  MemDescType src = getSrc().getType(), dst = getType();
  if (src.getMemorySpace() != dst.getMemorySpace()) return emitOpError("changes the memory space");
  if (src.getMutableMemory() != dst.getMutableMemory()) return emitOpError("changes mutability");
  if (!HasAllocShape(src) || !HasAllocShape(dst)) return emitOpError("cannot reinterpret a part of a buffer");
  if (BufferBits(dst) > BufferBits(src))
    return emitOpError() << "needs " << BufferBits(dst) / 8 << " bytes, the buffer has " << BufferBits(src) / 8;
  return mlir::success();
}

LogicalResult AsyncCopyGlobalToLocalOp::verify() {
  RankedTensorType src = TensorType(getSrc());
  MemDescType dst = getResult().getType();
  if (failed(VerifyMutable(*this, dst))) return mlir::failure();
  if (src.getShape() != dst.getShape() ||
      llvm::cast<tt::PtrType>(src.getElementType()).getPointeeType() != dst.getElementType())
    return emitOpError() << "copies through " << src << " to a buffer of another shape or type " << dst;
  if (static_cast<int32_t>(getContiguity()) <= 0 || !llvm::isPowerOf2_32(getContiguity()))
    return emitOpError() << "contiguity " << static_cast<int32_t>(getContiguity()) << " is no power of two";
  return mlir::success();
}

LogicalResult AsyncWaitOp::verify() {
  return static_cast<int32_t>(getNum()) >= 0 ? mlir::success() : emitOpError("waits for less than no group in flight");
}

LogicalResult GlobalScratchAllocOp::verify() {
  if (static_cast<int32_t>(getNbytes()) < 0) return emitOpError("allocates less than no bytes");
  if (static_cast<int32_t>(getAlignment()) <= 0 || !llvm::isPowerOf2_32(getAlignment()))
    return emitOpError() << "alignment " << static_cast<int32_t>(getAlignment()) << " is no power of two";
  return mlir::success();
}

LogicalResult PredicateStageOp::verify() {
  int32_t stage = getStage(), last = getMaxStage();
  if (stage < 0 || stage > last) return emitOpError() << "stage " << stage << " is not among 0 to " << last;
  return mlir::success();
}

LogicalResult MaskOp::verify() {
  auto ret = llvm::dyn_cast<MaskReturnOp>(getRegion().front().getTerminator());
  if (!ret) return emitOpError("needs a region that ends with mask.return");
  if (getRegion().getNumArguments() != 0) return emitOpError("has a region with arguments");
  if (ret.getOperandTypes() != getResultTypes()) return ret.emitOpError("returns other types than the mask around it");
  return mlir::success();
}

}  // namespace tritond::ttg
