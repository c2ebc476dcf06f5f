// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_OPERAND_REGISTERS_H_
#define COMPILER_TARGETS_NVIDIA_OPERAND_REGISTERS_H_

#include "compiler/targets/nvidia/ttng_dialect.h"
#include "llvm/ADT/SetVector.h"

namespace tritond::compiler {

// The operations of the dot's block that may write the registers which it takes as its operand a. They are the one that
// makes the operand, and the ones before it whose results may become the operand's registers: LLVM leaves out an
// operation for the registers that it does not change, for example of a selection by columns, and the assembler
// computes results as wide as their operand in the registers of that. Of an operand that a loop carries, the operations
// that make the next iteration's. Empty where a comes from shared memory. While the dot is in flight, none of them may
// run again (PTX ISA, "wgmma.mma_async").
llvm::SmallSetVector<mlir::Operation*, 4> MakersOfOperandA(ttng::WarpGroupDotOp dot);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_OPERAND_REGISTERS_H_
