// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_BRANCHES_H_
#define COMPILER_LOWERING_BRANCHES_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// Emits what `emit` does for the threads where `condition` (i1) holds. Emission goes on after the branch.
void Where(Emitter& e, mlir::Value condition, llvm::function_ref<void()> emit);

// The values of `yes` in threads where `condition` holds, in the others those of `no`: as many, of the same types.
Values IfElse(Emitter& e, mlir::Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_BRANCHES_H_
