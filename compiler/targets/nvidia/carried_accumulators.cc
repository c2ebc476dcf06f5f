// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/carried_accumulators.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::OpOperand;
using mlir::Value;
using mlir::scf::ForOp;
using mlir::scf::IfOp;

// The result of `branch` that is `sum` on either way.
Value ResultThatIs(Value sum, IfOp branch) {
  if (branch.getNumResults() == 0) return nullptr;
  for (auto [then, other, result] :
       llvm::zip(branch.thenYield().getOperands(), branch.elseYield().getOperands(), branch.getResults()))
    if (then == sum && other == sum) return result;
  return nullptr;
}

}  // namespace

IfOp BranchOfUses(Value sum) {
  IfOp branch;
  for (Operation* user : sum.getUsers()) {
    Operation* op = sum.getParentBlock()->findAncestorOpInBlock(*user);
    if (!op || op == user || (branch && op != branch)) return nullptr;
    branch = llvm::dyn_cast<IfOp>(op);
    if (!branch) return nullptr;
  }
  return branch;
}

std::optional<CarriedAccumulators> CarriedAccumulatorsOf(ttng::WarpGroupDotOp dot) {
  auto loop = llvm::dyn_cast_or_null<ForOp>(dot->getParentOp());
  if (!loop || dot->use_empty() || !ttng::AddsToResult(dot)) return std::nullopt;
  Operation* yield = loop.getBody()->getTerminator();
  Value carried = dot.getD();
  IfOp reader = BranchOfUses(carried);
  if (reader) carried = ResultThatIs(carried, reader);
  if (!carried || !carried.hasOneUse() || carried.use_begin()->getOwner() != yield) return std::nullopt;
  return CarriedAccumulators{loop.getRegionIterArg(carried.use_begin()->getOperandNumber()), reader};
}

}  // namespace tritond::compiler
