// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/operand_registers.h"

#include "compiler/analysis/scratch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

int BitsOf(Value value) {
  mlir::Type element = mlir::getElementTypeOrSelf(value.getType());
  return element.isIntOrFloat() ? static_cast<int>(element.getIntOrFloatBitWidth()) : 0;
}

// Whether a register of the result may be one of an operand's: the same value, or one that is computed in place.
bool MayTakeRegisters(Operation* op) {
  return op->getNumRegions() == 0 && mlir::isMemoryEffectFree(op) && ScratchBytes(op) == 0;
}

}  // namespace

llvm::SmallSetVector<Operation*, 4> MakersOfOperandA(ttng::WarpGroupDotOp dot) {
  llvm::SmallSetVector<Operation*, 4> makers;
  llvm::SmallVector<Value> work;
  if (llvm::isa<RankedTensorType>(dot.getA().getType())) work.push_back(dot.getA());
  auto loop = llvm::dyn_cast<mlir::scf::ForOp>(dot->getParentOp());
  if (auto carried = llvm::dyn_cast<mlir::BlockArgument>(dot.getA()); carried && loop)
    if (mlir::OpOperand* yielded =
            carried.getOwner() == loop.getBody() ? loop.getTiedLoopYieldedValue(carried) : nullptr)
      work.push_back(yielded->get());
  const int bits = work.empty() ? 0 : BitsOf(dot.getA());
  while (!work.empty()) {
    Operation* op = work.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != dot->getBlock() || !makers.insert(op) || !MayTakeRegisters(op)) continue;
    for (Value operand : op->getOperands())
      if (llvm::isa<RankedTensorType>(operand.getType()) && BitsOf(operand) == bits) work.push_back(operand);
  }
  return makers;
}

}  // namespace tritond::compiler
