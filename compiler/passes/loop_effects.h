// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_PASSES_LOOP_EFFECTS_H_
#define COMPILER_PASSES_LOOP_EFFECTS_H_

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether nothing in the loop writes memory, synchronises or has an effect that is not known, so that its loads may be
// made earlier.
bool OnlyReads(mlir::scf::ForOp loop);

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_LOOP_EFFECTS_H_
