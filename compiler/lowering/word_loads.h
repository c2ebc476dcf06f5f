// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_WORD_LOADS_H_
#define COMPILER_LOWERING_WORD_LOADS_H_

#include "compiler/lowering/memory_groups.h"

namespace tritond::compiler {

// The groups that LoadWords takes: neighbours in memory that may begin at any address. Nullopt if the target does not
// read whole words, if words are not fewer than elements, or if elements left out get different values.
// `element` is the LLVM type in memory; `aligned` is what GroupRegisters gives without a mask.
std::optional<RegisterGroups> WordGroups(FunctionLowering& f, tt::LoadOp op, mlir::Type element,
                                         const RegisterGroups& aligned);

// The elements of `op` as they lie in memory, one for each register. `masks` is empty, or has one value for each
// group.
Values LoadWords(FunctionLowering& f, tt::LoadOp op, mlir::Type element, const RegisterGroups& groups, ValueList masks);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_WORD_LOADS_H_
