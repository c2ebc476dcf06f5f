// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_DISGUISE_H_
#define COMPILER_TARGETS_NVIDIA_DISGUISE_H_

#include "llvm/IR/IRBuilder.h"

namespace tritond::compiler::nvidia {

// `word` (i32) in a form that ptxas takes for another number: a permutation of its bytes that changes nothing.
llvm::Value* DisguiseWord(llvm::IRBuilder<>& b, llvm::Value* word);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_DISGUISE_H_
