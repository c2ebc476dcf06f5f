// SPDX-License-Identifier: Apache-2.0
// What matrix units do by themselves: which buffers in shared memory they read, and to which accumulators they add.
// Also, what a transposed buffer is.
#include "compiler/ir/encodings.h"

namespace tritond::ttg {
namespace {

// PTX ISA, "Shared memory matrix layout": rows of at most 128 bytes, in groups of eight. Each of at least two times 16
// bytes, since less is no swizzle.
constexpr int64_t kSwizzleBytes = 128, kLeastRowBytes = 32, kGroupRows = 8;

bool HasWideAccumulators(mlir::Type result) { return result.getIntOrFloatBitWidth() >= 32; }

}  // namespace

// wgmma and tcgen05.mma read operands of 8 to 32 bits with K contiguous, and of 16 bits in either order.
mlir::Attribute NvidiaMmaEncodingAttr::OperandBuffer(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order,
                                                     unsigned k) const {
  if (getVersionMajor() < 3 || !type.getElementType().isIntOrFloat()) return {};
  const int64_t bits = type.getElementTypeBitWidth();
  if (type.getRank() != 2 || bits < 8 || bits > 32 || (bits != 16 && order[0] != k)) return {};
  const int64_t width = std::min(type.getDimSize(order[0]) * bits / 8, kSwizzleBytes);
  if (width < kLeastRowBytes || type.getDimSize(order[1]) < kGroupRows) return {};
  return NvmmaSharedEncodingAttr::get(type.getContext(), width, /*transposed=*/order[0] == 0, bits,
                                      /*fp4Padded=*/false, SingleBlock(2));
}

// Accumulators have 32 bits, or 64 for operands of 64. Those of mma.sync and wgmma may also be f16 (PTX ISA, "mma" and
// "wgmma.mma_async", .dtype).
bool NvidiaMmaEncodingAttr::AddsToResult(mlir::Type operand, mlir::Type result) const {
  if (getVersionMajor() <= 3 && operand.isF16() && result.isF16()) return true;
  return HasWideAccumulators(result);
}

// These units read registers.
mlir::Attribute AmdMfmaEncodingAttr::OperandBuffer(mlir::RankedTensorType, llvm::ArrayRef<unsigned>, unsigned) const {
  return {};
}
mlir::Attribute AmdWmmaEncodingAttr::OperandBuffer(mlir::RankedTensorType, llvm::ArrayRef<unsigned>, unsigned) const {
  return {};
}
mlir::Attribute DpasEncodingAttr::OperandBuffer(mlir::RankedTensorType, llvm::ArrayRef<unsigned>, unsigned) const {
  return {};
}

bool AmdMfmaEncodingAttr::AddsToResult(mlir::Type, mlir::Type result) const { return HasWideAccumulators(result); }
bool AmdWmmaEncodingAttr::AddsToResult(mlir::Type, mlir::Type result) const { return HasWideAccumulators(result); }
bool DpasEncodingAttr::AddsToResult(mlir::Type, mlir::Type result) const { return HasWideAccumulators(result); }

mlir::Attribute TransBufferEncoding(mlir::Attribute src, llvm::ArrayRef<int32_t> order) {
  if (auto nvmma = llvm::dyn_cast<NvmmaSharedEncodingAttr>(src)) {
    bool swaps = order[0] != 0;  // of two dimensions
    return NvmmaSharedEncodingAttr::get(src.getContext(), nvmma.getSwizzlingByteWidth(), nvmma.getTransposed() != swaps,
                                        nvmma.getElementBitWidth(), nvmma.getFp4Padded(), nvmma.getCga());
  }
  auto swizzled = llvm::dyn_cast<SwizzledSharedEncodingAttr>(src);
  if (!swizzled) return {};
  llvm::SmallVector<unsigned> moved_to(order.size()), memory_order;
  for (auto [to, from] : llvm::enumerate(order)) moved_to[from] = to;
  for (unsigned dim : swizzled.getOrder()) memory_order.push_back(moved_to[dim]);
  return SwizzledSharedEncodingAttr::get(src.getContext(), swizzled.getVec(), swizzled.getPerPhase(),
                                         swizzled.getMaxPhase(), memory_order);
}

}  // namespace tritond::ttg
