// SPDX-License-Identifier: Apache-2.0
// Blocks of tensors as tensors of fewer dimensions.
#ifndef COMPILER_IR_COLLAPSED_BLOCK_H_
#define COMPILER_IR_COLLAPSED_BLOCK_H_

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

// `shape` without its dimensions of one element. The last dimension stays, whatever its size.
llvm::SmallVector<int64_t> WithoutOnes(llvm::ArrayRef<int64_t> shape);

// For each dimension of a block of sizes `block`, the dimension of `shape` that it becomes or is a part of. Neighbours
// may become one dimension, in which the last of them advances fastest: 1x8x16x64 becomes 128x64. The last dimension is
// a dimension of its own. Those of one element have any number. Nothing where `shape` is not such a shape.
std::optional<llvm::SmallVector<int>> CollapsedDims(llvm::ArrayRef<int64_t> block, llvm::ArrayRef<int64_t> shape);

}  // namespace tritond::compiler

#endif  // COMPILER_IR_COLLAPSED_BLOCK_H_
