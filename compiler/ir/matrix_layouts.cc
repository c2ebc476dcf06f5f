// SPDX-License-Identifier: Apache-2.0
// Results and operands of matrix units as linear layouts.
//
// Every unit places a small tile in the lanes of one warp, as its manual says. Around it, the same for all: further
// tiles of the same warp, then the warps, numbered in some order, then what FitToShape adds. In operands, the warps
// that lie along K in the result hold copies, for each needs the whole of K.
//
//   PTX ISA, "Matrix Fragments for mma.m16n8k16" and its neighbours, "Register Fragments for wgmma.mma_async.m64nNk16"
//   AMD matrix instruction calculator (v_mfma_*, v_wmma_*); RDNA3 and RDNA4 ISA, "WMMA"
//   OpenCL extension cl_intel_subgroup_matrix_multiply_accumulate
#include "compiler/ir/encodings.h"
#include "compiler/ir/layout_blocks.h"
#include "compiler/ir/layout_memory.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tritond::ttg {

using compiler::LinearLayout;

namespace {

// Builds a tile bit by bit; each call puts its bits above those there are.
class Tile {
 public:
  explicit Tile(unsigned rank) : dims_(DimNames(rank)), layout_(EmptyLayout(dims_)) {}

  Tile& Registers(int count, unsigned dim) { return Add(count, "register", dim, false); }
  Tile& Lanes(int count, unsigned dim) { return Add(count, "lane", dim, false); }
  Tile& LaneCopies(int count, unsigned dim) { return Add(count, "lane", dim, true); }
  // Warps in `order`; those along `copies_along` (-1: none) hold copies.
  Tile& Warps(llvm::ArrayRef<unsigned> counts, llvm::ArrayRef<unsigned> order, int copies_along) {
    for (unsigned dim : order) Add(counts[dim], "warp", dim, static_cast<int>(dim) == copies_along);
    return *this;
  }
  const LinearLayout& layout() const { return layout_; }

 private:
  Tile& Add(int count, llvm::StringRef in, unsigned dim, bool copies) {
    layout_ *= Spread(count, in, dims_[dim], copies);
    return *this;
  }

