// SPDX-License-Identifier: Apache-2.0
// Gives dots that are computed by multiply-adds an encoding in which each thread has a square tile of the accumulators
// (ReformDot, dot_form.h):
//
//   %d = tt.dot %a, %b, %c : … -> tensor<64x64xf32, #blocked>     #blocked:  32 x 1 accumulators in each of 128 threads
//   ->
//   %e = tt.dot %x, %y, %z : … -> tensor<64x64xf32, #square>      #square:   4 x 8 accumulators
//
// A thread reads a row of a and a column of b for each row and column of its tile. So it reads least for a square tile.
// The default encoding would have a thread read 33 elements for 32 multiply-adds, more than shared memory gives: a
// square tile takes 12.
//
// How lanes and warps share the accumulators follows from the cycles that it takes (accumulator_sharing.h). Batches, if
// there are any, are shared first, by warps.
#include "compiler/dots/accumulator_sharing.h"
#include "compiler/dots/dot_form.h"
#include "compiler/dots/dot_slices.h"
#include "compiler/dots/matrix_buffers.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SQUAREDOTTILESPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;

RankedTensorType TypeOf(mlir::Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

SumOperand OperandOf(tt::DotOp dot, int index) {
  mlir::Value value = dot->getOperand(index);
  if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
  RankedTensorType type = TypeOf(value);
  const bool is_operand = llvm::isa<ttg::DotOperandEncodingAttr>(type.getEncoding());
  const unsigned fastest = is_operand ? type.getRank() - 1 : OrderInThread(type).front();
  return {type.getElementType(), static_cast<int>(fastest) == DimOfK(type.getRank(), index)};
}

ttg::BlockedEncodingAttr SquareEncoding(tt::DotOp dot, unsigned num_warps, unsigned threads_per_warp,
                                        const SharingRates& rates) {
  RankedTensorType type = TypeOf(dot.getD());
  const int64_t rank = type.getRank(), rows = type.getDimSize(rank - 2), columns = type.getDimSize(rank - 1);
  // Warps take batches, and so do the lanes that find no sum in one.
  const unsigned batches = rank == 3 ? type.getDimSize(0) : 1, batch_warps = std::min(batches, num_warps);
  const unsigned warps = num_warps / batch_warps;
  const unsigned accumulators = std::max<int64_t>(1, rows * columns / warps);
  const unsigned batch_lanes = std::min(batches / batch_warps, std::max(1U, threads_per_warp / accumulators));
  const SumOperand operands[] = {OperandOf(dot, 0), OperandOf(dot, 1)};
  const AccumulatorSharing sharing =
      ShareAccumulators(rows, columns, threads_per_warp / batch_lanes, warps, operands, rates).sharing;
  return rank == 3 ? sharing.BatchEncoding(type.getContext(), operands, batch_lanes, batch_warps)
                   : sharing.Encoding(type.getContext(), operands);
}

class SquareDotTilesPass : public impl::SquareDotTilesPassBase<SquareDotTilesPass> {
 public:
  using SquareDotTilesPassBase::SquareDotTilesPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) {
      if (llvm::isa<ttg::BlockedEncodingAttr>(TypeOf(dot.getD()).getEncoding())) dots.push_back(dot);
    });
    for (tt::DotOp dot : dots) {
      ttg::BlockedEncodingAttr encoding = SquareEncoding(dot, ttg::NumWarps(dot), ttg::ThreadsPerWarp(getOperation()),
                                                         {shared_bytes, issued_warps, pairs_share_reads});
      if (encoding == TypeOf(dot.getD()).getEncoding()) continue;
      ReformDot(dot, {encoding, TypeOf(dot.getA()).getElementType(), TypeOf(dot.getB()).getElementType()});
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
