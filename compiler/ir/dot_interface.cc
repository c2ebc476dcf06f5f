// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/dot_interface.h"

#include "compiler/ir/dot_interface.cc.inc"
#include "compiler/ir/tt_dialect.h"

namespace tritond::tt {
namespace {

void AddScales(DotOp, llvm::SmallVector<mlir::OpOperand*>&) {}

void AddScales(DotScaledOp dot, llvm::SmallVector<mlir::OpOperand*>& inputs) {
  for (mlir::MutableOperandRange range : {dot.getAScaleMutable(), dot.getBScaleMutable()})
    for (mlir::OpOperand& scale : range) inputs.push_back(&scale);
}

template <typename Dot>
struct DotModel : DotOpInterface::ExternalModel<DotModel<Dot>, Dot> {
  mlir::Value getA(mlir::Operation* op) const { return llvm::cast<Dot>(op).getA(); }
  mlir::Value getB(mlir::Operation* op) const { return llvm::cast<Dot>(op).getB(); }
  mlir::Value getC(mlir::Operation* op) const { return llvm::cast<Dot>(op).getC(); }
  mlir::Value getD(mlir::Operation* op) const { return llvm::cast<Dot>(op).getD(); }
  llvm::SmallVector<mlir::OpOperand*> Inputs(mlir::Operation* op) const {
    auto dot = llvm::cast<Dot>(op);
    llvm::SmallVector<mlir::OpOperand*> inputs = {&dot.getAMutable(), &dot.getBMutable()};
    AddScales(dot, inputs);
    return inputs;
  }
};

}  // namespace

void AttachDotInterface(mlir::MLIRContext& context) {
  DotOp::attachInterface<DotModel<DotOp>>(context);
  DotScaledOp::attachInterface<DotModel<DotScaledOp>>(context);
}

}  // namespace tritond::tt
