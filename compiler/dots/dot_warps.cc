// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/dot_warps.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {
namespace {

using mlir::Value;

// Where `operand` goes on as a whole: into a result of elementwise operations, or into what loops carry.
llvm::SmallVector<Value, 2> GoesOnIn(mlir::OpOperand& operand) {
  mlir::Operation* op = operand.getOwner();
  if (auto loop = llvm::dyn_cast<mlir::scf::ForOp>(op)) {
    if (mlir::BlockArgument carried = loop.getTiedLoopRegionIterArg(&operand)) return {carried};
    return {};
  }
  if (llvm::isa<mlir::scf::YieldOp>(op)) {
    const unsigned number = operand.getOperandNumber();
    if (auto branch = llvm::dyn_cast<mlir::scf::IfOp>(op->getParentOp())) return {branch.getResult(number)};
    auto loop = llvm::dyn_cast<mlir::scf::ForOp>(op->getParentOp());
    if (loop) return {loop.getRegionIterArg(number), loop.getResult(number)};
    return {};
  }
  if (op->getNumResults() == 1 && (op->hasTrait<mlir::OpTrait::Elementwise>() || llvm::isa<ttg::ConvertLayoutOp>(op)))
    return {op->getResult(0)};
  return {};
}

// The dimensions along which loops that `dot` is not in reduce what becomes of its result.
llvm::SmallSet<unsigned, 2> ReducedInLoops(tt::DotOp dot) {
  llvm::SmallSet<unsigned, 2> dims;
  llvm::SetVector<Value> values;
  values.insert(dot.getResult());
  for (size_t next = 0; next < values.size(); ++next) {
    for (mlir::OpOperand& use : values[next].getUses()) {
      auto reduce = llvm::dyn_cast<tt::ReduceOp>(use.getOwner());
      auto loop = reduce ? reduce->getParentOfType<mlir::LoopLikeOpInterface>() : nullptr;
      if (loop && !loop->isAncestor(dot)) dims.insert(reduce.getAxis());
      values.insert_range(GoesOnIn(use));
    }
  }
  return dims;
}

}  // namespace

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

Whole WholeInWarps(tt::DotOp dot) {
  const llvm::SmallSet<unsigned, 2> dims = ReducedInLoops(dot);
  const unsigned rank = llvm::cast<mlir::RankedTensorType>(dot.getType()).getRank();
  const bool along_rows = dims.contains(rank - 1), along_columns = dims.contains(rank - 2);
  if (along_rows != along_columns) return along_rows ? Whole::kRows : Whole::kColumns;
  return FeedsAnotherDot(dot) || IsFedByAnotherDot(dot) ? Whole::kRows : Whole::kNothing;
}

llvm::SmallVector<unsigned> SplitWarps(llvm::ArrayRef<int64_t> shape, unsigned num_warps, Whole whole,
                                       int64_t tile_rows, int64_t tile_columns, OperandCosts costs) {
  int rank = shape.size();
  llvm::SmallVector<unsigned> warps(rank, 1);
  int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  for (unsigned used = 1; used < num_warps; used *= 2) {
    const bool more_rows = rows > tile_rows, more_columns = columns > tile_columns;
    const bool rows_cost = static_cast<double>(rows) * costs.a >= static_cast<double>(columns) * costs.b;
    const bool prefers_rows = whole == Whole::kRows || (whole == Whole::kNothing && rows_cost);
    if (rank == 3 && warps[0] < shape[0]) {
      warps[0] *= 2;
    } else if (more_rows ? prefers_rows || !more_columns : !more_columns) {
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
