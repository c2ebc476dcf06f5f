// SPDX-License-Identifier: Apache-2.0
// Gives dots that are computed by multiply-adds an encoding in which each thread has a square tile of the sums
// (ReformDot, dot_form.h):
//
//   %d = tt.dot %a, %b, %c : … -> tensor<64x64xf32, #blocked>     #blocked:  32 x 1 sums in each of 128 threads
//   ->
//   %e = tt.dot %x, %y, %z : … -> tensor<64x64xf32, #square>      #square:   4 x 8 sums
//
// A thread reads a row of a and a column of b for each row and column of its tile, so it reads least for a square one.
// The default encoding would have a thread read 33 elements for 32 multiply-adds, more than shared memory gives: a
// square tile takes 12. Four neighbours of a row and of a column lie together, so that one access reads 16 bytes.
//
// The warps share batches first, if there are any, then halve the larger side of what is left; then lanes do.
#include "compiler/passes/dot_form.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SQUAREDOTTILESPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;

RankedTensorType TypeOf(mlir::Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

constexpr int64_t kRun = 4;  // neighbours in a thread

// Shares `threads`, a power of two, among the dimensions of `left`, which become a thread's part; returns their counts.
llvm::SmallVector<unsigned> Share(llvm::SmallVectorImpl<int64_t>& left, unsigned threads, bool batches_first) {
  const size_t rank = left.size(), row = rank - 2, column = rank - 1;
  llvm::SmallVector<unsigned> shares(rank, 1);
  for (unsigned used = 1; used < threads; used *= 2) {
    const bool has_batches = rank == 3 && left[0] > 1, is_single = left[row] == 1 && left[column] == 1;
    size_t dim = left[row] >= left[column] ? row : column;
    if (has_batches && (batches_first || is_single)) dim = 0;
    shares[dim] *= 2;
    left[dim] = std::max<int64_t>(1, left[dim] / 2);
  }
  return shares;
}

ttg::BlockedEncodingAttr SquareEncoding(RankedTensorType type, unsigned num_warps, unsigned threads_per_warp) {
  llvm::SmallVector<int64_t> left(type.getShape());
  auto warps = Share(left, num_warps, /*batches_first=*/true);
  auto lanes = Share(left, threads_per_warp, /*batches_first=*/false);
  llvm::SmallVector<unsigned> run(left.size(), 1), order;
  for (size_t dim = left.size(); dim-- > 0;) order.push_back(dim);
  for (size_t dim = left.size() - 2; dim < left.size(); ++dim) run[dim] = std::min(kRun, left[dim]);
  return ttg::BlockedEncodingAttr::get(type.getContext(), run, lanes, warps, order);
}

class SquareDotTilesPass : public impl::SquareDotTilesPassBase<SquareDotTilesPass> {
  void runOnOperation() override {
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) {
      if (llvm::isa<ttg::BlockedEncodingAttr>(TypeOf(dot.getD()).getEncoding())) dots.push_back(dot);
    });
    for (tt::DotOp dot : dots) {
      RankedTensorType type = TypeOf(dot.getD());
      ttg::BlockedEncodingAttr encoding = SquareEncoding(type, ttg::NumWarps(dot), ttg::ThreadsPerWarp(getOperation()));
      if (encoding == type.getEncoding()) continue;
      ReformDot(dot, {encoding, TypeOf(dot.getA()).getElementType(), TypeOf(dot.getB()).getElementType()});
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
