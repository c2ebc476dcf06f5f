// SPDX-License-Identifier: Apache-2.0
#include "tests/support/evaluator_value.h"

#include "compiler/ir/tt_dialect.h"

namespace tritond::tests {

using llvm::APFloat;
using llvm::APInt;

llvm::ArrayRef<int64_t> ShapeOf(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? tensor.getShape() : llvm::ArrayRef<int64_t>();
}

int64_t CountOf(mlir::Type type) {
  if (auto desc = llvm::dyn_cast<tt::TensorDescType>(type)) return 2 + 2 * desc.getBlockType().getRank();
  if (auto ptr = llvm::dyn_cast<tt::PtrType>(type))
    if (auto block = llvm::dyn_cast<mlir::RankedTensorType>(ptr.getPointeeType())) return 1 + 3 * block.getRank();
  int64_t count = 1;
  for (int64_t size : ShapeOf(type)) count *= size;
  return count;
}

unsigned WidthOf(mlir::Type element) { return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64; }

std::vector<int64_t> StridesOf(llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (int i = static_cast<int>(shape.size()) - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

std::vector<int64_t> CoordinatesOf(int64_t flat, llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> at(shape.size());
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    at[i] = flat % shape[i];
    flat /= shape[i];
  }
  return at;
}

APInt ToInt(Element x, unsigned width) { return APInt(64, x.bits).zextOrTrunc(width); }
Element FromInt(const APInt& x) { return {x.zextOrTrunc(64).getZExtValue(), false}; }
int64_t SignedOf(Element x, unsigned width) { return ToInt(x, width).getSExtValue(); }

APFloat ToFloat(Element x, mlir::FloatType type) {
  return APFloat(type.getFloatSemantics(), APInt(type.getWidth(), x.bits));
}
Element FromFloat(const APFloat& x) { return FromInt(x.bitcastToAPInt()); }

double ToDouble(Element x, mlir::FloatType type) {
  APFloat value = ToFloat(x, type);
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

Element FromDouble(double x, mlir::FloatType type) {
  return ConvertFloat(APFloat(x), type, APFloat::rmNearestTiesToEven);
}

Element ConvertFloat(APFloat x, mlir::FloatType type, llvm::RoundingMode rounding) {
  const llvm::fltSemantics& semantics = type.getFloatSemantics();
  if (x.isNaN()) {
    bool negative = llvm::isa<mlir::Float8E4M3FNUZType, mlir::Float8E5M2FNUZType, mlir::Float8E4M3B11FNUZType>(type);
    return FromFloat(APFloat::getNaN(semantics, negative));
  }
  bool inexact;
  if (type.getWidth() <= 8) {
    // Compared in f64, which holds the limit of every narrow format.
    APFloat limit = APFloat::getLargest(semantics, x.isNegative()), wide = x;
    limit.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    wide.convert(APFloat::IEEEdouble(), APFloat::rmTowardZero, &inexact);
    if (abs(wide) > abs(limit)) return FromFloat(APFloat::getLargest(semantics, x.isNegative()));
  }
  x.convert(semantics, rounding, &inexact);
  return FromFloat(x);
}

}  // namespace tritond::tests
