// SPDX-License-Identifier: Apache-2.0
// Pointers into buffers that lie within 2 GiB from a kernel's argument.
#ifndef COMPILER_TARGETS_AMD_SMALL_BUFFERS_H_
#define COMPILER_TARGETS_AMD_SMALL_BUFFERS_H_

#include <optional>

#include "compiler/targets/amd/split_pointer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"

namespace tritond::compiler::amd {

// The arguments of a kernel with tt.pointer_range = 32. The attribute promises that all accesses through the argument
// lie from its address to 2 GiB after it. So 32 bits of the distance tell all of it, and need no proof.
class SmallBuffers final {
 public:
  explicit SmallBuffers(llvm::Function& function);

  // An argument, and the pointer's distance from it where it is accessed. Emits code that computes it. Nullopt, with
  // nothing emitted, when the pointer may come from elsewhere.
  std::optional<SplitPointer> Split(llvm::Value* pointer);

 private:
  // Whether `pointer` comes from `argument` alone, which the first call finds out.
  bool ComesFrom(llvm::Value* pointer, llvm::Argument*& argument, llvm::SmallPtrSetImpl<llvm::Value*>& seen) const;
  llvm::Value* OffsetOf(llvm::Value* pointer);

  llvm::SmallPtrSet<llvm::Argument*, 4> arguments_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> offsets_;
};

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_SMALL_BUFFERS_H_