  llvm::SmallVector<std::string> dims_;
  LinearLayout layout_;
};

llvm::SmallVector<unsigned> FirstDimFirst(unsigned rank) {
  llvm::SmallVector<unsigned> order = RowMajor(rank);
  std::reverse(order.begin(), order.end());
  return order;
}

// What is common to the operands: which dimension is K, which the other, and the order that has K first.
struct OperandDims {
  explicit OperandDims(DotOperandEncodingAttr operand)
      : rank(operand.Rank()),
        k(operand.getOpIdx() == 0 ? rank - 1 : rank - 2),
        other(operand.getOpIdx() == 0 ? rank - 2 : rank - 1),
        k_first(RowMajor(rank)) {
    if (k_first[0] != k) std::swap(k_first[0], k_first[1]);
  }
  unsigned rank, k, other;
  llvm::SmallVector<unsigned> k_first;
};

// Warps of nvidia_mma: versions 3 and 5 have their groups of four below each other.
llvm::SmallVector<unsigned> WarpOrder(NvidiaMmaEncodingAttr mma) {
  return mma.getVersionMajor() >= 3 ? FirstDimFirst(mma.Rank()) : RowMajor(mma.Rank());
}

// kWidth neighbours along K in a lane, four lanes along K, eight along the other dimension.
LinearLayout NvidiaOperand(DotOperandEncodingAttr operand, NvidiaMmaEncodingAttr mma, llvm::ArrayRef<int64_t> shape) {
  OperandDims dims(operand);
  Tile tile(dims.rank);
  tile.Registers(operand.getKWidth(), dims.k).Lanes(4, dims.k).Lanes(8, dims.other);
  if (operand.getOpIdx() == 0) tile.Registers(2, dims.other);
  tile.Registers(2, dims.k).Warps(mma.getWarpsPerCTA(), WarpOrder(mma), dims.k);
  return FitToShape(tile.layout(), shape, dims.k_first, WithoutSplit(mma.getCga(), dims.k));
}

// One row (a) or column (b) a lane, kWidth of K; lanes beyond those go on along K.
LinearLayout MfmaOperand(DotOperandEncodingAttr operand, AmdMfmaEncodingAttr mfma, llvm::ArrayRef<int64_t> shape) {
  OperandDims dims(operand);
  int lines = mfma.getInstrShape()[operand.getOpIdx()];
  Tile tile(dims.rank);
  tile.Registers(operand.getKWidth(), dims.k).Lanes(lines, dims.other).Lanes(64 / lines, dims.k);
  tile.Registers(mfma.getTilesPerWarp()[dims.other], dims.other);
  tile.Warps(mfma.getWarpsPerCTA(), RowMajor(dims.rank), dims.k);
  return FitToShape(tile.layout(), shape, dims.k_first, WithoutSplit(mfma.getCga(), dims.k));
}

// The tiles of a block, without those along K: registers there go, warps hold copies.
LinearLayout TilesOfOperand(LinearLayout tiles, const std::string& k) {
  return tiles.ResizeOut(k, 1).RemoveZeroBases("register");
}

LinearLayout WmmaOperand(DotOperandEncodingAttr operand, AmdWmmaEncodingAttr wmma, llvm::ArrayRef<int64_t> shape) {
  OperandDims dims(operand);
  Tile tile(dims.rank);
  tile.Registers(operand.getKWidth(), dims.k).Lanes(16, dims.other);
  // gfx11: both halves of the wave hold the same; later: the upper half goes on along K.
  wmma.getVersion() == 1 ? tile.LaneCopies(2, dims.k) : tile.Lanes(2, dims.k);
  LinearLayout layout = tile.layout() * TilesOfOperand(wmma.getCtaLayout(), DimNames(dims.rank)[dims.k]);
  return FitToShape(layout, shape, dims.k_first, WithoutSplit(wmma.getCga(), dims.k));
}

LinearLayout DpasOperand(DotOperandEncodingAttr operand, DpasEncodingAttr dpas, llvm::ArrayRef<int64_t> shape) {
  OperandDims dims(operand);
  int lanes = dpas.getThreadsPerWarp(), depth = dpas.getSystolicDepth() * dpas.getOpsPerChan();
  int k_width = DpasKWidth(dpas, operand.getOpIdx());
  Tile tile(dims.rank);
  tile.Registers(k_width, dims.k);
  if (operand.getOpIdx() == 0) {  // a row goes over the lanes, and as many rows as there are lanes for
    int lanes_along_k = std::min(lanes, depth / k_width), rows = lanes / lanes_along_k;
    tile.Lanes(lanes_along_k, dims.k).Lanes(rows, dims.other);
    tile.Registers(depth / k_width / lanes_along_k, dims.k).Registers(dpas.getRepeatCount() / rows, dims.other);
  } else {  // a column a lane
    int columns = dpas.getExecutionSize(), groups = lanes / columns;
    tile.Lanes(columns, dims.other).Lanes(groups, dims.k).Registers(depth / k_width / groups, dims.k);
  }
  tile.Registers(dpas.getRepCluster()[dims.other], dims.other);
  tile.Warps(dpas.getWarpsPerCTA(), RowMajor(dims.rank), dims.k);
  return FitToShape(tile.layout(), shape, dims.k_first, WithoutSplit(dpas.getCga(), dims.k));
}

}  // namespace

unsigned NvidiaMmaEncodingAttr::Rank() const { return getWarpsPerCTA().size(); }
unsigned AmdMfmaEncodingAttr::Rank() const { return getWarpsPerCTA().size(); }
unsigned AmdWmmaEncodingAttr::Rank() const { return getCtaLayout().OutDims().size(); }
unsigned DpasEncodingAttr::Rank() const { return getWarpsPerCTA().size(); }

