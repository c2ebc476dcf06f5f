// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_DOTS_NEEDED_AFTER_DOTS_H_
#define COMPILER_DOTS_NEEDED_AFTER_DOTS_H_

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether a number that `loop` loads meets only what dots of the same iteration have made. It arrives while they run.
bool IsNeededAfterDots(tt::LoadOp load, mlir::scf::ForOp loop);

}  // namespace tritond::compiler

#endif  // COMPILER_DOTS_NEEDED_AFTER_DOTS_H_
