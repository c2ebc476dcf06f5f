// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/loop_effects.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

bool OnlyReads(mlir::scf::ForOp loop) {
  auto result = loop.getBody()->walk([](mlir::Operation* op) {
    if (op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>() || llvm::isa<mlir::LLVM::AssumeOp>(op) ||
        mlir::isMemoryEffectFree(op))
      return mlir::WalkResult::advance();
    auto effects = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(op);
    bool reads = effects && effects.onlyHasEffect<mlir::MemoryEffects::Read>();
    return reads ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

}  // namespace tritond::compiler
