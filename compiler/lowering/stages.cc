// SPDX-License-Identifier: Apache-2.0
// Operations that the loops of software pipelines leave: whether a stage has work at an iteration, and regions that run
// where it has.
#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::Value;
namespace LLVM = mlir::LLVM;

LogicalResult LowerPredicateStage(FunctionLowering& f, ttg::PredicateStageOp op) {
  Emitter& e = f.e;
  Value iv = f.Scalar(op.getIv()), ub = f.Scalar(op.getUb()), step = f.Scalar(op.getStep());
  int64_t later_stages = int64_t{op.getMaxStage()} - op.getStage();
  // Signed, and without the promises of index arithmetic.
  Value distance = LLVM::MulOp::create(e.b, e.loc, step, e.Int(later_stages, step.getType().getIntOrFloatBitWidth()));
  Value bound = LLVM::SubOp::create(e.b, e.loc, ub, distance);
  f.Set(op, {e.Compare(LLVM::ICmpPredicate::slt, iv, bound)});
  return mlir::success();
}

LogicalResult LowerMask(FunctionLowering& f, ttg::MaskOp op) {
  Emitter& e = f.e;
  Value predicate = f.Scalar(op.getPred());
  mlir::Block* here = e.b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(e.b.getInsertionPoint());
  mlir::Block* body = e.b.createBlock(after);
  mlir::Operation* ret = op.getRegion().front().getTerminator();
  for (mlir::Operation& inner : op.getRegion().front().without_terminator())
    if (failed(f.LowerOp(&inner))) return mlir::failure();
  Values results, undefined, arguments;
  for (Value operand : ret->getOperands()) llvm::append_range(results, f.Get(operand));
  LLVM::BrOp::create(e.b, e.loc, results, after);
  e.b.setInsertionPointToEnd(here);
  for (Value result : results) {
    undefined.push_back(e.Poison(result.getType()));
    arguments.push_back(after->addArgument(result.getType(), e.loc));
  }
  LLVM::CondBrOp::create(e.b, e.loc, predicate, body, mlir::ValueRange(), after, undefined);
  e.b.setInsertionPointToStart(after);
  size_t next = 0;
  for (auto [result, operand] : llvm::zip(op.getResults(), ret->getOperands())) {
    size_t count = f.Get(operand).size();
    f.Set(result, ValueList(arguments).slice(next, count));
    next += count;
  }
  return mlir::success();
}

}  // namespace

void AddStages(LoweringTable& table) {
  table.Add<ttg::PredicateStageOp>(LowerPredicateStage);
  table.Add<ttg::MaskOp>(LowerMask);
}

}  // namespace tritond::compiler
