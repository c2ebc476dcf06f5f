// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipelining/programs_of_loop.h"

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tritond::compiler {
namespace {

using mlir::scf::ForOp;

// What `value` is at first, where a loop around it carries it.
mlir::Value FirstOf(mlir::Value value) {
  while (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    auto loop = llvm::dyn_cast_or_null<ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar()) break;
    value = loop.getTiedLoopInit(argument)->get();
  }
  return value;
}

// Whether it is the program's number at first, or differs from that by a constant.
bool IsOfProgram(mlir::Value value) {
  value = FirstOf(value);
  mlir::Operation* sum = value.getDefiningOp();
  if (llvm::isa_and_present<mlir::arith::AddIOp, mlir::arith::SubIOp>(sum) &&
      mlir::getConstantIntValue(sum->getOperand(1)))
    value = sum->getOperand(0);
  auto number = value.getDefiningOp<tt::GetProgramIdOp>();
  return number && number.getAxis() == tt::ProgramDim::kX;
}

// The constant that `sum` is more than `carried`; 0: none, or not more.
int64_t StepOf(mlir::Value carried, mlir::Operation* sum) {
  if (!llvm::isa_and_present<mlir::arith::AddIOp>(sum) || sum->getOperand(0) != carried) return 0;
  return std::max<int64_t>(mlir::getConstantIntValue(sum->getOperand(1)).value_or(0), 0);
}

// By how much each iteration adds to the number of the tile, which the loop carries; 0: it carries none.
int64_t StepOfTiles(ForOp loop) {
  for (auto [init, carried] : llvm::zip(loop.getInits(), loop.getRegionIterArgs())) {
    if (!IsOfProgram(init)) continue;
    for (mlir::Operation* user : carried.getUsers())
      if (const int64_t step = StepOf(carried, user)) return step;
  }
  return 0;
}

// The same. The condition hands the number on as it is.
int64_t StepOfTiles(mlir::scf::WhileOp loop) {
  for (auto [handed, carried] : llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments())) {
    auto number = llvm::dyn_cast<mlir::BlockArgument>(handed);
    if (!number || number.getOwner() != loop.getBeforeBody()) continue;
    const unsigned at = number.getArgNumber();
    if (!IsOfProgram(loop.getInits()[at])) continue;
    if (const int64_t step = StepOf(carried, loop.getYieldedValues()[at].getDefiningOp())) return step;
  }
  return 0;
}

}  // namespace

std::optional<int64_t> ProgramsOf(ForOp loop) {
  for (mlir::Operation* op = loop; op; op = op->getParentOp()) {
    auto counted = llvm::dyn_cast<ForOp>(op);
    auto conditional = llvm::dyn_cast<mlir::scf::WhileOp>(op);
    if (counted && counted != loop && IsOfProgram(counted.getLowerBound()))
      return mlir::getConstantIntValue(counted.getStep());
    const int64_t step = counted ? StepOfTiles(counted) : conditional ? StepOfTiles(conditional) : 0;
    if (step > 0) return step;
  }
  return std::nullopt;
}

}  // namespace tritond::compiler
