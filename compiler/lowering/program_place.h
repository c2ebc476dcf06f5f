// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_PROGRAM_PLACE_H_
#define COMPILER_LOWERING_PROGRAM_PLACE_H_

#include "compiler/ir/program_order.h"
#include "compiler/lowering/emitter.h"
#include "compiler/lowering/target_ops.h"

namespace tritond::compiler {

// Emits the index along `axis` of the program that runs at this place of the grid (i32), in `order`. Each program has
// one place. Grids of 2^31 programs and more keep the device's order.
mlir::Value EmitProgramIndex(Emitter& e, const TargetOps& target, const ProgramOrder& order, tt::ProgramDim axis);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_PROGRAM_PLACE_H_
