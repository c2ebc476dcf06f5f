// SPDX-License-Identifier: Apache-2.0
#include "compiler/costs/program_costs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler {

mlir::LogicalResult FixLaunch(tt::FuncOp function, llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> program) {
  mlir::OpBuilder b(function.getContext());
  auto fix = [&](mlir::Value value, int64_t constant) {
    auto type = llvm::dyn_cast<mlir::IntegerType>(value.getType());
    if (type) value.replaceAllUsesWith(mlir::arith::ConstantIntOp::create(b, value.getLoc(), type, constant));
  };
  b.setInsertionPointToStart(&function.getBody().front());
  for (auto [argument, value] : llvm::zip(function.getArguments(), values)) fix(argument, value);
  function.walk([&](tt::GetProgramIdOp id) {
    b.setInsertionPointAfter(id);
    const size_t axis = static_cast<size_t>(id.getAxis());
    if (axis < program.size()) fix(id.getResult(), program[axis]);
  });
  mlir::PassManager pm(function.getContext());
  pm.addPass(mlir::createSCCPPass());
  pm.addPass(mlir::createCanonicalizerPass());
  return pm.run(function->getParentOfType<mlir::ModuleOp>());
}

}  // namespace tritond::compiler
