// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/dot_warps.h"

#include "llvm/ADT/SetVector.h"
#include "mlir/Analysis/SliceAnalysis.h"

namespace tritond::compiler {

bool FeedsAnotherDot(tt::DotOp dot) {
  mlir::ForwardSliceOptions options;
  options.filter = [&](mlir::Operation* op) { return op->getBlock() == dot->getBlock(); };
  llvm::SetVector<mlir::Operation*> slice;
  mlir::getForwardSlice(dot.getResult(), &slice, options);
  return llvm::any_of(slice, [&](mlir::Operation* op) {
    auto other = llvm::dyn_cast<tt::DotOp>(op);
    return other && other != dot && (slice.contains(other.getA().getDefiningOp()) || other.getA() == dot.getResult());
  });
}

bool IsFedByAnotherDot(tt::DotOp dot) {
  mlir::BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](mlir::Operation* op) { return op->getBlock() == dot->getBlock(); };
  llvm::SetVector<mlir::Operation*> slice;
  (void)mlir::getBackwardSlice(dot.getA(), &slice, options);
  return llvm::any_of(slice, [](mlir::Operation* op) { return llvm::isa<tt::DotOp>(op); });
}

llvm::SmallVector<unsigned> SplitWarps(llvm::ArrayRef<int64_t> shape, unsigned num_warps, bool rows_first,
                                       int64_t tile_rows, int64_t tile_columns, OperandCosts costs) {
  int rank = shape.size();
  llvm::SmallVector<unsigned> warps(rank, 1);
  int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  for (unsigned used = 1; used < num_warps; used *= 2) {
    const bool more_rows = rows > tile_rows, more_columns = columns > tile_columns;
    const bool rows_cost = static_cast<double>(rows) * costs.a >= static_cast<double>(columns) * costs.b;
    if (rank == 3 && warps[0] < shape[0]) {
      warps[0] *= 2;
    } else if (more_rows ? rows_first || rows_cost || !more_columns : !more_columns) {
      warps[rank - 2] *= 2;
      rows /= 2;
    } else {
      warps[rank - 1] *= 2;
      columns /= 2;
    }
  }
  return warps;
}

}  // namespace tritond::compiler
