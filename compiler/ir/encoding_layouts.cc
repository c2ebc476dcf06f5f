// SPDX-License-Identifier: Apache-2.0
// Each encoding as a linear layout.
//
// A distributed layout grows outwards: the elements of one thread, then the lanes of a warp, then the warps. Where this
// tile is smaller than the tensor, more registers cover the rest (fastest dimension first); where it is larger, the
// excess bases become zero: those threads hold copies.
#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"

namespace tritond::ttg {
namespace {

using compiler::InDimBases;
using compiler::LinearLayout;

// No bits yet, but all the dimensions in their order.
LinearLayout EmptyLayout(llvm::ArrayRef<std::string> dims) {
  LinearLayout layout;
  for (const std::string& dim : dims)
    for (const char* in : {"register", "lane", "warp", "block"}) layout *= LinearLayout::Identity1D(1, in, dim);
  return layout;
}

LinearLayout FitToShape(LinearLayout layout, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order) {
  auto dims = DimNames(shape.size());
  for (unsigned dim : order) {
    int64_t tile = layout.OutSize(dims[dim]);
    if (tile > shape[dim]) layout = layout.ResizeOut(dims[dim], shape[dim]);
    if (tile < shape[dim]) layout *= LinearLayout::Identity1D(shape[dim] / tile, "register", dims[dim]);
  }
  return layout;
}

llvm::SmallVector<unsigned> RowMajor(unsigned rank) {
  llvm::SmallVector<unsigned> order;
  for (unsigned dim = rank; dim-- > 0;) order.push_back(dim);
  return order;
}

// Lanes or warps along `dim`, or copies of each element across them.
LinearLayout Spread(unsigned count, llvm::StringRef in, const std::string& dim, bool copies) {
  absl::string_view name(in.data(), in.size());
  return copies ? LinearLayout::Zeros1D(count, name, dim) : LinearLayout::Identity1D(count, name, dim);
}

}  // namespace

unsigned BlockedEncodingAttr::Rank() const { return getOrder().size(); }
unsigned SliceEncodingAttr::Rank() const { return getParent().Rank() - 1; }
unsigned DotOperandEncodingAttr::Rank() const { return getParent().Rank(); }
unsigned NvidiaMmaEncodingAttr::Rank() const { return getWarpsPerCTA().size(); }
unsigned LinearEncodingAttr::Rank() const { return getLayout().OutDims().size(); }
unsigned SwizzledSharedEncodingAttr::Rank() const { return getOrder().size(); }

LinearLayout BlockedEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  auto dims = DimNames(Rank());
  LinearLayout layout = EmptyLayout(dims);
  for (unsigned d : getOrder()) layout *= LinearLayout::Identity1D(getSizePerThread()[d], "register", dims[d]);
  for (unsigned d : getOrder()) layout *= LinearLayout::Identity1D(getThreadsPerWarp()[d], "lane", dims[d]);
  for (unsigned d : getOrder()) layout *= LinearLayout::Identity1D(getWarpsPerCTA()[d], "warp", dims[d]);
  return FitToShape(layout, shape, getOrder());
}

llvm::SmallVector<int64_t> SliceEncodingAttr::PaddedShape(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> padded(shape);
  padded.insert(padded.begin() + getDim(), 1);
  return padded;
}

LinearLayout SliceEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
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
}

LinearLayout NvidiaMmaEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  auto dims = DimNames(Rank());
  const std::string &m = dims[Rank() - 2], &n = dims[Rank() - 1];
  LinearLayout layout = EmptyLayout(dims) * LinearLayout::Identity1D(2, "register", n) *
                        LinearLayout::Identity1D(4, "lane", n) * LinearLayout::Identity1D(8, "lane", m) *
                        LinearLayout::Identity1D(2, "register", m);
  for (unsigned d : RowMajor(Rank())) layout *= LinearLayout::Identity1D(getWarpsPerCTA()[d], "warp", dims[d]);
  return FitToShape(layout, shape, RowMajor(Rank()));
}

