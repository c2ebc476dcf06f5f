// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_DISGUISE_H_
#define COMPILER_TARGETS_NVIDIA_DISGUISE_H_

#include "llvm/IR/IRBuilder.h"

namespace tritond::compiler::nvidia {

// `word` (i32) in a form that ptxas takes for another number: a permutation of its bytes that changes nothing. With
// `stays`, it is not moved: in a loop it is another number in each iteration.
llvm::Value* DisguiseWord(llvm::IRBuilder<>& b, llvm::Value* word, bool stays = false);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_DISGUISE_H_
