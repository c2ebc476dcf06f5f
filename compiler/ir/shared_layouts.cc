// SPDX-License-Identifier: Apache-2.0
// The encodings of shared memory as linear layouts: (offset, block) -> (dim0, …). Each describes what one block holds,
// the tensor divided by the cluster's layout, by the basis of every bit of the offset, lowest first.
#include "compiler/ir/encodings.h"
#include "compiler/ir/layout_blocks.h"
#include "compiler/ir/layout_memory.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::ttg {

using compiler::InDimBases;
using compiler::LinearLayout;

namespace {

// The shape that one block holds.
llvm::SmallVector<int64_t> BlockShape(const LinearLayout& cga, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> part;
  LinearLayout blocks = FitCga(cga, shape);
  for (auto [dim, size] : llvm::zip(blocks.OutDims(), shape)) part.push_back(size / dim.size());
  return part;
}

// The layout with these bases of the offset, in a cluster.
LinearLayout InCluster(const InDimBases& offset, const LinearLayout& cga, llvm::ArrayRef<int64_t> shape) {
  std::vector<compiler::DimSize> outs;
  llvm::SmallVector<int64_t> part = BlockShape(cga, shape);
  for (auto [name, size] : llvm::zip(DimNames(shape.size()), part)) outs.push_back({name, static_cast<int32_t>(size)});
  auto layout = LinearLayout::FromBases({offset, InDimBases{"block", {}}}, outs);
  if (!layout.ok()) llvm::report_fatal_error("shared layout: " + llvm::Twine(layout.status().ToString()));
  return *layout * FitCga(cga, shape);
}

// Row-major in `order`; row r of the two fastest dimensions has its groups of `vec` columns permuted by phase(r).
LinearLayout SwizzledRows(llvm::ArrayRef<unsigned> order, const LinearLayout& cga, llvm::ArrayRef<int64_t> shape,
                          unsigned vec, llvm::function_ref<int64_t(int64_t)> phase) {
  llvm::SmallVector<int64_t> part = BlockShape(cga, shape);
  InDimBases offset{"offset", {}};
  unsigned column = order[0];
  for (auto [i, dim] : llvm::enumerate(order)) {
    for (int64_t step = 1; step < part[dim]; step *= 2) {
      std::vector<int32_t> basis(shape.size(), 0);
      basis[dim] = step;
      if (i == 1) basis[column] = vec * phase(step) % part[column];
      offset.bases.push_back(basis);
    }
  }
  return InCluster(offset, cga, shape);
}

// The bases of a plane of `rows` x `columns` as nvmma_shared has it, {row, column} each.
std::vector<std::pair<int32_t, int32_t>> NvmmaPlane(NvmmaSharedEncodingAttr nvmma, int64_t rows, int64_t columns) {
  int element_bytes = nvmma.getElementBitWidth() / 8, width = nvmma.getSwizzlingByteWidth();
  int column_bytes = std::max(16, width), chunk = 16 / element_bytes;
  // Rows of a column that share a permutation of the 16-byte chunks, and how many permutations there are.
  int per_phase = 128 / column_bytes, phases = width / 16;
  // fp4Padded: every second run of 8 offsets holds nothing.
  auto packed = [&](int column) { return nvmma.getFp4Padded() ? column / 16 * 8 + column % 8 : column; };
  std::vector<std::pair<int32_t, int32_t>> bases;
  for (int column = 1; column < column_bytes / element_bytes; column *= 2) bases.push_back({0, packed(column)});
  for (int64_t row = 1; row < rows; row *= 2)
    bases.push_back({row, phases == 0 || row >= 8 ? 0 : packed(chunk * (row / per_phase % phases))});
  for (int64_t column = packed(column_bytes / element_bytes); column < columns; column *= 2)
    bases.push_back({0, column});
  return bases;
}

}  // namespace

unsigned SwizzledSharedEncodingAttr::Rank() const { return getOrder().size(); }
unsigned AmdRotatingSharedEncodingAttr::Rank() const { return getOrder().size(); }
unsigned NvmmaSharedEncodingAttr::Rank() const { return getCga().OutDims().size(); }
unsigned PaddedSharedEncodingAttr::Rank() const { return getLayout().OutDims().size(); }
unsigned SharedLinearEncodingAttr::Rank() const { return getLayout().OutDims().size(); }

LinearLayout SwizzledSharedEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    return SwizzledRows(getOrder(), getCga(), shape, getVec(),
                        [&](int64_t row) { return row / getPerPhase() % getMaxPhase(); });
  });
}

LinearLayout AmdRotatingSharedEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    return SwizzledRows(getOrder(), getCga(), shape, getVec(), [&](int64_t row) {
      return (row / getPerPhase() % getMaxPhase()) ^ (row / getMaxPhase() / getPerPhase() % getMaxPhase());
    });
  });
}

LinearLayout NvmmaSharedEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    llvm::SmallVector<int64_t> part = BlockShape(getCga(), shape);
    unsigned rank = shape.size();
    InDimBases offset{"offset", {}};
    if (rank == 1) {
      for (int32_t step = 1; step < part[0]; step *= 2) offset.bases.push_back({step});
      return InCluster(offset, getCga(), shape);
    }
    // The contiguous dimension is the last, or the first if transposed; the others are rows, the last of them fastest.
    unsigned contiguous = getTransposed() ? 0 : rank - 1;
    llvm::SmallVector<unsigned> row_dims;
    for (unsigned dim = rank; dim-- > 0;)
      if (dim != contiguous) row_dims.push_back(dim);
    int64_t rows = Product(part) / part[contiguous];
    for (auto [row, column] : NvmmaPlane(*this, rows, part[contiguous])) {
      std::vector<int32_t> basis(rank, 0);
      basis[contiguous] = column % part[contiguous];
      int64_t rest = row;
      for (unsigned dim : row_dims) {
        basis[dim] = rest % part[dim];
        rest /= part[dim];
      }
      offset.bases.push_back(basis);
    }
    return InCluster(offset, getCga(), shape);
  });
}

LinearLayout PaddedSharedEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t>) const { return getLayout(); }

LinearLayout SharedLinearEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t>) const { return getLayout(); }

int64_t AlignmentOf(MemDescType type) {
  if (auto linear = llvm::dyn_cast<SharedLinearEncodingAttr>(type.getEncoding())) return linear.getAlignment();
  auto nvmma = llvm::dyn_cast<NvmmaSharedEncodingAttr>(type.getEncoding());
  // The hardware swizzles by address bits: eight rows of a column stand together.
  return nvmma ? std::max(128u, 8 * nvmma.getSwizzlingByteWidth()) : 1;
}

}  // namespace tritond::ttg
