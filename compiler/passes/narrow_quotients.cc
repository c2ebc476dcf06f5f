// SPDX-License-Identifier: Apache-2.0
// Divides numbers of 32 bits in 32 bits where the program has made them longer before:
//
//   %i = arith.extsi %index : i32 to i64
//   %d = arith.extsi %width : i32 to i64        ->     %n = arith.remsi %index, %width : i32
//   %r = arith.remsi %i, %d : i64                      %r = arith.extsi %n : i32 to i64
//
// A division of 64 bits is a loop's worth of instructions. Both give the same number, unless the least one of 32 bits
// is divided by -1. So %index must not be negative. What a quotient or a remainder of such a number is divided by is
// divided in 32 bits, too: its magnitude is no larger.
#include "compiler/analysis/axis_info.h"
#include "compiler/ir/operands.h"
#include "compiler/passes/narrow_numbers.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_NARROWQUOTIENTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;

class NarrowQuotientsPass : public impl::NarrowQuotientsPassBase<NarrowQuotientsPass> {
  void runOnOperation() override {
    llvm::SmallVector<Operation*> divisions;
    getOperation().walk([&](Operation* op) {
      if (llvm::isa<arith::DivSIOp, arith::RemSIOp>(op) &&
          tt::ElementOf(op->getResult(0).getType()).isInteger(kWideBits))
        divisions.push_back(op);
    });
    if (divisions.empty()) return;
    const AxisInfoAnalysis axes(getOperation());
    llvm::DenseSet<Value> quotients;  // that are made
    llvm::SmallVector<Operation*> replaced;
    auto is_magnitude = [&](Value longer) {
      return quotients.contains(longer) || axes.Get(longer.getDefiningOp()->getOperand(0)).non_negative;
    };
    for (Operation* op : divisions) {
      if (!op->getDiscardableAttrs().empty()) continue;
      if (!IsNarrow(op->getOperand(0), is_magnitude) || !IsNarrow(op->getOperand(1))) continue;
      mlir::OpBuilder b(op);
      Value quotient = DividedInNarrowBits(b, op, op->getOperand(0));
      quotients.insert(quotient);
      op->getResult(0).replaceAllUsesWith(quotient);
      replaced.push_back(op);
    }
    for (Operation* op : llvm::reverse(replaced)) op->erase();
  }
};

}  // namespace
}  // namespace tritond::compiler
