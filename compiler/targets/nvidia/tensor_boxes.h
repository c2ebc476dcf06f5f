// SPDX-License-Identifier: Apache-2.0
// The boxes that bulk copies of a block are made of: as wide as the swizzle of the buffer, at most 256 elements in a
// dimension. The rows of a box follow each other in the buffer, whatever dimensions of the block they are of: a box of
// 1x8x16x64 elements is 128 rows of 64. So beyond a dimension that is cut, a box has one element in each.
#ifndef COMPILER_TARGETS_NVIDIA_TENSOR_BOXES_H_
#define COMPILER_TARGETS_NVIDIA_TENSOR_BOXES_H_

#include <algorithm>

#include "compiler/ir/ttg_dialect.h"

namespace tritond::ttng {

// Of a buffer in shared memory, in bytes. The hardware swizzles by address bits: eight rows stand together.
constexpr int64_t BoxAlignment(int64_t swizzle) { return std::max<int64_t>(128, 8 * swizzle); }

// Whether a block of sizes `block` lies in `buffer` as bulk copies place it. The buffer may have fewer dimensions
// (CollapsedDims).
bool IsMadeOfBoxes(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer);

// The functions below want that.
int64_t SwizzleBytesOf(ttg::MemDescType buffer);
// The sizes of a box in elements.
llvm::SmallVector<int64_t> BoxOf(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer);

// Where a box begins: in the block, in elements, and in the buffer, in bytes.
struct BoxPlace {
  llvm::SmallVector<int64_t> origin;
  int64_t bytes = 0;
};
mlir::FailureOr<llvm::SmallVector<BoxPlace>> BoxesOf(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer);

}  // namespace tritond::ttng

#endif  // COMPILER_TARGETS_NVIDIA_TENSOR_BOXES_H_
