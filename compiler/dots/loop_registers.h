// SPDX-License-Identifier: Apache-2.0
// How many registers of 32 bits a thread needs for tensors.
#ifndef COMPILER_DOTS_LOOP_REGISTERS_H_
#define COMPILER_DOTS_LOOP_REGISTERS_H_

#include <cstdint>

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// For a tensor, or a scalar, which takes one.
int64_t RegistersOf(mlir::Value value);

// What a dot holds at once of the operands that its loop changes.
enum class Operands {
  kStep,  // one step along K of those that are read from a buffer, or will be; all of those that threads make
  kWhole,
};

// For the dots of a loop at its fullest: the numbers that it carries, and the operands that it does not change. Of the
// largest dot its other operands count too, and the accumulators unless the loop carries them.
int64_t RegistersOfDots(mlir::scf::ForOp loop, Operands operands = Operands::kStep);

// For all tensors of `block` at its fullest, in the order that it has. The results of operations that compute numbers
// count from there to their last use. What the block is given counts too. Integers, which are addresses and masks, take
// none, unless they are a dot's; neither do copies of rows and columns, nor constants.
int64_t PeakRegisters(mlir::Block& block);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_LOOP_REGISTERS_H_
