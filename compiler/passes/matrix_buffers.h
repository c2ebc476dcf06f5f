// SPDX-License-Identifier: Apache-2.0
// Buffers in shared memory from which matrix units read their operands.
#ifndef COMPILER_PASSES_MATRIX_BUFFERS_H_
#define COMPILER_PASSES_MATRIX_BUFFERS_H_

#include "compiler/ir/ttg_dialect.h"

namespace tritond::compiler {

// Elements stand in `order`, fastest dimension first, in groups of 16 bytes that are swizzled such that eight
// neighbouring rows of one group lie in different banks. Null when the elements are narrower than a byte or wider than
// a word of the unit.
ttg::SwizzledSharedEncodingAttr MatrixBufferEncoding(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order);

// Whether `type` is an operand of a matrix unit's dot, not of one by multiply-adds.
bool IsMatrixOperand(mlir::RankedTensorType type);

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_MATRIX_BUFFERS_H_
