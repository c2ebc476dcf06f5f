// SPDX-License-Identifier: Apache-2.0
// Accesses to whole blocks, as their masks name them (tt.block_mask).
#ifndef COMPILER_TARGETS_NVIDIA_NAMED_BLOCKS_H_
#define COMPILER_TARGETS_NVIDIA_NAMED_BLOCKS_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

// An access to a whole block.
struct NamedBlock {
  tt::BlockMaskOp block;
  llvm::SmallVector<mlir::Value> conditions;  // i1: it is made where all hold
};

// The block that `mask` names. Nothing where the mask says something else, or more.
std::optional<NamedBlock> NamedBlockOf(mlir::Value mask);

// Whether `op` may access the tensor that the block is of, and write it or anything if `reads_too`. A bulk copy may
// come before a thread's own accesses or after them. Calls may do anything.
bool MayAccessTensor(mlir::Operation* op, tt::BlockMaskOp block, bool reads_too);

// Erases what nothing uses: the pointers and masks of accesses that are gone.
void EraseDead(tt::FuncOp function);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_NAMED_BLOCKS_H_
