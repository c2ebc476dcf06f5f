// SPDX-License-Identifier: Apache-2.0
// A conversion after a branch, to an encoding under which threads hold fewer elements, is done in the branch:
//
//   %r = scf.if %c {                                    %r = scf.if %c {
//     …                                                   …
//     scf.yield %x : …, #many                             %a = ttg.convert_layout %x : #many -> #few
//   } else {                                              scf.yield %a
//     scf.yield %zero : …, #many               ->       } else {
//   }                                                     scf.yield %zero : …, #few
//   %y = ttg.convert_layout %r : #many -> #few          }
//
// There it moves on to where it costs least (layout_rematerialization.cc): as far as to a reduction, whose result all
// lanes have. What is computed from that is then computed once.
#include "compiler/encoding/branch_conversions.h"

#include "compiler/encoding/conversion_cost.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {
namespace {

using mlir::Attribute;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::IfOp;

// The one encoding that all uses convert the result to; null: there is none.
Attribute WantedEncoding(Value result) {
  Attribute wanted;
  for (mlir::Operation* user : result.getUsers()) {
    auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(user);
    if (!convert || (wanted && convert.getType().getEncoding() != wanted)) return {};
    wanted = convert.getType().getEncoding();
  }
  return wanted;
}

void Convert(IfOp branch, unsigned index, RankedTensorType type) {
  for (mlir::Block* block : {branch.thenBlock(), branch.elseBlock()}) {
    mlir::Operation* yield = block->getTerminator();
    mlir::OpBuilder b(yield);
    Value value = yield->getOperand(index);
    yield->setOperand(index, ttg::ConvertLayoutOp::create(b, value.getLoc(), type, value));
  }
  Value result = branch.getResult(index);
  result.setType(type);
  for (mlir::Operation* user : llvm::make_early_inc_range(result.getUsers())) {
    user->getResult(0).replaceAllUsesWith(result);
    user->erase();
  }
}

}  // namespace

void MoveConversionsIntoBranches(tt::FuncOp func) {
  CostModel costs;
  // Branches are found first: a walk goes on at the operation after a branch, which may be a conversion that is erased.
  llvm::SmallVector<IfOp> branches;
  func.walk([&](IfOp branch) { branches.push_back(branch); });
  for (IfOp branch : branches) {
    for (unsigned i = 0; i < branch.getNumResults(); ++i) {
      auto type = llvm::dyn_cast<RankedTensorType>(branch.getResult(i).getType());
      Attribute wanted = type ? WantedEncoding(branch.getResult(i)) : Attribute();
      if (wanted && costs.Registers(type, wanted) < costs.Registers(type, type.getEncoding()))
        Convert(branch, i, type.cloneWithEncoding(wanted));
    }
  }
}

}  // namespace tritond::compiler
