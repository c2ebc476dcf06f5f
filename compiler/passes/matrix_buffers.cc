// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/matrix_buffers.h"

#include "compiler/passes/dot_slices.h"

namespace tritond::compiler {
namespace {

constexpr int64_t kGroupBytes = 16, kBankRowBytes = 128;
// Rows of a group that one phase of the memory serves.
constexpr int64_t kRows = 8;

ttg::SwizzledSharedEncodingAttr SwizzledGroups(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order) {
  int64_t bits = type.getElementTypeBitWidth();
  if (bits < 8 || bits > 32) return {};
  int64_t row_bytes = type.getDimSize(order[0]) * bits / 8;
  int64_t vec = std::min(kGroupBytes, row_bytes) * 8 / bits;
  int64_t per_phase = std::max<int64_t>(1, kBankRowBytes / row_bytes);
  int64_t max_phase = std::max<int64_t>(1, std::min(kRows / std::min(kRows, per_phase), row_bytes / kGroupBytes));
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
  if (auto unit = llvm::dyn_cast<ttg::MatrixEncoding>(operand.getParent())) {
    unsigned k = operand.getOpIdx() == 0 ? 1 : 0;
    if (mlir::Attribute own = unit.OperandBuffer(type, order, dims.empty() ? k : dims[k])) return own;
  }
  const int k = DimOfK(type.getRank(), operand.getOpIdx());
  const bool is_row_of_k = static_cast<int>(order[0]) != (dims.empty() ? k : dims[k]);
  if (llvm::isa<ttg::BlockedEncodingAttr>(operand.getParent()) && is_row_of_k)
    return ttg::SwizzledSharedEncodingAttr::get(type.getContext(), 1, 1, 1, order);
  return SwizzledGroups(type, order);
}

bool IsMatrixOperand(mlir::RankedTensorType type) {
  auto operand = llvm::dyn_cast_if_present<ttg::DotOperandEncodingAttr>(type.getEncoding());
  return operand && !llvm::isa<ttg::BlockedEncodingAttr>(operand.getParent());
}

}  // namespace tritond::compiler
