// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_TENSOR_MAP_MAKER_H_
#define COMPILER_TARGETS_NVIDIA_TENSOR_MAP_MAKER_H_

#include "compiler/targets/nvidia/ttng_dialect.h"
#include "llvm/ADT/MapVector.h"

namespace tritond::compiler {

// A block, or a part of it that is as it is but for its sizes, and a buffer that holds it.
struct CopiedBlock {
  tt::BlockMaskOp block;
  llvm::ArrayRef<int64_t> sizes;  // of the block or its part
  ttg::MemDescType buffer;
  mlir::Value nan_flag = {};            // i1: elements outside of the tensor are NaN where it is set; null: never
  std::optional<int> type_number = {};  // of its elements, where it matters which they are
};

// PTX ISA, "tensormap.replace", elemtype: of floats as such, which alone are filled with NaNs; those of 8 bits are not
// known, and count as integers.
int TypeNumber(mlir::Type element);
// That of signed integers of 32 bits.
inline constexpr int kSignedWordType = 3;

// Whether the kernel can make a tensor map for copies between the two: MapBlockOf finds a block, and the copied block
// lies in the buffer as bulk copies place it. No map fills 8-bit floats with NaNs.
bool CanMakeTensorMap(const CopiedBlock& copied);

// The innermost block that defines something that the map says. Null where not all threads of the program run it
// together, as in partitions of a warp-specialised kernel.
mlir::Block* MapBlockOf(tt::BlockMaskOp block);
bool IsMadeAtEntry(tt::BlockMaskOp block);
// Whether all that the map says is defined before `op`, which need not be in the block of the map.
bool IsKnownBefore(tt::BlockMaskOp block, mlir::Operation* op);

// Moves `value`, which is at hand in the block of `place`, in front of it. False where it cannot.
bool MoveInFrontOf(mlir::Value value, mlir::Operation* place);

// Makes the tensor maps of a function, each once, in the blocks where MapBlockOf says. Those of two makers are made at
// once, too, where what they say is known early enough.
class TensorMapMaker final {
 public:
  // Those for `blocks`, at once where they are made in one block. CanMakeTensorMap holds for them.
  void Make(llvm::ArrayRef<CopiedBlock> blocks);
  // The map for copies of the block, which has been made: a !tt.tensordesc.
  mlir::Value MapFor(const CopiedBlock& block) const;
  // What a copy by this map takes as the coordinates of the block. Of an empty tensor the block lies outside.
  llvm::SmallVector<mlir::Value> CoordinatesFor(mlir::OpBuilder& b, const CopiedBlock& block,
                                                mlir::ValueRange coordinates) const;

 private:
  struct Map {
    mlir::Value desc;
    mlir::Value is_empty;  // i1: its tensor has no element; null: not looked at
  };

  void MakeIn(mlir::Block* where, llvm::ArrayRef<CopiedBlock> missing);

  llvm::MapVector<llvm::SmallVector<const void*>, Map> made_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_TENSOR_MAP_MAKER_H_
