// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_MATRIX_LOADS_H_
#define COMPILER_LOWERING_MATRIX_LOADS_H_

#include <optional>

#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {

// Reads registers from shared memory at `place` as LoadShared does, by instructions that load matrices of 8 x 8 words
// for a whole warp. Nullopt, with nothing emitted, when the target has none that fits (register, lane, warp, block) ->
// offset.
std::optional<Values> LoadSharedMatrices(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place,
                                         mlir::Type type);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_MATRIX_LOADS_H_
