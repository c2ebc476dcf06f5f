// SPDX-License-Identifier: Apache-2.0
// Loops carry tensors whose elements are all equal. One number is enough:
//
//   scf.for … iter_args(%t = dense<0.0>) {              scf.for … iter_args(%s = 0.0) {
//     %n = arith.addf %t, dense<1.0>                      %n = arith.addf %s, 1.0
//     %q = arith.divf %x, %n                       ->     %q = arith.divf %x, splat %n
//     scf.yield %n                                        scf.yield %n
//   }                                                   }
//
// So Welford's algorithm counts the elements of a mean. Where no mask leaves any out, all counts are equal. The
// assembler does not see that. It counts for each element of a thread, and computes as many reciprocals.
#include "compiler/ir/operands.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/carried_values.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_CARRYCOUNTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

// Operations one after the other, of which the next value is made.
constexpr int kMostDepth = 4;

// Whether all elements of `tensor` are equal if those of `carried` are.
bool IsUniform(Value tensor, Value carried, int depth = 0) {
  if (tensor == carried || SplatConstant(tensor)) return true;
  Operation* op = tensor.getDefiningOp();
  if (!op || depth == kMostDepth) return false;
  if (llvm::isa<tt::SplatOp>(op)) return true;
  return op->hasTrait<mlir::OpTrait::Elementwise>() && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         mlir::isPure(op) && llvm::isa<arith::ArithDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return IsUniform(operand, carried, depth + 1); });
}

// What all elements of `tensor` are, where those of `carried` are `scalar`.
Value ScalarOf(OpBuilder& b, Value tensor, Value carried, Value scalar) {
  if (tensor == carried) return scalar;
  mlir::Location loc = tensor.getLoc();
  if (mlir::TypedAttr constant = SplatConstant(tensor)) return arith::ConstantOp::create(b, loc, constant);
  Operation* op = tensor.getDefiningOp();
  if (auto splat = llvm::dyn_cast<tt::SplatOp>(op)) return splat.getSrc();
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands()) operands.push_back(ScalarOf(b, operand, carried, scalar));
  mlir::OperationState state(loc, op->getName(), operands, mlir::getElementTypeOrSelf(tensor),
                             op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return b.create(state)->getResult(0);
}

ForOp CarryCount(ForOp loop, unsigned index) {
  mlir::BlockArgument argument = loop.getRegionIterArg(index);
  auto type = llvm::dyn_cast<RankedTensorType>(argument.getType());
  Value start = loop.getInitArgs()[index], next = loop.getYieldedValues()[index];
  if (!type || next == argument || !IsUniform(start, /*carried=*/{}) || !IsUniform(next, argument)) return loop;
  mlir::IRRewriter b(loop);
  const mlir::Location loc = loop.getLoc();
  auto yields = [&](OpBuilder& at_end, mlir::Location, llvm::ArrayRef<mlir::BlockArgument> carried) {
    return llvm::SmallVector<Value>{ScalarOf(at_end, next, argument, carried.front())};
  };
  Value scalar = ScalarOf(b, start, /*carried=*/{}, /*scalar=*/{});
  auto slim =
      llvm::cast<ForOp>(*loop.replaceWithAdditionalYields(b, scalar, /*replaceInitOperandUsesInLoop=*/false, yields));
  mlir::BlockArgument tensor = slim.getRegionIterArg(index);
  slim.getBody()->getTerminator()->setOperand(index, tensor);
  b.setInsertionPointToStart(slim.getBody());
  Value in_body = tt::SplatOp::create(b, loc, type, slim.getRegionIterArgs().back());
  tensor.replaceUsesWithIf(in_body,
                           [](mlir::OpOperand& use) { return !llvm::isa<mlir::scf::YieldOp>(use.getOwner()); });
  b.setInsertionPointAfter(slim);
  slim.getResult(index).replaceAllUsesWith(tt::SplatOp::create(b, loc, type, slim.getResults().back()));
  return slim;
}

struct CarryCountsPass final : impl::CarryCountsPassBase<CarryCountsPass> {
  void runOnOperation() override { RewriteCarriedValues(getOperation(), CarryCount); }
};

}  // namespace
}  // namespace tritond::compiler
