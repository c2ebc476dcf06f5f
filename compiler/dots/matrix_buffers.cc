// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/matrix_buffers.h"

#include <algorithm>

#include "compiler/dots/dot_slices.h"
#include "compiler/ir/encodings.h"

namespace tritond::compiler {
namespace {

// The memory serves 128 bytes at a time. Eight rows of 16 bytes are what a matrix load reads, and what lanes read of
// words along K: four neighbours of a row each. Elements of 64 bits are served to half a warp: four neighbours of four
// rows. Across K, words are read as eight neighbours of four rows.
constexpr int64_t kGroupBytes = 16, kGroupElements = 4, kBankRowBytes = 128, kWordBits = 32;

// Elements of `bits` bits that lanes which are served at once read side by side under `layout`, each a word or more.
// They are of a row, which is dimension `dim`.
int64_t ReadTogether(const LinearLayout& layout, absl::string_view dim, int64_t bits) {
  int64_t elements = std::min<int64_t>(layout.NumConsecutive("register", dim), kGroupBytes * 8 / bits);
  if (elements * bits < kWordBits) return elements;
  const int64_t lanes = kBankRowBytes * 8 / (elements * bits);
  for (int bit = 0; bit < layout.InBits("lane") && int64_t{1} << bit < lanes; ++bit)
    if (layout.Basis("lane", bit, dim) == elements) elements *= 2;
  return elements;
}

// `together`: elements of a row that lanes read side by side. `run`: rows that a lane reads one after the other, its
// neighbour those after them.
ttg::SwizzledSharedEncodingAttr SwizzledGroups(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order,
                                               int64_t together, int64_t run) {
  int64_t bits = type.getElementTypeBitWidth();
  if (bits < 8 || bits > 64) return {};
  int64_t group_bytes = std::clamp(together * bits / 8, kGroupBytes, kBankRowBytes / 2);
  int64_t rows = kBankRowBytes / group_bytes;
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

// Rows of a matrix lie one after the other, and the matrices of a batch after each other: neighbouring rows are read
// together. Where neighbours along the batch are neighbours in memory, they stay so.
llvm::SmallVector<unsigned> WithBatchLast(llvm::ArrayRef<unsigned> order, llvm::ArrayRef<int32_t> dims) {
  llvm::SmallVector<unsigned> with_batch_last(order);
  const unsigned num_batched = order.size() - 2;
  auto is_of_matrix = [&](unsigned dim) {
    return (dims.empty() ? dim : static_cast<unsigned>(llvm::find(dims, dim) - dims.begin())) >= num_batched;
  };
  if (is_of_matrix(order[0])) std::stable_partition(with_batch_last.begin(), with_batch_last.end(), is_of_matrix);
  return with_batch_last;
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

mlir::Attribute MatrixBufferEncoding(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> threads_order,
                                     ttg::DotOperandEncodingAttr operand, llvm::ArrayRef<int32_t> dims,
                                     bool by_threads) {
  const llvm::SmallVector<unsigned> order = WithBatchLast(threads_order, dims);
  unsigned k = DimOfK(type.getRank(), operand.getOpIdx());
  if (!dims.empty()) k = dims[k];
  const bool is_across = order[0] != k;
  auto unit = llvm::dyn_cast<ttg::MatrixEncoding>(operand.getParent());
  const bool may_read = unit && !by_threads;
  if (mlir::Attribute own = may_read ? unit.OperandBuffer(type, order, k) : mlir::Attribute()) return own;
  if (is_across && llvm::isa<ttg::BlockedEncodingAttr>(operand.getParent()))
    return ttg::SwizzledSharedEncodingAttr::get(type.getContext(), 1, 1, 1, order);
  // No instruction loads tiles of bytes across their rows.
  bool is_read_by_run = is_across && unit && type.getElementTypeBitWidth() == 8;
  int64_t together = kGroupElements;
  // Across K, narrower elements are read one by one.
  if (unit && (!is_across || type.getElementTypeBitWidth() >= kWordBits)) {
    llvm::SmallVector<int64_t> shape(type.getShape());
    for (auto [dim, of_buffer] : llvm::enumerate(dims)) shape[dim] = type.getDimSize(of_buffer);
    const unsigned rank = type.getRank();
    const LinearLayout layout = llvm::cast<ttg::DistributedEncoding>(operand).ToLinearLayout(shape);
    const auto row = dims.empty() ? order[0] : static_cast<unsigned>(llvm::find(dims, order[0]) - dims.begin());
    together = std::max(together, ReadTogether(layout, ttg::DimNames(rank)[row], type.getElementTypeBitWidth()));
  }
  return SwizzledGroups(type, order, together, is_read_by_run ? operand.getKWidth() : 1);
}

ttg::SwizzledSharedEncodingAttr ReadBufferEncoding(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order,
                                                   mlir::RankedTensorType read) {
  const int64_t together =
      ReadTogether(ttg::ToLinearLayout(read), ttg::DimNames(type.getRank())[order[0]], type.getElementTypeBitWidth());
  return SwizzledGroups(type, order, together, 1);
}

bool IsMatrixOperand(mlir::RankedTensorType type) {
  auto operand = llvm::dyn_cast_if_present<ttg::DotOperandEncodingAttr>(type.getEncoding());
  return operand && !llvm::isa<ttg::BlockedEncodingAttr>(operand.getParent());
}

}  // namespace tritond::compiler
