// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_LAYOUT_PROPAGATION_H_
#define COMPILER_ENCODING_LAYOUT_PROPAGATION_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// Chooses one encoding for every tensor of `func` anew and changes types in place. Operations whose encodings were
// chosen on purpose (wide loads and stores, dots, calls) keep theirs. Conversions that this makes pointless go, others
// come where neighbours disagree; the function stays valid. Never fails.
void PropagateEncodings(tt::FuncOp func);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_LAYOUT_PROPAGATION_H_
