// SPDX-License-Identifier: Apache-2.0
// Constants, and conversions between integers, floats and pointers.
#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tests/support/evaluation.h"

namespace tritond::tests {
namespace {

using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;
using mlir::FloatType;
using mlir::Operation;
namespace arith = mlir::arith;
using Elements = llvm::ArrayRef<Element>;

mlir::Type From(Operation* op) { return tt::ElementOf(op->getOperand(0).getType()); }
mlir::Type To(Operation* op) { return tt::ElementOf(op->getResult(0).getType()); }

Element ElementOfAttribute(mlir::Attribute value) {
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(value)) return FromFloat(number.getValue());
  return FromInt(llvm::cast<mlir::IntegerAttr>(value).getValue());
}

Data Constant(Evaluation&, Operation* op, Operands) {
  mlir::Type type = op->getResult(0).getType();
  mlir::Attribute value = llvm::cast<arith::ConstantOp>(op).getValue();
  auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(value);
  if (!elements) return {MakeDatum(type, [&](int64_t) { return ElementOfAttribute(value); })};
  Datum result{type, {}};
  for (mlir::Attribute element : elements.getValues<mlir::Attribute>())
    result.elements.push_back(ElementOfAttribute(element));
  return {result};
}

Handler ResizeInt(bool is_signed) {
  return Elementwise([is_signed](Operation* op, Elements x) {
    APInt value = ToInt(x[0], WidthOf(From(op)));
    unsigned width = WidthOf(To(op));
    return FromInt(is_signed ? value.sextOrTrunc(width) : value.zextOrTrunc(width));
  });
}

Handler IntToFloat(bool is_signed) {
  return Elementwise([is_signed](Operation* op, Elements x) {
    APFloat value(llvm::cast<FloatType>(To(op)).getFloatSemantics());
    value.convertFromAPInt(ToInt(x[0], WidthOf(From(op))), is_signed, APFloat::rmNearestTiesToEven);
    return FromFloat(value);
  });
}

// Towards zero. What does not fit has no value.
Handler FloatToInt(bool is_signed) {
  return Elementwise([is_signed](Operation* op, Elements x) {
    APSInt result(WidthOf(To(op)), !is_signed);
    bool exact;
    APFloat value = ToFloat(x[0], llvm::cast<FloatType>(From(op)));
    auto status = value.convertToInteger(result, APFloat::rmTowardZero, &exact);
    return status & APFloat::opInvalidOp ? Element::Poison() : FromInt(result);
  });
}

llvm::RoundingMode RoundingOf(Operation* op) {
  bool to_zero = false;
  if (auto convert = llvm::dyn_cast<tt::FpToFpOp>(op)) to_zero = convert.getRounding() == tt::RoundingMode::kRtz;
  if (auto convert = llvm::dyn_cast<arith::TruncFOp>(op))
    to_zero = convert.getRoundingmode() == arith::RoundingMode::toward_zero;
  return to_zero ? APFloat::rmTowardZero : APFloat::rmNearestTiesToEven;
}

Element ConvertBetweenFloats(Operation* op, Elements x) {
  return ConvertFloat(ToFloat(x[0], llvm::cast<FloatType>(From(op))), llvm::cast<FloatType>(To(op)), RoundingOf(op));
}

Element Keep(Operation*, Elements x) { return x[0]; }

Data Poison(Evaluation&, Operation* op, Operands) {
  return {MakeDatum(op->getResult(0).getType(), [](int64_t) { return Element::Poison(); })};
}

}  // namespace

void AddCasts(HandlerTable& table) {
  table["arith.constant"] = Constant;
  table["ub.poison"] = table["llvm.mlir.undef"] = table["llvm.mlir.poison"] = Poison;
  table["arith.extsi"] = table["arith.index_cast"] = ResizeInt(true);
  table["arith.extui"] = table["arith.index_castui"] = table["arith.trunci"] = ResizeInt(false);
  table["arith.sitofp"] = IntToFloat(true);
  table["arith.uitofp"] = IntToFloat(false);
  table["arith.fptosi"] = FloatToInt(true);
  table["arith.fptoui"] = FloatToInt(false);
  table["arith.extf"] = table["arith.truncf"] = table["tt.fp_to_fp"] = Elementwise(ConvertBetweenFloats);
  table["arith.bitcast"] = table["tt.bitcast"] = Elementwise(Keep);
  table["tt.int_to_ptr"] = table["tt.ptr_to_int"] = Elementwise(Keep);
}

}  // namespace tritond::tests
