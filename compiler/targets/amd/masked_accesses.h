// SPDX-License-Identifier: Apache-2.0
// What LLVM's masked loads and stores, as memory_ops.cc makes them, say.
#ifndef COMPILER_TARGETS_AMD_MASKED_ACCESSES_H_
#define COMPILER_TARGETS_AMD_MASKED_ACCESSES_H_

#include "llvm/IR/Value.h"

namespace tritond::compiler::amd {

// The one condition of a mask; null when its lanes may differ.
llvm::Value* ConditionOfMask(llvm::Value* mask);
// Whether a masked load whose other value is `other` may give zeros instead.
bool ReadsZeros(const llvm::Value* other);

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_MASKED_ACCESSES_H_
