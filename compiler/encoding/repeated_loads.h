// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_REPEATED_LOADS_H_
#define COMPILER_ENCODING_REPEATED_LOADS_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// Replaces narrow loads of what another one has loaded under another encoding by conversions:
//
//   %x = tt.load %p, %m : …, #a                      %x = tt.load %p, %m : …, #a
//   %y = tt.load %q, %n : …, #b                =>    %y = ttg.convert_layout %x : …, #a -> …, #b
//
// where %q and %n are computed as %p and %m, and nothing is written in between. They were made for encodings that have
// changed since, so what they are worth has to be settled anew.
void ConvertRepeatedLoads(tt::FuncOp func);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_REPEATED_LOADS_H_
