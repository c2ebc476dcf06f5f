// SPDX-License-Identifier: Apache-2.0
// The values that the evaluator computes with: every element as its bits in the type's format, nothing about threads.
#ifndef TESTS_SUPPORT_EVALUATOR_VALUE_H_
#define TESTS_SUPPORT_EVALUATOR_VALUE_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tritond::tests {

// One element: its bits, zero-extended, or poison: a value that the program must not let anyone see.
struct Element {
  uint64_t bits = 0;
  bool poison = false;

  static Element Poison() { return {0, true}; }
};

// What one SSA value holds. A tensor's elements lie in row-major order, and a scalar has one. A block pointer holds
// its base, sizes, strides and offsets; a descriptor its base, sizes, strides and padding, all as i64.
struct Datum {
  mlir::Type type;
  std::vector<Element> elements;
};
using Data = std::vector<Datum>;

// The sizes of a tensor; none for any other type.
llvm::ArrayRef<int64_t> ShapeOf(mlir::Type type);
// How many elements a value of `type` holds.
int64_t CountOf(mlir::Type type);
// Bits of a number; 64 for pointers and indices.
unsigned WidthOf(mlir::Type element);
// The distance between neighbours along each dimension in row-major order.
std::vector<int64_t> StridesOf(llvm::ArrayRef<int64_t> shape);
// The coordinates of element `flat` in row-major order.
std::vector<int64_t> CoordinatesOf(int64_t flat, llvm::ArrayRef<int64_t> shape);

llvm::APInt ToInt(Element x, unsigned width);
Element FromInt(const llvm::APInt& x);
int64_t SignedOf(Element x, unsigned width);

llvm::APFloat ToFloat(Element x, mlir::FloatType type);
Element FromFloat(const llvm::APFloat& x);
double ToDouble(Element x, mlir::FloatType type);
// The nearest value, ties to even; see ConvertFloat for what is too large.
Element FromDouble(double x, mlir::FloatType type);
// `x` in `type`. 8-bit formats and narrower ones take their largest value for what lies beyond it, infinities included;
// wider ones follow IEEE 754.
Element ConvertFloat(llvm::APFloat x, mlir::FloatType type, llvm::RoundingMode rounding);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_EVALUATOR_VALUE_H_
