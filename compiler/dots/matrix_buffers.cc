// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/matrix_buffers.h"

#include "compiler/dots/dot_slices.h"

namespace tritond::compiler {
namespace {

// The memory serves 128 bytes at a time. Eight rows of 16 bytes are what a matrix load reads, and what lanes read of
// words: four neighbours of a row each. Elements of 64 bits are served to half a warp: four neighbours of four rows.
constexpr int64_t kGroupBytes = 16, kGroupElements = 4, kBankRowBytes = 128;

// `run`: rows that a lane reads one after the other, its neighbour those after them.
ttg::SwizzledSharedEncodingAttr SwizzledGroups(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order,
                                               int64_t run) {
  int64_t bits = type.getElementTypeBitWidth();
  if (bits < 8 || bits > 64) return {};
  int64_t group_bytes = std::max(kGroupBytes, kGroupElements * bits / 8), rows = kBankRowBytes / group_bytes;
  int64_t row_bytes = type.getDimSize(order[0]) * bits / 8;
  int64_t vec = std::min(group_bytes, row_bytes) * 8 / bits;
  int64_t per_phase = std::max<int64_t>(1, kBankRowBytes / row_bytes);
  int64_t max_phase = std::max<int64_t>(1, std::min(rows / std::min(rows, per_phase), row_bytes / group_bytes));
  if (run > per_phase) {
    per_phase = run;
    max_phase = std::max<int64_t>(1, std::min(rows, row_bytes / group_bytes));
  }
  return ttg::SwizzledSharedEncodingAttr::get(type.getContext(), vec, per_phase, max_phase, order);
}

}  // namespace

llvm::SmallVector<unsigned> OrderInThread(mlir::RankedTensorType type) {
  if (auto blocked = llvm::dyn_cast<ttg::BlockedEncodingAttr>(type.getEncoding()))
    return llvm::SmallVector<unsigned>(blocked.getOrder());
  LinearLayout layout = ttg::ToLinearLayout(type);
  llvm::SmallVector<unsigned> order;
  for (unsigned dim = type.getRank(); dim-- > 0;) order.push_back(dim);
  auto run = [&](unsigned dim) { return layout.NumConsecutive("register", ttg::DimNames(type.getRank())[dim]); };
  llvm::stable_sort(order, [&](unsigned x, unsigned y) { return run(x) > run(y); });
  return order;
}

mlir::Attribute MatrixBufferEncoding(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order,
                                     ttg::DotOperandEncodingAttr operand, llvm::ArrayRef<int32_t> dims) {
  unsigned k = DimOfK(type.getRank(), operand.getOpIdx());
  if (!dims.empty()) k = dims[k];
  const bool is_across = order[0] != k;
  auto unit = llvm::dyn_cast<ttg::MatrixEncoding>(operand.getParent());
  if (mlir::Attribute own = unit ? unit.OperandBuffer(type, order, k) : mlir::Attribute()) return own;
  if (is_across && llvm::isa<ttg::BlockedEncodingAttr>(operand.getParent()))
    return ttg::SwizzledSharedEncodingAttr::get(type.getContext(), 1, 1, 1, order);
  // No instruction loads tiles of bytes across their rows.
  bool is_read_by_run = is_across && unit && type.getElementTypeBitWidth() == 8;
  return SwizzledGroups(type, order, is_read_by_run ? operand.getKWidth() : 1);
}

bool IsMatrixOperand(mlir::RankedTensorType type) {
  auto operand = llvm::dyn_cast_if_present<ttg::DotOperandEncodingAttr>(type.getEncoding());
  return operand && !llvm::isa<ttg::BlockedEncodingAttr>(operand.getParent());
}

}  // namespace tritond::compiler
