// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/collapsed_block.h"

#include "llvm/ADT/STLExtras.h"

namespace tritond::compiler {

llvm::SmallVector<int64_t> WithoutOnes(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> wide;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size != 1 || dim + 1 == shape.size()) wide.push_back(size);
  return wide;
}

std::optional<llvm::SmallVector<int>> CollapsedDims(llvm::ArrayRef<int64_t> block, llvm::ArrayRef<int64_t> shape) {
  if (block.empty() || shape.empty() || block.back() != shape.back()) return std::nullopt;
  const int last = static_cast<int>(shape.size()) - 1;
  llvm::SmallVector<int> dims(block.size(), last);
  int64_t size = 1;  // of what is collapsed into dimension `at`
  int at = last - 1;
  for (size_t dim = block.size() - 1; dim-- > 0;) {
    if (block[dim] == 1) continue;
    for (; at >= 0 && size == shape[at]; size = 1) --at;
    if (at < 0 || shape[at] % (size * block[dim]) != 0) return std::nullopt;
    dims[dim] = at;
    size *= block[dim];
  }
  for (; at >= 0 && size == shape[at]; size = 1) --at;
  return at < 0 ? std::optional(dims) : std::nullopt;
}

}  // namespace tritond::compiler
