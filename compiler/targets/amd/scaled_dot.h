// SPDX-License-Identifier: Apache-2.0
// Giving a dot of microscaled operands the encodings of the matrix instruction that takes scales.
#ifndef COMPILER_TARGETS_AMD_SCALED_DOT_H_
#define COMPILER_TARGETS_AMD_SCALED_DOT_H_

#include "compiler/ir/tt_dialect.h"
#include "compiler/targets/amd/architecture.h"

namespace tritond::compiler::amd {

// Replaces `dot` by one between conversions, as ReformDot does. `tile_rows`: 16 or 32 where the caller prefers such an
// instruction, else 0. Leaves a dot alone that has encodings of its own, or that is no whole tiles of an instruction.
void AccelerateScaledDot(tt::DotScaledOp dot, const Architecture& arch, int tile_rows);

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_SCALED_DOT_H_
