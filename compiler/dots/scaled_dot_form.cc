// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/scaled_dot_form.h"

#include "compiler/dots/dot_form.h"
#include "llvm/ADT/SetVector.h"

namespace tritond::compiler {
namespace {

using mlir::RankedTensorType;
using mlir::Value;

// `value` in another encoding, from before its conversion to this one.
Value Converted(mlir::OpBuilder& b, Value value, mlir::Attribute encoding) {
  mlir::Location loc = value.getLoc();
  if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
  return ConvertTo(b, loc, value, encoding);
}

}  // namespace

void ReformScaledDot(tt::DotScaledOp dot, const ScaledDotForm& form) {
  mlir::OpBuilder b(dot);
  const auto operand = [&](Value value, unsigned index, unsigned k_width) {
    return Converted(b, value, ttg::DotOperandEncodingAttr::get(dot.getContext(), index, form.encoding, k_width));
  };
  auto made = llvm::cast<tt::DotScaledOp>(b.clone(*dot));
  b.setInsertionPoint(made);
  made.getAMutable().assign(operand(dot.getA(), 0, form.k_width_a));
  made.getBMutable().assign(operand(dot.getB(), 1, form.k_width_b));
  made.getCMutable().assign(ConvertTo(b, dot.getLoc(), dot.getC(), form.encoding));
  if (Value scale = dot.getAScale()) made.getAScaleMutable().assign(Converted(b, scale, form.a_scale));
  if (Value scale = dot.getBScale()) made.getBScaleMutable().assign(Converted(b, scale, form.b_scale));
  made.getD().setType(llvm::cast<mlir::TypedValue<RankedTensorType>>(made.getC()).getType());
  b.setInsertionPointAfter(made);
  Value back = ttg::ConvertLayoutOp::create(b, dot.getLoc(), dot.getType(), made.getD());
  dot.replaceAllUsesWith(back);
  // The conversions to what the operands were: a load that has them left would seem to be used otherwise, too.
  llvm::SmallVector<mlir::Operation*> made_operands;
  for (Value value : dot->getOperands())
    if (mlir::Operation* op = value.getDefiningOp<ttg::ConvertLayoutOp>()) made_operands.push_back(op);
  dot.erase();
  for (mlir::Operation* op : llvm::SetVector<mlir::Operation*>(made_operands.begin(), made_operands.end()))
    if (op->use_empty()) op->erase();
}

int64_t DepthOf(tt::DotScaledOp dot) {
  const bool is_packed = dot.getAElemType() == tt::ScaleDotElemType::kE2M1 && dot.getLhsKPack();
  return llvm::cast<RankedTensorType>(dot.getA().getType()).getShape().back() * (is_packed ? 2 : 1);
}

}  // namespace tritond::compiler
