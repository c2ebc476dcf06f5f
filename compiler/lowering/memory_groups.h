// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_MEMORY_GROUPS_H_
#define COMPILER_LOWERING_MEMORY_GROUPS_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// How the registers of a tensor of pointers split into accesses: registers [k * vec, (k + 1) * vec) make one. Those
// with a bit of `copies` set repeat the elements of the register without these bits.
struct RegisterGroups {
  int vec = 1;
  int copies = 0;
};

// The widest groups that the layout, the addresses and the mask (may be null) allow; `element` is the LLVM type in
// memory. One group of one for a scalar.
RegisterGroups GroupRegisters(FunctionLowering& f, mlir::Value ptr, mlir::Value mask, mlir::Type element);

// i1: whether `mask`, whose registers are `masks`, is the same for all elements of each group, as it mostly is. Where
// it can, it asks the first and the last element of each group alone (AxisInfoAnalysis::MaskSpan). Null where groups
// differ more often (MaskLikelySpan).
mlir::Value UniformInGroups(FunctionLowering& f, mlir::Value mask, ValueList masks, const RegisterGroups& groups);

// i1, true in the one thread that acts for an element of `v`: the first of those with copies, thread 0 for a scalar.
// Null when no thread holds copies.
mlir::Value FirstCopyOf(FunctionLowering& f, mlir::Value v);

// Gives every thread the result of `op`'s atomic operations that the acting thread got. Where `acts`, that thread
// writes it to the scratch of `op`, in a branch of its own. Then all threads read it.
Values ShareResults(FunctionLowering& f, mlir::Operation* op, mlir::Value acts, const Values& results);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_MEMORY_GROUPS_H_
