// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_LAYOUT_REMATERIALIZATION_H_
#define COMPILER_ENCODING_LAYOUT_REMATERIALIZATION_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// Makes the conversions of `func` cheaper: computes a value again under the other encoding, or converts what it is
// computed from. Again while that helps, because one that has moved opens the way for others. Never fails.
void MoveConversions(tt::FuncOp func);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_LAYOUT_REMATERIALIZATION_H_
