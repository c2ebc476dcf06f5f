// SPDX-License-Identifier: Apache-2.0
// Buffers in shared memory from which matrix units read their operands.
#ifndef COMPILER_DOTS_MATRIX_BUFFERS_H_
#define COMPILER_DOTS_MATRIX_BUFFERS_H_

#include "compiler/ir/ttg_dialect.h"

namespace tritond::compiler {

// The encoding of a buffer that holds `type` in `order`, fastest dimension first. The buffer is for an operand of
// encoding `operand`, whose dimension d is dimension `dims[d]` of the buffer. Null when the elements are narrower than
// a byte. A batch is the slowest dimension, unless it is the fastest of `order`: units read neighbouring rows of one
// matrix.
//
// The one that the operand's unit reads by itself, where it has such (MatrixEncoding::OperandBuffer). Else
// swizzled_shared: groups of 16 bytes, of 32 for elements of 64 bits, of more where neighbouring lanes read as much of
// a row side by side. They are swizzled such that neighbouring rows of one group lie in different banks: eight of 16
// bytes, four of 32. Of bytes with K not contiguous, of which a lane reads kWidth neighbouring rows, it is eight times
// so many rows. Threads that multiply and add read neighbours of one row at a time where K does not run along rows: no
// swizzle then.
//
// `by_threads`: the unit does not read the buffer by itself, for threads compute the operand from what they read.
mlir::Attribute MatrixBufferEncoding(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order,
                                     ttg::DotOperandEncodingAttr operand, llvm::ArrayRef<int32_t> dims = {},
                                     bool by_threads = false);

// The encoding of a buffer that holds `type` in `order`, from which threads read what they hold under the encoding of
// `read`, a type of the same shape. Groups of neighbours that lanes read side by side are swizzled as above.
ttg::SwizzledSharedEncodingAttr ReadBufferEncoding(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order,
                                                   mlir::RankedTensorType read);

// The dimensions of `type` by how many neighbours along them a thread holds, most first.
llvm::SmallVector<unsigned> OrderInThread(mlir::RankedTensorType type);

// Whether `type` is an operand of a matrix unit's dot, not of one by multiply-adds.
bool IsMatrixOperand(mlir::RankedTensorType type);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_MATRIX_BUFFERS_H_
