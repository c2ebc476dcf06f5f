// SPDX-License-Identifier: Apache-2.0
// Giving a dot the encoding of the unit that computes it.
#ifndef COMPILER_DOTS_DOT_FORM_H_
#define COMPILER_DOTS_DOT_FORM_H_

#include "compiler/ir/encodings.h"
#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// How a dot is to be computed.
struct DotForm {
  ttg::DistributedEncoding encoding;      // of the accumulators
  mlir::Type a, b;                        // element types of the operands
  unsigned k_width_a = 0, k_width_b = 0;  // of the operands' encodings
  bool casts_first = false;               // cast an operand before it changes its encoding, not after
};

// Replaces `dot` by one of this form, between conversions:
//
//   %d = tt.dot %a, %b, %c : tensor<64x32xf16, #dot_op<0, #old>> * … -> tensor<64x64xf32, #old>
//   ->
//   %x = ttg.convert_layout %a : … -> #dot_op<0, #form, kWidth>          (from before its conversion to #old's)
//   %y = ttg.convert_layout %b : … -> #dot_op<1, #form, kWidth>
//   %z = ttg.convert_layout %c : #old -> #form
//   %e = tt.dot %x, %y, %z     : … -> tensor<64x64xf32, #form>
//   %d = ttg.convert_layout %e : #form -> #old
//
// The next removal of layout conversions carries #form through loops, and the conversions of the accumulators vanish.
void ReformDot(tt::DotOp dot, const DotForm& form);

// Converts a tensor to an encoding.
mlir::Value ConvertTo(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Attribute encoding);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_DOT_FORM_H_
