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
  b.create<LLVM::GlobalOp>(module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External, kSharedMemorySymbol,
                           mlir::Attribute(), /*alignment=*/16, /*addrSpace=*/3);
}

}  // namespace

mlir::LogicalResult LowerToLlvm(mlir::ModuleOp module, const TargetOps& target, const LoweringOptions& options) {
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
