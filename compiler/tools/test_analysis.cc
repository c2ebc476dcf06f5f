// SPDX-License-Identifier: Apache-2.0
#include "compiler/tools/test_analysis.h"

#include "compiler/analysis/axis_info.h"
#include "compiler/analysis/axis_transfer.h"
#include "compiler/ir/ttg_dialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tritond::compiler {
namespace {

// Prints every operation with results, and every block argument outside of combine regions, as
//   OPERATION => [contiguity] [divisibility] [constancy]
// with a number a dimension ("any" for facts without bound), and "constant N" where the value is known.
struct PrintAxisInfo : mlir::PassWrapper<PrintAxisInfo, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintAxisInfo)

  llvm::StringRef getArgument() const override { return "test-print-axis-info"; }
  llvm::StringRef getDescription() const override { return "prints what is known about values along each dimension"; }

  void runOnOperation() override {
    AxisInfoAnalysis analysis(getOperation());
    mlir::AsmState state(getOperation(), mlir::OpPrintingFlags().skipRegions());
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      if (llvm::isa<tt::FuncOp>(op)) {
        op->print(llvm::outs(), state);
        llvm::outs() << "\n";
      }
      for (mlir::Value result : op->getResults()) {
        op->print(llvm::outs(), state);
        Print(analysis.Get(result));
      }
      if (llvm::isa<tt::ReduceOp, tt::ScanOp, tt::MapElementwiseOp>(op)) return mlir::WalkResult::skip();
      for (mlir::Region& region : op->getRegions()) {
        for (mlir::BlockArgument argument : region.getArguments()) PrintArgument(analysis, op, argument);
        for (mlir::Block& block : llvm::drop_begin(region, region.empty() ? 0 : 1)) {
          for (mlir::BlockArgument argument : block.getArguments()) PrintArgument(analysis, op, argument);
        }
      }
      return mlir::WalkResult::advance();
    });
  }

  static void PrintArgument(const AxisInfoAnalysis& analysis, mlir::Operation* op, mlir::BlockArgument argument) {
    llvm::outs() << "argument " << argument.getArgNumber() << " of block "
                 << std::distance(argument.getParentRegion()->begin(), argument.getOwner()->getIterator()) << " of "
                 << op->getName();
    Print(analysis.Get(argument));
  }

  static void Print(const AxisInfo& info) {
    llvm::outs() << " =>";
    for (auto fact : {&AxisDim::contiguity, &AxisDim::divisibility, &AxisDim::constancy}) {
      llvm::outs() << " [";
      llvm::interleaveComma(info.dims, llvm::outs(), [&](const AxisDim& dim) {
        if (dim.*fact >= axis::kUnbounded) {
          llvm::outs() << "any";
        } else {
          llvm::outs() << dim.*fact;
        }
      });
      llvm::outs() << "]";
    }
    if (info.constant) llvm::outs() << " constant " << *info.constant;
    llvm::outs() << "\n";
  }
};

}  // namespace

void RegisterAnalysisPrinters() { mlir::PassRegistration<PrintAxisInfo>(); }

}  // namespace tritond::compiler
