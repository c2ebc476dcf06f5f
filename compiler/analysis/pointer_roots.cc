// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/pointer_roots.h"

#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;

class RootFinder final {
 public:
  // False where something is not known.
  bool Visit(Value pointer) {
    if (!seen_.insert(pointer).second) return true;
    if (auto argument = llvm::dyn_cast<BlockArgument>(pointer)) return VisitArgument(argument);
    Operation* op = pointer.getDefiningOp();
    if (llvm::isa<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::TransOp, tt::ReshapeOp,
                  tt::BitcastOp, ttg::ConvertLayoutOp, tt::SplitOp, tt::UnsplatOp, tt::GatherOp, tt::MakeTensorDescOp,
                  tt::MakeTensorPtrOp, tt::AdvanceOp>(op))
      return Visit(op->getOperand(0));
    if (llvm::isa<tt::JoinOp, tt::CatOp>(op)) return Visit(op->getOperand(0)) && Visit(op->getOperand(1));
    // What a loop carries before there is such a pointer. Nobody accesses memory by it.
    if (llvm::isa<mlir::ub::PoisonOp>(op)) return true;
    if (auto select = llvm::dyn_cast<mlir::arith::SelectOp>(op))
      return Visit(select.getTrueValue()) && Visit(select.getFalseValue());
    unsigned index = llvm::cast<mlir::OpResult>(pointer).getResultNumber();
    if (auto loop = llvm::dyn_cast<mlir::scf::ForOp>(op))
      return Visit(loop.getInitArgs()[index]) && Visit(loop.getYieldedValues()[index]);
    if (auto branch = llvm::dyn_cast<mlir::scf::IfOp>(op))
      return Visit(branch.thenYield().getOperand(index)) && Visit(branch.elseYield().getOperand(index));
    return false;
  }

  PointerRoots TakeRoots() { return std::move(roots_); }

 private:
  bool VisitArgument(BlockArgument argument) {
    Operation* parent = argument.getOwner()->getParentOp();
    if (auto loop = llvm::dyn_cast<mlir::scf::ForOp>(parent))
      return argument != loop.getInductionVar() && Visit(loop.getTiedLoopInit(argument)->get()) &&
             Visit(loop.getTiedLoopYieldedValue(argument)->get());
    auto start = llvm::dyn_cast<ttg::StartPartitionsOp>(parent);
    auto function = llvm::dyn_cast<tt::FuncOp>(parent);
    if (!function && !start) return false;
    if (!argument.getOwner()->isEntryBlock()) return VisitBranches(argument);
    if (start) return Visit(start.getCaptures()[argument.getArgNumber()]);
    if (!function.isPublic()) return false;
    roots_.insert(argument);
    return true;
  }

  // What branches pass.
  bool VisitBranches(BlockArgument argument) {
    for (mlir::Block* from : argument.getOwner()->getPredecessors()) {
      auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(from->getTerminator());
      if (!branch) return false;
      for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
        if (branch->getSuccessor(i) != argument.getOwner()) continue;
        Value passed = branch.getSuccessorOperands(i)[argument.getArgNumber()];
        if (!passed || !Visit(passed)) return false;
      }
    }
    return true;
  }

  llvm::SmallPtrSet<Value, 16> seen_;
  PointerRoots roots_;
};

}  // namespace

std::optional<PointerRoots> RootsOfPointer(Value pointer) {
  RootFinder finder;
  if (!finder.Visit(pointer)) return std::nullopt;
  return finder.TakeRoots();
}

}  // namespace tritond::compiler
