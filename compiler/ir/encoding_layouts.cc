// SPDX-License-Identifier: Apache-2.0
// The encodings of any tensor as linear layouts.
//
// A distributed layout grows outwards: the elements of one thread, then the lanes of a warp, then the warps. Where this
// tile is smaller than the tensor, more registers cover the rest (fastest dimension first). Where it is larger, the
// excess bases become zero: those threads hold copies. The blocks of a cluster divide the tensor before all this.
#include "compiler/ir/encodings.h"
#include "compiler/ir/layout_blocks.h"
#include "compiler/ir/layout_memory.h"
#include "compiler/layout/layout_algebra.h"

namespace tritond::ttg {

using compiler::LinearLayout;

LinearLayout SingleBlock(unsigned rank) {
  LinearLayout cga;
  for (const std::string& dim : DimNames(rank)) cga *= LinearLayout::Identity1D(1, "block", dim);
  return cga;
}

LinearLayout EmptyLayout(llvm::ArrayRef<std::string> dims) {
  LinearLayout layout;
  for (const std::string& dim : dims)
    for (const char* in : {"register", "lane", "warp", "block"}) layout *= LinearLayout::Identity1D(1, in, dim);
  return layout;
}

llvm::SmallVector<unsigned> RowMajor(unsigned rank) {
  llvm::SmallVector<unsigned> order;
  for (unsigned dim = rank; dim-- > 0;) order.push_back(dim);
  return order;
}

LinearLayout Spread(unsigned count, llvm::StringRef in, const std::string& dim, bool copies) {
  absl::string_view name(in.data(), in.size());
  return copies ? LinearLayout::Zeros1D(count, name, dim) : LinearLayout::Identity1D(count, name, dim);
}

LinearLayout FitCga(const LinearLayout& cga, llvm::ArrayRef<int64_t> shape) {
  LinearLayout fitted = cga;
  for (auto [dim, size] : llvm::zip(cga.OutDims(), shape))
    if (dim.size() > size) fitted = fitted.ResizeOut(dim.name, size);
  return fitted;
}

LinearLayout WithoutSplit(const LinearLayout& cga, unsigned dim) { return cga.ResizeOut(cga.OutDims()[dim].name, 1); }

LinearLayout FitToShape(LinearLayout layout, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                        const LinearLayout& cga) {
  auto dims = DimNames(shape.size());
  LinearLayout blocks = FitCga(cga, shape);
  for (unsigned dim : order) {
    int64_t tile = layout.OutSize(dims[dim]), size = shape[dim] / blocks.OutSize(dims[dim]);
    if (tile > size) layout = layout.ResizeOut(dims[dim], size);
    if (tile < size) layout *= LinearLayout::Identity1D(size / tile, "register", dims[dim]);
  }
  return layout * blocks;
}

unsigned BlockedEncodingAttr::Rank() const { return getOrder().size(); }
unsigned SliceEncodingAttr::Rank() const { return getParent().Rank() - 1; }
unsigned DotOperandEncodingAttr::Rank() const { return getParent().Rank(); }
unsigned LinearEncodingAttr::Rank() const { return getLayout().OutDims().size(); }
unsigned GenericLinearEncodingAttr::Rank() const { return getLayout().OutDims().size(); }

LinearLayout BlockedEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    auto dims = DimNames(Rank());
    LinearLayout layout = EmptyLayout(dims);
    for (unsigned d : getOrder()) layout *= LinearLayout::Identity1D(getSizePerThread()[d], "register", dims[d]);
    for (unsigned d : getOrder()) layout *= LinearLayout::Identity1D(getThreadsPerWarp()[d], "lane", dims[d]);
    for (unsigned d : getOrder()) layout *= LinearLayout::Identity1D(getWarpsPerCTA()[d], "warp", dims[d]);
    return FitToShape(layout, shape, getOrder(), getCga());
  });
}

llvm::SmallVector<int64_t> SliceEncodingAttr::PaddedShape(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> padded(shape);
  padded.insert(padded.begin() + getDim(), 1);
  return padded;
}

LinearLayout SliceEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    SliceEncodingAttr self = *this;
    LinearLayout parent = getParent().ToLinearLayout(self.PaddedShape(shape));
    auto dims = DimNames(Rank() + 1);
    dims.erase(dims.begin() + getDim());
    llvm::SmallVector<absl::string_view> kept(dims.begin(), dims.end());
    auto ins = parent.InNames();
    LinearLayout slice = parent.Sublayout(ins, kept).RemoveZeroBases("register");
    auto names = DimNames(Rank());
    llvm::SmallVector<absl::string_view> renamed(names.begin(), names.end());
    return slice.RenameOuts(renamed);
  });
}

LinearLayout DotOperandEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    auto blocked = llvm::dyn_cast<BlockedEncodingAttr>(getParent());
    if (!blocked) return MatrixOperandLayout(*this, shape);
    // Each thread holds the whole of K for its rows (a) or columns (b); the threads along the other side hold copies.
    auto dims = DimNames(Rank());
    unsigned k = getOpIdx() == 0 ? Rank() - 1 : Rank() - 2;
    LinearLayout layout = EmptyLayout(dims);
    for (unsigned d : blocked.getOrder())
      layout *= LinearLayout::Identity1D(d == k ? shape[k] : blocked.getSizePerThread()[d], "register", dims[d]);
    for (unsigned d : blocked.getOrder()) layout *= Spread(blocked.getThreadsPerWarp()[d], "lane", dims[d], d == k);
    for (unsigned d : blocked.getOrder()) layout *= Spread(blocked.getWarpsPerCTA()[d], "warp", dims[d], d == k);
    return FitToShape(layout, shape, blocked.getOrder(), WithoutSplit(blocked.getCga(), k));
  });
}

LinearLayout LinearEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape,
                              [&] { return FitToShape(getLayout(), shape, RowMajor(Rank()), SingleBlock(Rank())); });
}

LinearLayout GenericLinearEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape,
                              [&] { return FitToShape(getLayout(), shape, RowMajor(Rank()), SingleBlock(Rank())); });
}

}  // namespace tritond::ttg