// An operand of mma.sync: kWidth neighbours along K in a lane, four lanes along K, eight along the other dimension.
static LinearLayout MmaOperandLayout(DotOperandEncodingAttr operand, NvidiaMmaEncodingAttr mma,
                                     llvm::ArrayRef<int64_t> shape) {
  unsigned rank = operand.Rank(), k = operand.getOpIdx() == 0 ? rank - 1 : rank - 2;
  unsigned other = operand.getOpIdx() == 0 ? rank - 2 : rank - 1;
  auto dims = DimNames(rank);
  LinearLayout layout = EmptyLayout(dims) * LinearLayout::Identity1D(operand.getKWidth(), "register", dims[k]) *
                        LinearLayout::Identity1D(4, "lane", dims[k]) * LinearLayout::Identity1D(8, "lane", dims[other]);
  if (operand.getOpIdx() == 0) layout *= LinearLayout::Identity1D(2, "register", dims[other]);
  layout *= LinearLayout::Identity1D(2, "register", dims[k]);
  for (unsigned d : RowMajor(rank)) layout *= Spread(mma.getWarpsPerCTA()[d], "warp", dims[d], /*copies=*/d == k);
  llvm::SmallVector<unsigned> order = RowMajor(rank);
  if (order[0] != k) std::swap(order[0], order[1]);
  return FitToShape(layout, shape, order);
}

LinearLayout DotOperandEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto mma = llvm::dyn_cast<NvidiaMmaEncodingAttr>(getParent())) return MmaOperandLayout(*this, mma, shape);
  // Each thread holds the whole of K for its rows (a) or columns (b); the threads along the other side hold copies.
  auto blocked = llvm::dyn_cast<BlockedEncodingAttr>(getParent());
  if (!blocked) llvm::report_fatal_error("dot operand of a parent without a layout rule");
  auto dims = DimNames(Rank());
  unsigned k = getOpIdx() == 0 ? Rank() - 1 : Rank() - 2;
  LinearLayout layout = EmptyLayout(dims);
  for (unsigned d : blocked.getOrder())
    layout *= LinearLayout::Identity1D(d == k ? shape[k] : blocked.getSizePerThread()[d], "register", dims[d]);
  for (unsigned d : blocked.getOrder()) layout *= Spread(blocked.getThreadsPerWarp()[d], "lane", dims[d], d == k);
  for (unsigned d : blocked.getOrder()) layout *= Spread(blocked.getWarpsPerCTA()[d], "warp", dims[d], d == k);
  return FitToShape(layout, shape, blocked.getOrder());
}

LinearLayout LinearEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return FitToShape(getLayout(), shape, RowMajor(Rank()));
}

LinearLayout SwizzledSharedEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  auto dims = DimNames(Rank());
  LinearLayout layout;
  for (const std::string& dim : dims)
    for (const char* in : {"offset", "block"}) layout *= LinearLayout::Identity1D(1, in, dim);
  layout *= LinearLayout::Identity1D(shape[getOrder()[0]], "offset", dims[getOrder()[0]]);
  if (Rank() > 1) {
    // Row r starts a new line of columns, its groups of `vec` permuted by the row's phase.
    unsigned col = getOrder()[0], row = getOrder()[1];
    InDimBases rows{"offset", {}};
    for (int64_t r = 1; r < shape[row]; r *= 2) {
      std::vector<int32_t> basis(Rank(), 0);
      basis[row] = r;
      basis[col] = (getVec() * ((r / getPerPhase()) % getMaxPhase())) % shape[col];
      rows.bases.push_back(basis);
    }
    InDimBases cols{"offset", {}};
    for (int64_t c = 1; c < shape[col]; c *= 2) {
      std::vector<int32_t> basis(Rank(), 0);
      basis[col] = c;
      cols.bases.push_back(basis);
    }
    cols.bases.insert(cols.bases.end(), rows.bases.begin(), rows.bases.end());
    std::vector<compiler::DimSize> outs;
    for (unsigned d = 0; d < Rank(); ++d)
      outs.push_back({dims[d], d == row || d == col ? static_cast<int32_t>(shape[d]) : 1});
    auto plane = LinearLayout::FromBases({cols, InDimBases{"block", {}}}, outs);
    if (!plane.ok()) llvm::report_fatal_error("swizzled layout: " + llvm::Twine(plane.status().ToString()));
    layout = *plane;
  }
  for (unsigned i = 2; i < Rank(); ++i)
    layout *= LinearLayout::Identity1D(shape[getOrder()[i]], "offset", dims[getOrder()[i]]);
  return layout;
}

}  // namespace tritond::ttg
