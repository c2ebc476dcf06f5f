// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_IR_PROGRAM_ORDER_H_
#define COMPILER_IR_PROGRAM_ORDER_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler {

// In which order a device starts the programs of a kernel's grid, where that is not the order of their indices. A
// device starts blocks in the order of their places: x counts fastest, then y, then z. Lowering gives each place a
// program (lowering/program_place.h). passes/order_programs.cc says why.
struct ProgramOrder {
  // The first one tells long programs from short ones. The others count slower than it, and share the order.
  llvm::SmallVector<tt::ProgramDim> axes;
  bool descending = false;  // along the first axis: great indices start first
  int64_t wave = 1;         // programs that run at once

  // Discardable, of a module.
  static std::optional<ProgramOrder> Of(mlir::ModuleOp module);
  void SetOn(mlir::ModuleOp module) const;
};

}  // namespace tritond::compiler

#endif  // COMPILER_IR_PROGRAM_ORDER_H_
