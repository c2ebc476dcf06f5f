// SPDX-License-Identifier: Apache-2.0
// Accesses to memory among LLVM's instructions, of which many are assembly, and what orders them.
#ifndef COMPILER_TARGETS_NVIDIA_MEMORY_INSTRUCTIONS_H_
#define COMPILER_TARGETS_NVIDIA_MEMORY_INSTRUCTIONS_H_

#include "llvm/IR/Instruction.h"

namespace tritond::compiler::nvidia {

// The text of inline assembly; empty for all else.
llvm::StringRef AssemblyOf(const llvm::Instruction& instruction);

bool IsGlobalLoad(const llvm::Instruction& instruction);
bool IsGlobalStore(const llvm::Instruction& instruction);
bool IsSharedStore(const llvm::Instruction& instruction);

// Whether threads of the block wait for each other there.
bool IsBlockBarrier(const llvm::Instruction& instruction);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_MEMORY_INSTRUCTIONS_H_
