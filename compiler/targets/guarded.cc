// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/guarded.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

mlir::Value EmitGuarded(mlir::OpBuilder& b, mlir::Location loc, mlir::Value predicate, mlir::Value otherwise,
                        llvm::function_ref<mlir::Value()> act) {
  if (!predicate) return act();
  mlir::Block* here = b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(b.getInsertionPoint());
  mlir::Block* acts = b.createBlock(after);
  llvm::SmallVector<mlir::Value, 1> skipped, acted;
  if (otherwise) skipped.push_back(otherwise);
  b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(b, loc, predicate, acts, mlir::ValueRange(), after, skipped);
  b.setInsertionPointToEnd(acts);
  mlir::Value result = act();
  if (otherwise) acted.push_back(result);
  LLVM::BrOp::create(b, loc, acted, after);
  b.setInsertionPointToStart(after);
  return otherwise ? after->addArgument(otherwise.getType(), loc) : mlir::Value();
}

}  // namespace tritond::compiler
