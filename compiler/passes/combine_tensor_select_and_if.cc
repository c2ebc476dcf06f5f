// SPDX-License-Identifier: Apache-2.0
// A choice between tensors by a condition on which an scf.if branches anyway becomes a result of that scf.if:
//
//   %s = arith.select %c, %a, %b : tensor<128xf32>         %r:2 = scf.if %c {
//   %r = scf.if %c {                                         …
//     …                                                      scf.yield %x, %a
//     scf.yield %x                                    ->   } else {
//   } else {                                                 scf.yield %y, %b
//     scf.yield %y                                         }
//   }                                                      use %r#0, %r#1
//   use %r, %s
//
// A select costs an instruction for each element of a thread; a branch that is there costs nothing more. The condition
// is a scalar, the same for all threads. Within the branches, the select is the one or the other.
//
// The select may stand before the scf.if, if nothing in between uses it. Or after it, if both choices are there
// already when the branch is taken.
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_COMBINETENSORSELECTANDIFPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;
using mlir::arith::SelectOp;
using mlir::scf::IfOp;

bool IsUniformTensorSelect(SelectOp select) {
  return llvm::isa<mlir::RankedTensorType>(select.getType()) && select.getCondition().getType().isInteger(1);
}

// Whether `value` has been computed when `op` begins. One of its own results has not, but each branch yields it.
bool IsThereBefore(Value value, Operation* op) {
  Operation* def = value.getDefiningOp();
  return !def || def->getBlock() != op->getBlock() || def->isBeforeInBlock(op) || def == op;
}

bool Fits(SelectOp select, IfOp branch) {
  if (branch.getCondition() != select.getCondition()) return false;
  if (!IsThereBefore(select.getTrueValue(), branch) || !IsThereBefore(select.getFalseValue(), branch)) return false;
  if (branch->isBeforeInBlock(select)) return true;
  return llvm::all_of(select->getUsers(), [&](Operation* user) {
    Operation* here = branch->getBlock()->findAncestorOpInBlock(*user);
    return here && !here->isBeforeInBlock(branch);
  });
}

IfOp FindBranch(SelectOp select) {
  for (Operation* user : select.getCondition().getUsers()) {
    auto branch = llvm::dyn_cast<IfOp>(user);
    if (branch && branch->getBlock() == select->getBlock() && Fits(select, branch)) return branch;
  }
  return {};
}

// Lets one branch yield `choice` too, and use it where it used the select. `choice` may be a result of the scf.if.
void Extend(mlir::Region& region, IfOp branch, SelectOp select, Value choice) {
  auto yield = llvm::cast<mlir::scf::YieldOp>(region.front().getTerminator());
  if (choice.getDefiningOp() == branch.getOperation())
    choice = yield.getOperand(llvm::cast<mlir::OpResult>(choice).getResultNumber());
  select.getResult().replaceUsesWithIf(
      choice, [&](mlir::OpOperand& use) { return region.isAncestor(use.getOwner()->getParentRegion()); });
  yield.getResultsMutable().append(choice);
}

void Merge(SelectOp select, IfOp branch) {
  mlir::OpBuilder b(branch);
  llvm::SmallVector<mlir::Type> types(branch.getResultTypes());
  types.push_back(select.getType());
  auto merged = IfOp::create(b, branch.getLoc(), types, branch.getCondition(), /*addThenBlock=*/false,
                             /*addElseBlock=*/false);
  merged->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  if (branch.getElseRegion().empty()) {
    b.createBlock(&branch.getElseRegion());
    mlir::scf::YieldOp::create(b, branch.getLoc());
  }
  Extend(branch.getThenRegion(), branch, select, select.getTrueValue());
  Extend(branch.getElseRegion(), branch, select, select.getFalseValue());
  merged.getThenRegion().takeBody(branch.getThenRegion());
  merged.getElseRegion().takeBody(branch.getElseRegion());
  select.replaceAllUsesWith(merged.getResults().back());
  branch.replaceAllUsesWith(merged.getResults().drop_back());
  select.erase();
  branch.erase();
}

class CombineTensorSelectAndIfPass : public impl::CombineTensorSelectAndIfPassBase<CombineTensorSelectAndIfPass> {
  void runOnOperation() override {
    llvm::SmallVector<SelectOp> selects;
    getOperation().walk([&](SelectOp select) {
      if (IsUniformTensorSelect(select)) selects.push_back(select);
    });
    for (SelectOp select : selects)
      if (IfOp branch = FindBranch(select)) Merge(select, branch);
  }
};

}  // namespace
}  // namespace tritond::compiler
