// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/dot_form.h"

namespace tritond::compiler {
namespace {

using mlir::RankedTensorType;
using mlir::Value;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

Value Cast(mlir::OpBuilder& b, mlir::Location loc, Value value, mlir::Type element) {
  if (TypeOf(value).getElementType() == element) return value;
  return tt::FpToFpOp::create(b, loc, TypeOf(value).clone(element), value, tt::RoundingModeAttr());
}

Value Operand(mlir::OpBuilder& b, tt::DotOp dot, const DotForm& form, unsigned index) {
  Value value = dot->getOperand(index);
  if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
  mlir::Type element = index == 0 ? form.a : form.b;
  if (form.casts_first) value = Cast(b, dot.getLoc(), value, element);
  const unsigned k_width = index == 0 ? form.k_width_a : form.k_width_b;
  value = ConvertTo(b, dot.getLoc(), value,
                    ttg::DotOperandEncodingAttr::get(dot.getContext(), index, form.encoding, k_width));
  return Cast(b, dot.getLoc(), value, element);
}

}  // namespace

Value ConvertTo(mlir::OpBuilder& b, mlir::Location loc, Value value, mlir::Attribute encoding) {
  RankedTensorType type = TypeOf(value);
  return ttg::ConvertLayoutOp::create(b, loc, RankedTensorType::get(type.getShape(), type.getElementType(), encoding),
                                      value);
}

void ReformDot(tt::DotOp dot, const DotForm& form) {
  mlir::OpBuilder b(dot);
  Value x = Operand(b, dot, form, 0), y = Operand(b, dot, form, 1);
  Value z = ConvertTo(b, dot.getLoc(), dot.getC(), form.encoding);
  auto made =
      tt::DotOp::create(b, dot.getLoc(), z.getType(), x, y, z, dot.getInputPrecision(), dot.getMaxNumImpreciseAcc());
  Value back = ttg::ConvertLayoutOp::create(b, dot.getLoc(), dot.getType(), made);
  dot.replaceAllUsesWith(back);
  dot.erase();
}

}  // namespace tritond::compiler
