// SPDX-License-Identifier: Apache-2.0
// Atomic operations on global memory by a buffer's descriptor.
#ifndef COMPILER_TARGETS_AMD_BUFFER_ATOMICS_H_
#define COMPILER_TARGETS_AMD_BUFFER_ATOMICS_H_

#include <optional>

#include "compiler/targets/amd/architecture.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace tritond::compiler::amd {

// An atomic operation for which there is an instruction with a descriptor.
struct BufferAtomic {
  llvm::Instruction* instruction = nullptr;
  llvm::Value* pointer = nullptr;
  llvm::Intrinsic::ID intrinsic = llvm::Intrinsic::not_intrinsic;
  llvm::SmallVector<llvm::Value*, 2> data;  // the value; of a compare-and-swap the one to compare with, too
  llvm::AtomicOrdering ordering = llvm::AtomicOrdering::Monotonic;
  llvm::SyncScope::ID scope = llvm::SyncScope::System;
};

// Of the scope of the device: the policy of the instruction does not name others. Nullopt where `instruction` is no
// such operation, or the GPU has no instruction for it.
std::optional<BufferAtomic> FindBufferAtomic(llvm::Instruction& instruction, const Architecture& arch);

struct EmittedAtomic {
  llvm::Instruction* call;
  llvm::Value* value;  // that takes the place of the instruction's
};
// The buffer's instruction, between the fences that the ordering asks for.
EmittedAtomic EmitBufferAtomic(llvm::IRBuilderBase& b, const BufferAtomic& atomic, const Architecture& arch,
                               llvm::Value* buffer, llvm::Value* offset);

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_BUFFER_ATOMICS_H_
