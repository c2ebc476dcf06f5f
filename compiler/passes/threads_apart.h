// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads do not meet, some of which may end early.
#ifndef COMPILER_PASSES_THREADS_APART_H_
#define COMPILER_PASSES_THREADS_APART_H_

#include "compiler/analysis/barriers.h"
#include "compiler/ir/encodings.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

// Whether threads run `op` each for itself.
inline bool IsApart(mlir::Operation& op) {
  if (op.hasTrait<mlir::OpTrait::IsTerminator>()) return true;
  if (llvm::isa<ttg::WarpIdOp, ttg::LaneIdOp>(op) || BeginsWithBarrier(&op)) return false;
  return mlir::isMemoryEffectFree(&op) || llvm::isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op);
}

inline bool IsOneBlock(mlir::ModuleOp module) {
  auto ctas = module->getAttrOfType<mlir::IntegerAttr>(ttg::kNumCtasAttr);
  return !ctas || ctas.getInt() == 1;
}

// Whether a program is one block without shared memory. Runs when that is known.
inline bool MayEndThreads(mlir::ModuleOp module) {
  auto shared = module->getAttrOfType<mlir::IntegerAttr>(ttg::kSharedAttr);
  return shared && shared.getInt() == 0 && IsOneBlock(module);
}

inline bool IsWholeKernel(tt::FuncOp function) {
  return function.isPublic() && !function.isExternal() && function.getNumResults() == 0;
}

// Ends threads of which `is_idle` says so, before `place` in the entry block. It gets a builder there, and gives an i1.
inline void EndThreads(tt::FuncOp function, mlir::Block::iterator place,
                       llvm::function_ref<mlir::Value(mlir::OpBuilder&)> is_idle) {
  mlir::Block* entry = &function.getBody().front();
  mlir::Block* body = entry->splitBlock(place);
  auto b = mlir::OpBuilder::atBlockEnd(&function.getBody().back());
  mlir::Block* end = b.createBlock(&function.getBody());
  tt::ReturnOp::create(b, function.getLoc(), mlir::ValueRange());
  b.setInsertionPointToEnd(entry);
  mlir::Value idle = is_idle(b);
  mlir::cf::CondBranchOp::create(b, function.getLoc(), idle, end, body);
}

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_THREADS_APART_H_
