// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_PIPELINING_LOOP_EFFECTS_H_
#define COMPILER_PIPELINING_LOOP_EFFECTS_H_

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// Whether nothing in the operation, as a loop, writes memory, synchronises or has an effect that is not known, so that
// loads may pass it.
bool OnlyReads(mlir::Operation* op);

// Whether `load` may start before `op`: for a loop, in an earlier iteration. Beside reading, the operation must only
// store, or update memory by atomic operations whose results nothing uses. All these must go by other pointer arguments
// of the kernel than the load. Two arguments count as different memory, as for Triton's own pipeliner, which starts any
// load before any store.
bool MayStartEarly(tt::LoadOp load, mlir::Operation* op);

}  // namespace tritond::compiler

#endif  // COMPILER_PIPELINING_LOOP_EFFECTS_H_
