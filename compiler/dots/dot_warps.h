// SPDX-License-Identifier: Apache-2.0
// How the warps of a block share a dot that goes to a matrix unit.
#ifndef COMPILER_DOTS_DOT_WARPS_H_
#define COMPILER_DOTS_DOT_WARPS_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// Whether a dot's result goes into operand a of another one of its block, as in attention.
bool FeedsAnotherDot(tt::DotOp dot);
bool IsFedByAnotherDot(tt::DotOp dot);

// What of a result a warp has as a whole, as far as the tiles of a matrix unit go. That comes before parts that are
// nearly square.
enum class Whole { kNothing, kRows, kColumns };

// By what becomes of the result. Loops that the dot is not in may reduce along one of its dimensions, again and again;
// then no warp needs another one for that. Between two dots of a block, the first of which makes operand a of the
// second one, each warp has rows, so that no element changes its warp.
Whole WholeInWarps(tt::DotOp dot);

// What it takes a warp to have an element of each operand.
struct OperandCosts {
  double a = 1, b = 1;
};

// Splits the warps over rows and columns such that each warp's part is as square as can be. The closer a part is to a
// square, the fewer operand elements the warp reads. Where these cost unequally, their costs are made equal. No part is
// smaller than the tile as long as the result has further tiles. No two warps share a row that is to be whole, or a
// column, as long as there are further tiles beside it. Beyond that, warps that share rows exchange the result, which
// costs less than computing it several times. Batches, the first of three dimensions, are split before.
llvm::SmallVector<unsigned> SplitWarps(llvm::ArrayRef<int64_t> shape, unsigned num_warps, Whole whole,
                                       int64_t tile_rows, int64_t tile_columns, OperandCosts costs = {});

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_DOT_WARPS_H_
