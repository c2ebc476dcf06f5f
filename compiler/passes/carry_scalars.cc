// SPDX-License-Identifier: Apache-2.0
// Loops carry indices that all move by the same number. Only that number has to be carried:
//
//   %t0 = splat %start + %range                        scf.for … iter_args(%s = %start) {
//   scf.for … iter_args(%t = %t0) {                      %t = splat %s + %range
//     …                                          ->      …
//     %n = arith.addi %t, splat %step                    %n = arith.addi %s, %step
//     scf.yield %n                                       scf.yield %n
//   }                                                  }
//
// The assembler does not see that all elements of a thread keep their distances. So each takes a register and an
// addition in each iteration, and this once for each encoding in which something reads the indices. A sum of a scalar
// and a range is made where it is used, with the distances in the instructions. FlexAttention steps so from block to
// block.
//
// Ranges are made again in every iteration, or before the loop. So the rest of an index is made of ranges alone.
// Nothing is gained by indices that are not spread over a tile: of these, a thread has few.
#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/carried_values.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_CARRYSCALARSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

bool IsUniform(Value tensor) {
  mlir::DenseElementsAttr constant;
  if (mlir::matchPattern(tensor, mlir::m_Constant(&constant))) return constant.isSplat();
  return static_cast<bool>(tensor.getDefiningOp<tt::SplatOp>());
}

// What all elements of a uniform tensor are.
Value ScalarOf(OpBuilder& b, Value tensor) {
  if (auto splat = tensor.getDefiningOp<tt::SplatOp>()) return splat.getSrc();
  mlir::DenseElementsAttr constant;
  mlir::matchPattern(tensor, mlir::m_Constant(&constant));
  return arith::ConstantOp::create(b, tensor.getLoc(), constant.getSplatValue<mlir::TypedAttr>());
}

// Also of sums of ranges and what is uniform: threads make such ones again.
bool IsOfRanges(Value tensor) {
  Operation* op = tensor.getDefiningOp();
  if (!op || llvm::isa<tt::MakeRangeOp>(op)) return op;
  if (llvm::isa<tt::ExpandDimsOp, tt::BroadcastOp>(op)) return IsOfRanges(op->getOperand(0));
  return llvm::isa<arith::AddIOp>(op) &&
         llvm::all_of(op->getOperands(), [](Value operand) { return IsUniform(operand) || IsOfRanges(operand); });
}

bool IsSpread(Value indices) {
  return llvm::cast<RankedTensorType>(indices.getType()).getRank() > 1 ||
         llvm::any_of(indices.getUsers(), [](Operation* user) { return llvm::isa<tt::ExpandDimsOp>(user); });
}

// Appends what is uniform of a sum to `terms`; the rest of it.
Value TakeUniform(Value sum, llvm::SmallVectorImpl<Value>& terms) {
  auto add = sum.getDefiningOp<arith::AddIOp>();
  for (unsigned i = 0; add && i < 2; ++i) {
    if (!IsUniform(add->getOperand(i))) continue;
    terms.push_back(add->getOperand(i));
    return TakeUniform(add->getOperand(1 - i), terms);
  }
  return sum;
}

Value SumOf(OpBuilder& b, mlir::Location loc, llvm::ArrayRef<Value> terms) {
  Value sum;
  for (Value term : terms) {
    Value scalar = ScalarOf(b, term);
    sum = sum ? arith::AddIOp::create(b, loc, sum, scalar).getResult() : scalar;
  }
  return sum;
}

// `scalar` and a range for each element.
Value Moved(OpBuilder& b, mlir::Location loc, Value scalar, Value range) {
  return arith::AddIOp::create(b, loc, tt::SplatOp::create(b, loc, range.getType(), scalar), range);
}

ForOp CarryScalar(ForOp loop, unsigned index) {
  auto type = llvm::dyn_cast<RankedTensorType>(loop.getRegionIterArg(index).getType());
  if (!type || !type.getElementType().isInteger() || !IsSpread(loop.getRegionIterArg(index))) return loop;
  llvm::SmallVector<Value> starts, steps;
  Value range = TakeUniform(loop.getInitArgs()[index], starts);
  Value moved = TakeUniform(loop.getYieldedValues()[index], steps);
  if (!IsOfRanges(range) || moved != loop.getRegionIterArg(index) || steps.empty()) return loop;
  mlir::IRRewriter b(loop);
  mlir::Location loc = loop.getLoc();
  Value start = SumOf(b, loc, starts);
  if (!start) start = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type.getElementType(), 0));
  auto yields = [&](OpBuilder& at_end, mlir::Location end, llvm::ArrayRef<mlir::BlockArgument> carried) {
    return llvm::SmallVector<Value>{
        arith::AddIOp::create(at_end, end, carried.front(), SumOf(at_end, end, steps)).getResult()};
  };
  auto slim =
      llvm::cast<ForOp>(*loop.replaceWithAdditionalYields(b, start, /*replaceInitOperandUsesInLoop=*/false, yields));
  mlir::BlockArgument tensor = slim.getRegionIterArg(index);
  slim.getBody()->getTerminator()->setOperand(index, tensor);
  b.setInsertionPointToStart(slim.getBody());
  Value in_body = Moved(b, loc, slim.getRegionIterArgs().back(), range);
  tensor.replaceUsesWithIf(in_body,
                           [&](mlir::OpOperand& use) { return !llvm::isa<mlir::scf::YieldOp>(use.getOwner()); });
  b.setInsertionPointAfter(slim);
  slim.getResult(index).replaceAllUsesWith(Moved(b, loc, slim.getResults().back(), range));
  return slim;
}

struct CarryScalarsPass final : impl::CarryScalarsPassBase<CarryScalarsPass> {
  void runOnOperation() override { RewriteCarriedValues(getOperation(), CarryScalar); }
};

}  // namespace
}  // namespace tritond::compiler
