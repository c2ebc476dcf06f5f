// SPDX-License-Identifier: Apache-2.0
// In which shape a program uses the blocks that descriptors load and store.
#ifndef COMPILER_ENCODING_COLLAPSED_USES_H_
#define COMPILER_ENCODING_COLLAPSED_USES_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// The sizes that all users give the block, where they reshape it; else its own.
llvm::ArrayRef<int64_t> ShapeOfUses(mlir::Value block);
// The sizes of the tensor that is reshaped to the block; without a reshape, its own.
llvm::ArrayRef<int64_t> ShapeOfSource(mlir::Value block);

// Moves reshapes that collapse blocks (CollapsedDims) to the loads, and those that make blocks of rows to the stores,
// through operations on single elements:
//
//   %x = tt.descriptor_load : 1x8x16x64                  %x = tt.descriptor_load : 1x8x16x64
//   %y = arith.extf %x : 1x8x16x64                 ->    %z = tt.reshape %x : 128x64
//   %z = tt.reshape %y : 128x64                          %y = arith.extf %z : 128x64
void MoveReshapesToBlocks(mlir::Operation* root);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_COLLAPSED_USES_H_
