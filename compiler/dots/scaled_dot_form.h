// SPDX-License-Identifier: Apache-2.0
// Giving a dot of microscaled operands the encodings of the matrix instruction that takes scales.
#ifndef COMPILER_DOTS_SCALED_DOT_FORM_H_
#define COMPILER_DOTS_SCALED_DOT_FORM_H_

#include "compiler/ir/encodings.h"
#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// How such a dot is to be computed.
struct ScaledDotForm {
  ttg::DistributedEncoding encoding;      // of the accumulators
  unsigned k_width_a = 0, k_width_b = 0;  // of the operands' encodings, in bytes
  mlir::Attribute a_scale, b_scale;       // the encodings of the scales, where the dot has them
};

// Replaces `dot` by one of this form, between conversions, as ReformDot does (dot_form.h).
void ReformScaledDot(tt::DotScaledOp dot, const ScaledDotForm& form);

// K: the elements of a row of operand a.
int64_t DepthOf(tt::DotScaledOp dot);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_SCALED_DOT_FORM_H_
