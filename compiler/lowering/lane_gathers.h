// SPDX-License-Identifier: Apache-2.0
// Gathers whose elements come from the registers of the same warp.
#ifndef COMPILER_LOWERING_LANE_GATHERS_H_
#define COMPILER_LOWERING_LANE_GATHERS_H_

#include "compiler/layout/register_moves.h"
#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// The registers of the result, moved from those of the source.
Values MoveRegisters(FunctionLowering& f, const RegisterMoves& moves, ValueList src);

// Each lane asks for what `indices` (i32, inside of the source's axis) say, by `source` (FindGatherSources).
Values AskLanes(FunctionLowering& f, const LinearLayout& source, ValueList src, ValueList indices);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_LANE_GATHERS_H_
