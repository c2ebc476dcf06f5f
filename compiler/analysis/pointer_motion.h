// SPDX-License-Identifier: Apache-2.0
// How the iterations of a loop move a tensor of pointers.
#ifndef COMPILER_ANALYSIS_POINTER_MOTION_H_
#define COMPILER_ANALYSIS_POINTER_MOTION_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// Whether a loop moves elements of `pointer` in other ways than by one number for all, as a permutation does that is
// another one in each iteration: %p + (make_range * 5 + splat(%i)) % 64. An element is then at an address at which
// another one was before. Indices from memory count as not moved. Of a function's body in which branches make the
// loops.
bool MovesUnevenly(mlir::Value pointer);

// Whether such an order may come back to an address that it had: it keeps the rest of a division, or some bits, and not
// the quotient. What is taken apart into both goes on from place to place.
bool ComesBack(mlir::Value pointer);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_POINTER_MOTION_H_