LinearLayout NvidiaMmaEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    unsigned m = Rank() - 2, n = Rank() - 1;
    Tile tile(Rank());
    tile.Registers(2, n).Lanes(4, n).Lanes(8, m).Registers(2, m);
    // Of 128 rows a warp has 32 neighbours.
    if (getVersionMajor() == 5 && getInstrShape()[0] == 128) tile.Registers(2, m);
    if (getVersionMajor() >= 3) tile.Registers(getInstrShape()[1] / 8, n);
    tile.Warps(getWarpsPerCTA(), WarpOrder(*this), -1);
    return FitToShape(tile.layout(), shape, RowMajor(Rank()), getCga());
  });
}

LinearLayout AmdMfmaEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    // A lane holds runs of four rows of one column; the lanes beyond the columns hold the next runs. Doubles: single
    // rows.
    unsigned rows = Rank() - 2, columns = Rank() - 1;
    int num_rows = getInstrShape()[0], num_columns = getInstrShape()[1];
    if (getIsTransposed()) std::swap(rows, columns), std::swap(num_rows, num_columns);
    int run = getElementBitWidth() == 64 ? 1 : 4, groups = 64 / num_columns;
    Tile tile(Rank());
    tile.Registers(run, rows).Lanes(num_columns, columns).Lanes(groups, rows).Registers(num_rows / run / groups, rows);
    for (unsigned dim : RowMajor(Rank())) tile.Registers(getTilesPerWarp()[dim], dim);
    tile.Warps(getWarpsPerCTA(), RowMajor(Rank()), -1);
    return FitToShape(tile.layout(), shape, RowMajor(Rank()), getCga());
  });
}

LinearLayout AmdWmmaEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    unsigned rows = Rank() - 2, columns = Rank() - 1;
    if (getIsTransposed()) std::swap(rows, columns);
    Tile tile(Rank());
    tile.Lanes(16, columns);
    if (getVersion() == 1)
      tile.Lanes(2, rows).Registers(8, rows);
    else
      tile.Registers(8, rows).Lanes(2, rows);
    return FitToShape(tile.layout() * getCtaLayout(), shape, RowMajor(Rank()), getCga());
  });
}

LinearLayout DpasEncodingAttr::ToLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  return LayoutMemory::Recall(*this, shape, [&] {
    unsigned m = Rank() - 2, n = Rank() - 1;
    int rows = getThreadsPerWarp() / getExecutionSize();
    Tile tile(Rank());
    tile.Lanes(getExecutionSize(), n).Lanes(rows, m).Registers(getRepeatCount() / rows, m);
    for (unsigned dim : RowMajor(Rank())) tile.Registers(getRepCluster()[dim], dim);
    tile.Warps(getWarpsPerCTA(), RowMajor(Rank()), -1);
    return FitToShape(tile.layout(), shape, RowMajor(Rank()), getCga());
  });
}

LinearLayout MatrixOperandLayout(DotOperandEncodingAttr operand, llvm::ArrayRef<int64_t> shape) {
  return llvm::TypeSwitch<mlir::Attribute, LinearLayout>(operand.getParent())
      .Case([&](NvidiaMmaEncodingAttr mma) { return NvidiaOperand(operand, mma, shape); })
      .Case([&](AmdMfmaEncodingAttr mfma) { return MfmaOperand(operand, mfma, shape); })
      .Case([&](AmdWmmaEncodingAttr wmma) { return WmmaOperand(operand, wmma, shape); })
      .Case([&](DpasEncodingAttr dpas) { return DpasOperand(operand, dpas, shape); })
      .Default([](mlir::Attribute) -> LinearLayout { llvm::report_fatal_error("dot operand of an unknown parent"); });
}

}  // namespace tritond::ttg
