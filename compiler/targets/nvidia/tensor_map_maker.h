// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_TENSOR_MAP_MAKER_H_
#define COMPILER_TARGETS_NVIDIA_TENSOR_MAP_MAKER_H_

#include "compiler/targets/nvidia/ttng_dialect.h"
#include "llvm/ADT/MapVector.h"

namespace tritond::compiler {

// Whether the kernel can make a tensor map for copies of the block to `buffer`: it is at hand where the function
// begins, and lies in the buffer as bulk copies place it.
bool CanMakeTensorMap(tt::BlockMaskOp block, ttg::MemDescType buffer);

// A block, and a buffer that it is copied to. CanMakeTensorMap holds for them.
struct CopiedBlock {
  tt::BlockMaskOp block;
  ttg::MemDescType buffer;
};

// Makes the tensor maps of a function where it begins, each once.
class TensorMapMaker final {
 public:
  // Those for `blocks`, at once.
  void Make(llvm::ArrayRef<CopiedBlock> blocks);
  // The map for copies of the block, which has been made: a !tt.tensordesc.
  mlir::Value MapFor(const CopiedBlock& block) const;

 private:
  llvm::MapVector<llvm::SmallVector<const void*>, mlir::Value> made_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_TENSOR_MAP_MAKER_H_
