// SPDX-License-Identifier: Apache-2.0
// What operations read, as passes look for it.
#ifndef COMPILER_IR_OPERANDS_H_
#define COMPILER_IR_OPERANDS_H_

#include <optional>

#include "compiler/ir/ttg_dialect.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

// Whether the result has the operand's elements, each perhaps several times or in another place.
inline bool Spreads(mlir::Operation* op) {
  return llvm::isa_and_present<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp, ttg::ConvertLayoutOp>(op);
}

// The value that `value` has the elements of.
inline mlir::Value SourceOf(mlir::Value value) {
  while (Spreads(value.getDefiningOp())) value = value.getDefiningOp()->getOperand(0);
  return value;
}

// Of an operation with two operands, the one that is not `operand`.
inline mlir::Value OtherOperand(mlir::Operation* op, mlir::Value operand) {
  return op->getOperand(op->getOperand(0) == operand ? 1 : 0);
}

// The scalar constant whose copies make up `value`; null if it is no such constant.
inline mlir::TypedAttr SplatConstant(mlir::Value value) {
  mlir::DenseElementsAttr constant;
  if (!mlir::matchPattern(value, mlir::m_Constant(&constant)) || !constant.isSplat()) return {};
  return llvm::dyn_cast<mlir::TypedAttr>(constant.getSplatValue<mlir::Attribute>());
}

// The number that all elements of `value` are.
inline std::optional<llvm::APFloat> NumberOf(mlir::Value value) {
  llvm::APFloat number(0.0F);
  const bool is_number = mlir::matchPattern(SourceOf(value), mlir::m_ConstantFloat(&number));
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace tritond::compiler

#endif  // COMPILER_IR_OPERANDS_H_
