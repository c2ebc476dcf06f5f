// SPDX-License-Identifier: Apache-2.0
// Buffers in shared memory between loads of a loop and the dots that read what they load.
#ifndef COMPILER_DOTS_LOAD_BUFFERS_H_
#define COMPILER_DOTS_LOAD_BUFFERS_H_

#include "compiler/ir/tt_dialect.h"
#include "compiler/ir/ttg_dialect.h"

namespace tritond::compiler {

// A value that is read from a load's buffer.
struct BufferRead {
  mlir::Value defines;               // of the loop's body
  llvm::SmallVector<int32_t> order;  // of the dimensions, where they are transposed
};

// Whether many threads hold each element, as of a row or column under the encoding of a whole tile. One of them copies
// it.
bool IsRowOfTile(mlir::RankedTensorType type);

// Whether threads may copy what a load of `type` reads to a buffer. Operands of dots are converted to.
bool HasCopies(mlir::RankedTensorType type);

// Whether elements of the load under a false mask must become something else than zero, or than the NaN that copies
// know (ir/padding.h).
bool HasFill(tt::LoadOp load);

// The values that are read from the buffer of a load of `body`: operands of dots, perhaps transposed, what the load is
// converted to, and at last the load's own result where anything else uses it. That result alone where elements under a
// mask become something else than zero.
llvm::SmallVector<BufferRead> ReadsOf(tt::LoadOp load, mlir::Block* body);

// The encoding of a buffer of `type` that is read so.
mlir::Attribute LoadBufferEncoding(mlir::RankedTensorType type, llvm::ArrayRef<BufferRead> reads);

// The encoding under which threads load `type` when lanes write to a buffer of encoding `buffer` side by side, in their
// order, `vec` neighbours each. Null where the tensor is too small for all threads.
mlir::Attribute LaneOrderEncoding(mlir::RankedTensorType type, mlir::Attribute buffer, int vec, int lanes, int warps);

// Whether they do so under the encoding that `type` has.
bool LoadsInLaneOrder(mlir::RankedTensorType type, mlir::Attribute buffer, int vec);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_LOAD_BUFFERS_H_
