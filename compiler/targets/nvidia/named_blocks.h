// SPDX-License-Identifier: Apache-2.0
// What other operations mean for copies of whole blocks that masks name (named_block.h).
#ifndef COMPILER_TARGETS_NVIDIA_NAMED_BLOCKS_H_
#define COMPILER_TARGETS_NVIDIA_NAMED_BLOCKS_H_

#include "compiler/ir/named_block.h"

namespace tritond::compiler {

// Whether `op` may access the tensor that the block is of, and write it or anything if `reads_too`. A bulk copy may
// come before a thread's own accesses or after them. Calls may do anything.
bool MayAccessTensor(mlir::Operation* op, tt::BlockMaskOp block, bool reads_too);

// Whether the program may hear of other ones by `op`: what is behind it must not be read before. Calls may do anything.
bool MayHearOfOthers(mlir::Operation* op);

// Whether `op` may access memory that nobody knows of: an assembly text, or a function of a library.
bool IsOpaqueAccess(mlir::Operation* op);

// Erases what nothing uses: the pointers and masks of accesses that are gone.
void EraseDead(tt::FuncOp function);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_NAMED_BLOCKS_H_
