// SPDX-License-Identifier: Apache-2.0
// How the lanes of a warp combine their partial results of a tt.reduce.
#ifndef COMPILER_LOWERING_LANE_REDUCER_H_
#define COMPILER_LOWERING_LANE_REDUCER_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// The partial result of every operand of a reduction, for one result element.
using PartialResult = Values;

// `y` comes after `x` on the axis.
mlir::FailureOr<PartialResult> CombinePartials(FunctionLowering& f, tt::ReduceOp op, const PartialResult& x,
                                               const PartialResult& y);

// Combines `partials`, each over the lanes that differ by `masks` alone: powers of two, the lowest first. All these
// lanes get the result, with the same bits.
mlir::LogicalResult ReduceLanes(FunctionLowering& f, tt::ReduceOp op, llvm::SmallVector<int> masks,
                                llvm::SmallVector<PartialResult>& partials);

// Which results a lane has. With n of them, number i is the result i + n * (the bits of `masks`, the first one
// highest).
struct LaneShares {
  llvm::SmallVector<int> masks;
  int copies = 0;  // of the lanes that differ by these bits, the lowest one has the results
};

// The same, but each lane keeps its share alone.
mlir::FailureOr<LaneShares> ReduceLanesApart(FunctionLowering& f, tt::ReduceOp op, llvm::SmallVector<int> masks,
                                             llvm::SmallVector<PartialResult>& partials);
// Gives all lanes all results.
void JoinShares(FunctionLowering& f, const LaneShares& shares, llvm::SmallVector<PartialResult>& partials);
// i1: whether this lane has the bit of `mask`.
mlir::Value HasLaneBit(FunctionLowering& f, int mask);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_LANE_REDUCER_H_
