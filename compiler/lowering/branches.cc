// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/branches.h"

namespace tritond::compiler {

namespace LLVM = mlir::LLVM;

void Where(Emitter& e, mlir::Value condition, llvm::function_ref<void()> emit) {
  mlir::Block* here = e.b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(e.b.getInsertionPoint());
  mlir::Block* taken = e.b.createBlock(after);
  e.b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(e.b, e.loc, condition, taken, after);
  e.b.setInsertionPointToStart(taken);
  emit();
  LLVM::BrOp::create(e.b, e.loc, after);
  e.b.setInsertionPointToStart(after);
}

Values IfElse(Emitter& e, mlir::Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no) {
  mlir::Block* here = e.b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(e.b.getInsertionPoint());
  mlir::Block* taken = e.b.createBlock(after);
  mlir::Block* other = e.b.createBlock(after);
  e.b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(e.b, e.loc, condition, taken, other);
  e.b.setInsertionPointToStart(taken);
  Values results = yes();
  LLVM::BrOp::create(e.b, e.loc, results, after);
  e.b.setInsertionPointToStart(other);
  LLVM::BrOp::create(e.b, e.loc, no(), after);
  Values joined;
  for (mlir::Value result : results) joined.push_back(after->addArgument(result.getType(), e.loc));
  e.b.setInsertionPointToStart(after);
  return joined;
}

}  // namespace tritond::compiler
