// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_STORE_COST_H_
#define COMPILER_ENCODING_STORE_COST_H_

#include "compiler/analysis/axis_info.h"
#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// A store under `encoding`, in the instructions of exchange_cost.h: those that a thread issues, and its part of the
// sectors that the memory takes. Lanes of one instruction share a sector where `axes` says that they are neighbours in
// memory; each other element takes a sector of its own.
double StoreCost(tt::StoreOp store, mlir::Attribute encoding, const AxisInfoAnalysis& axes);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_STORE_COST_H_
