// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/matrix_buffers.h"

namespace tritond::compiler {
namespace {

// The memory serves 128 bytes at a time. Eight rows of 16 bytes are what a matrix load reads, and what lanes read of
// words: four neighbours of a row each. Elements of 64 bits are served to half a warp: four neighbours of four rows.
constexpr int64_t kGroupBytes = 16, kGroupElements = 4, kBankRowBytes = 128;

ttg::SwizzledSharedEncodingAttr SwizzledGroups(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order) {
  int64_t bits = type.getElementTypeBitWidth();
  if (bits < 8 || bits > 64) return {};
  int64_t group_bytes = std::max(kGroupBytes, kGroupElements * bits / 8), rows = kBankRowBytes / group_bytes;
  int64_t row_bytes = type.getDimSize(order[0]) * bits / 8;
  int64_t vec = std::min(group_bytes, row_bytes) * 8 / bits;
  int64_t per_phase = std::max<int64_t>(1, kBankRowBytes / row_bytes);
  int64_t max_phase = std::max<int64_t>(1, std::min(rows / std::min(rows, per_phase), row_bytes / group_bytes));
  return ttg::SwizzledSharedEncodingAttr::get(type.getContext(), vec, per_phase, max_phase, order);
}

}  // namespace

mlir::Attribute MatrixBufferEncoding(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order,
                                     ttg::DotOperandEncodingAttr operand, llvm::ArrayRef<int32_t> dims) {
  if (auto unit = llvm::dyn_cast<ttg::MatrixEncoding>(operand.getParent())) {
    unsigned k = operand.getOpIdx() == 0 ? 1 : 0;
    if (mlir::Attribute own = unit.OperandBuffer(type, order, dims.empty() ? k : dims[k])) return own;
  }
  return SwizzledGroups(type, order);
}

bool IsMatrixOperand(mlir::RankedTensorType type) {
  auto operand = llvm::dyn_cast_if_present<ttg::DotOperandEncodingAttr>(type.getEncoding());
  return operand && !llvm::isa<ttg::BlockedEncodingAttr>(operand.getParent());
}

}  // namespace tritond::compiler
