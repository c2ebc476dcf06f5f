// SPDX-License-Identifier: Apache-2.0
// Operands of dots that lie in memory in fewer bits than the dot takes.
#ifndef COMPILER_DOTS_PACKED_OPERANDS_H_
#define COMPILER_DOTS_PACKED_OPERANDS_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// The bits of memory that an element of `value`, a tensor, comes from. Its neighbours along `dim` lie next to it there:
//
//   %p = tt.load … : tensor<32x64xi8>              8 bits for dimension 1, if rows are contiguous
//   %w = tt.reshape (tt.join %low, %high)          4 bits: %low and %high are computed from %p
//
// The fewest where threads compute it from several loads; nothing where there is no such load.
std::optional<int64_t> BitsInMemory(mlir::Value value, unsigned dim);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_PACKED_OPERANDS_H_
