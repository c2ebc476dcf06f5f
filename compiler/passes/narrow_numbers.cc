// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/narrow_numbers.h"

#include "compiler/ir/operands.h"
#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;

// Of shapes that are looked through.
constexpr int kMostDepth = 8;

bool IsNarrowAt(Value value, llvm::function_ref<bool(Value)> is_wanted, int depth) {
  Operation* op = value.getDefiningOp();
  if (!op || depth > kMostDepth) return false;
  llvm::APInt constant;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
    return constant.getSignificantBits() <= kNarrowBits && !(is_wanted && constant.isNegative());
  if (ChangesShape(op)) return IsNarrowAt(op->getOperand(0), is_wanted, depth + 1);
  auto extend = llvm::dyn_cast<arith::ExtSIOp>(op);
  if (!extend || !op->getDiscardableAttrs().empty()) return false;
  return tt::ElementOf(extend.getIn().getType()).isInteger(kNarrowBits) && (!is_wanted || is_wanted(value));
}

}  // namespace

bool ChangesShape(Operation* op) {
  return llvm::isa_and_present<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp>(op) && op->getDiscardableAttrs().empty();
}

bool IsNarrow(Value value, llvm::function_ref<bool(Value)> is_wanted) { return IsNarrowAt(value, is_wanted, 0); }

Value InNarrowBits(mlir::OpBuilder& b, Value value) {
  Operation* op = value.getDefiningOp();
  mlir::Type type = tt::WithElement(value.getType(), b.getI32Type());
  auto extend = llvm::dyn_cast_or_null<arith::ExtSIOp>(op);
  if (extend && extend.getIn().getType() == type) return extend.getIn();
  if (!ChangesShape(op)) return arith::TruncIOp::create(b, value.getLoc(), type, value);
  mlir::OperationState state(op->getLoc(), op->getName(), InNarrowBits(b, op->getOperand(0)), type);
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return b.create(state)->getResult(0);
}

Value DividedInNarrowBits(mlir::OpBuilder& b, Operation* division, Value dividend) {
  mlir::Type type = division->getResult(0).getType();
  mlir::OperationState state(division->getLoc(), division->getName(),
                             {InNarrowBits(b, dividend), InNarrowBits(b, division->getOperand(1))},
                             tt::WithElement(type, b.getI32Type()));
  return arith::ExtSIOp::create(b, division->getLoc(), type, b.create(state)->getResult(0));
}

}  // namespace tritond::compiler
