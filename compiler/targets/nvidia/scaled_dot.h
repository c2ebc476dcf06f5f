// SPDX-License-Identifier: Apache-2.0
// Giving a dot of microscaled operands the encodings of mma.sync with block_scale.
#ifndef COMPILER_TARGETS_NVIDIA_SCALED_DOT_H_
#define COMPILER_TARGETS_NVIDIA_SCALED_DOT_H_

#include "compiler/ir/tt_dialect.h"
#include "compiler/targets/nvidia/architecture.h"

namespace tritond::compiler::nvidia {

// Replaces `dot` by one between conversions (dots/scaled_dot_form.h). Leaves a dot alone that has encodings of its own.
void AccelerateScaledDot(tt::DotScaledOp dot);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_SCALED_DOT_H_
