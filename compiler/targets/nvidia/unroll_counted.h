// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_UNROLL_COUNTED_H_
#define COMPILER_TARGETS_NVIDIA_UNROLL_COUNTED_H_

#include "llvm/IR/PassManager.h"

namespace tritond::compiler::nvidia {

// Unrolls small loops whose number of iterations the assembler does not find out, and loops of wgmma by the slots of
// their buffers. These may set how many blocks a multiprocessor should hold. Keeps what the function means.
struct UnrollCounted : llvm::PassInfoMixin<UnrollCounted> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_UNROLL_COUNTED_H_
