// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipelining/programs_of_loop.h"

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tritond::compiler {
namespace {

// Whether it is the program's number, or differs from that by a constant.
bool IsOfProgram(mlir::Value value) {
  mlir::Operation* sum = value.getDefiningOp();
  if (llvm::isa_and_present<mlir::arith::AddIOp, mlir::arith::SubIOp>(sum) &&
      mlir::getConstantIntValue(sum->getOperand(1)))
    value = sum->getOperand(0);
  auto number = value.getDefiningOp<tt::GetProgramIdOp>();
  return number && number.getAxis() == tt::ProgramDim::kX;
}

}  // namespace

std::optional<int64_t> ProgramsOf(mlir::scf::ForOp loop) {
  for (mlir::scf::ForOp each = loop; each; each = each->getParentOfType<mlir::scf::ForOp>()) {
    if (each != loop && IsOfProgram(each.getLowerBound())) return mlir::getConstantIntValue(each.getStep());
    for (auto [init, carried] : llvm::zip(each.getInits(), each.getRegionIterArgs())) {
      if (!IsOfProgram(init)) continue;
      for (mlir::Operation* user : carried.getUsers())
        if (auto sum = llvm::dyn_cast<mlir::arith::AddIOp>(user); sum && sum.getLhs() == carried)
          if (std::optional<int64_t> step = mlir::getConstantIntValue(sum.getRhs()); step && *step > 0) return step;
    }
  }
  return std::nullopt;
}

}  // namespace tritond::compiler
