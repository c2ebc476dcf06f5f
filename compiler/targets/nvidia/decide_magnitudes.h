// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_DECIDE_MAGNITUDES_H_
#define COMPILER_TARGETS_NVIDIA_DECIDE_MAGNITUDES_H_

#include "llvm/IR/PassManager.h"

namespace tritond::compiler::nvidia {

// Makes constants of the conditions of branches that compare with a float that is never reached. Keeps what the
// function means.
struct DecideMagnitudes : llvm::PassInfoMixin<DecideMagnitudes> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_DECIDE_MAGNITUDES_H_
