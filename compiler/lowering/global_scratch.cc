// SPDX-License-Identifier: Apache-2.0
// Global memory of a program's own: the caller gives a kernel room for all programs of the grid.
#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {
namespace {

mlir::LogicalResult LowerGlobalScratchAlloc(FunctionLowering& f, ttg::GlobalScratchAllocOp op) {
  mlir::FailureOr<mlir::Value> ptr = f.GlobalScratchOf(op);
  if (failed(ptr)) return mlir::failure();
  f.Set(op, {*ptr});
  return mlir::success();
}

}  // namespace

void AddGlobalScratch(LoweringTable& table) { table.Add<ttg::GlobalScratchAllocOp>(LowerGlobalScratchAlloc); }

}  // namespace tritond::compiler
