// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/lower_to_llvm.h"

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {
namespace {

namespace LLVM = mlir::LLVM;

const LoweringTable& AllLowerings() {
  static const LoweringTable* table = [] {
    auto* t = new LoweringTable;
    AddAsyncCopies(*t);
    AddAtomics(*t);
    AddControlFlow(*t);
    AddConversions(*t);
    AddDots(*t);
    AddElementwise(*t);
    AddGathers(*t);
    AddFp4(*t);
    AddGlobalScratch(*t);
    AddHistograms(*t);
    AddLayoutOps(*t);
    AddLocalGather(*t);
    AddMath(*t);
    AddMappedRegions(*t);
    AddMemDescOps(*t);
    AddMemory(*t);
    AddPartitions(*t);
    AddProgramOps(*t);
    AddReductions(*t);
    AddScans(*t);
    AddShapeOps(*t);
    AddStages(*t);
    return t;
  }();
  return *table;
}

void DeclareSharedMemory(mlir::ModuleOp module) {
  auto b = mlir::OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External, kSharedMemorySymbol,
                         mlir::Attribute(), /*alignment=*/16, /*addrSpace=*/3);
}

// Operations between functions belong to no kernel; symbols of the LLVM dialect may stay.
mlir::LogicalResult CheckOutsideOfFunctions(mlir::ModuleOp module) {
  for (mlir::Operation& op : *module.getBody()) {
    bool is_llvm_symbol = llvm::isa<LLVM::LLVMDialect>(op.getDialect()) && llvm::isa<mlir::SymbolOpInterface>(op);
    if (!is_llvm_symbol && !llvm::isa<tt::FuncOp>(op)) return op.emitOpError("stands outside of every function");
  }
  return mlir::success();
}

}  // namespace

mlir::LogicalResult LowerToLlvm(mlir::ModuleOp module, const TargetOps& target, const LoweringOptions& options) {
  if (failed(CheckOutsideOfFunctions(module))) return mlir::failure();
  AxisInfoAnalysis axis(module);
  DeclareSharedMemory(module);
  llvm::SmallVector<tt::FuncOp> funcs(module.getOps<tt::FuncOp>());
  for (tt::FuncOp func : funcs) {
    if (func.isExternal()) return func.emitOpError("has no body");
    FunctionLowering lowering(func, target, options, axis, AllLowerings());
    if (failed(lowering.Run())) return mlir::failure();
  }
  for (tt::FuncOp func : funcs) func.erase();
  return mlir::success();
}

}  // namespace tritond::compiler
