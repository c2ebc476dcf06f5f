// SPDX-License-Identifier: Apache-2.0
// Products of matrices. Integers exactly; floats are summed in f64 and rounded once, so that a device differs by the
// error of its own sums.
#include <cmath>
#include <limits>

#include "compiler/ir/tt_dialect.h"
#include "tests/support/evaluation.h"

namespace tritond::tests {
namespace {

using mlir::FloatType;
using mlir::Operation;

// Matrices of numbers; the dimensions before the last two count batches.
struct Matrices {
  int64_t batches, rows, columns;
  std::vector<double> values;
  std::vector<bool> poison;

  Matrices(int64_t batches, int64_t rows, int64_t columns)
      : batches(batches),
        rows(rows),
        columns(columns),
        values(batches * rows * columns),
        poison(batches * rows * columns) {}
  int64_t At(int64_t batch, int64_t row, int64_t column) const { return (batch * rows + row) * columns + column; }
};

double Number(Element x, mlir::Type element) {
  if (auto type = llvm::dyn_cast<FloatType>(element)) return ToDouble(x, type);
  return static_cast<double>(SignedOf(x, WidthOf(element)));
}

Matrices Plain(const Datum& datum) {
  llvm::ArrayRef<int64_t> shape = ShapeOf(datum.type);
  Matrices m(shape.size() == 3 ? shape[0] : 1, shape[shape.size() - 2], shape.back());
  for (size_t i = 0; i < m.values.size(); ++i) {
    m.values[i] = Number(datum.elements[i], tt::ElementOf(datum.type));
    m.poison[i] = datum.elements[i].poison;
  }
  return m;
}

// a * b + c, element by element in the result's type. Integers below 2^53 are exact in f64.
Datum Multiply(const Matrices& a, const Matrices& b, const Datum& c) {
  mlir::Type element = tt::ElementOf(c.type);
  int64_t rows = a.rows, columns = b.columns;
  return MakeDatum(c.type, [&](int64_t i) {
    int64_t batch = i / (rows * columns), row = i / columns % rows, column = i % columns;
    double sum = 0;
    bool poison = c.elements[i].poison;
    for (int64_t k = 0; k < a.columns; ++k) {
      int64_t left = a.At(batch, row, k), right = b.At(batch, k, column);
      poison |= a.poison[left] || b.poison[right];
      sum += a.values[left] * b.values[right];
    }
    if (poison) return Element::Poison();
    sum += Number(c.elements[i], element);
    if (auto type = llvm::dyn_cast<FloatType>(element)) return FromDouble(sum, type);
    return FromInt(llvm::APInt(64, static_cast<int64_t>(sum)).trunc(WidthOf(element)));
  });
}

Data Dot(Evaluation&, Operation*, Operands x) { return {Multiply(Plain(*x[0]), Plain(*x[1]), *x[2])}; }

// The value of a microscaled element's bits.
double Microscaled(uint64_t bits, tt::ScaleDotElemType format, mlir::MLIRContext* context) {
  FloatType type;
  switch (format) {
    case tt::ScaleDotElemType::kE4M3:
      type = mlir::Float8E4M3FNType::get(context);
      break;
    case tt::ScaleDotElemType::kE5M2:
      type = mlir::Float8E5M2Type::get(context);
      break;
    case tt::ScaleDotElemType::kBf16:
      type = mlir::BFloat16Type::get(context);
      break;
    case tt::ScaleDotElemType::kFp16:
      type = mlir::Float16Type::get(context);
      break;
    case tt::ScaleDotElemType::kE2M1:
      return llvm::APFloat(llvm::APFloat::Float4E2M1FN(), llvm::APInt(4, bits)).convertToDouble();
    case tt::ScaleDotElemType::kE2M3:
      return llvm::APFloat(llvm::APFloat::Float6E2M3FN(), llvm::APInt(6, bits)).convertToDouble();
    case tt::ScaleDotElemType::kE3M2:
      return llvm::APFloat(llvm::APFloat::Float6E3M2FN(), llvm::APInt(6, bits)).convertToDouble();
  }
  return ToDouble(Element{bits}, type);
}

// Two elements of four bits lie in a byte, the first in the lower half, neighbours along the columns or the rows.
Matrices Unpack(const Datum& datum, tt::ScaleDotElemType format, bool along_columns) {
  llvm::ArrayRef<int64_t> shape = ShapeOf(datum.type);
  int64_t batches = shape.size() == 3 ? shape[0] : 1, rows = shape[shape.size() - 2], columns = shape.back();
  bool packed = format == tt::ScaleDotElemType::kE2M1;
  Matrices m(batches, packed && !along_columns ? 2 * rows : rows, packed && along_columns ? 2 * columns : columns);
  for (int64_t i = 0; i < static_cast<int64_t>(datum.elements.size()); ++i) {
    int64_t batch = i / (rows * columns), row = i / columns % rows, column = i % columns;
    for (int half = 0; half < (packed ? 2 : 1); ++half) {
      int64_t to = !packed         ? i
                   : along_columns ? m.At(batch, row, 2 * column + half)
                                   : m.At(batch, 2 * row + half, column);
      uint64_t bits = packed ? datum.elements[i].bits >> (4 * half) & 15 : datum.elements[i].bits;
      m.values[to] = Microscaled(bits, format, datum.type.getContext());
      m.poison[to] = datum.elements[i].poison;
    }
  }
  return m;
}

// Scales `line` (a row of a, a column of b) in groups along K; element k of it is `at(line, k)`.
template <typename At>
void Scale(Matrices& m, const Datum& scale, int64_t lines, int64_t k_size, At at) {
  int64_t groups = ShapeOf(scale.type).back(), group = k_size / groups;
  for (int64_t batch = 0; batch < m.batches; ++batch)
    for (int64_t line = 0; line < lines; ++line)
      for (int64_t k = 0; k < k_size; ++k) {
        Element exponent = scale.elements[(batch * lines + line) * groups + k / group];
        double factor = exponent.bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                                             : std::ldexp(1.0, static_cast<int>(exponent.bits) - 127);
        int64_t index = at(batch, line, k);
        m.values[index] *= factor;
        m.poison[index] = m.poison[index] || exponent.poison;
      }
}

Data DotScaled(Evaluation& e, Operation* op, Operands x) {
  auto dot = llvm::cast<tt::DotScaledOp>(op);
  for (mlir::Value scale : {dot.getAScale(), dot.getBScale()})
    if (scale && !tt::ElementOf(scale.getType()).isInteger(8)) e.Fail(op, "the evaluator knows scales of i8 alone");
  if (e.failed()) return {};
  Matrices a = Unpack(*x[0], dot.getAElemType(), dot.getLhsKPack());
  Matrices b = Unpack(*x[1], dot.getBElemType(), !dot.getRhsKPack());
  size_t next = 3;
  if (dot.getAScale())
    Scale(a, *x[next++], a.rows, a.columns, [&](int64_t n, int64_t i, int64_t k) { return a.At(n, i, k); });
  if (dot.getBScale())
    Scale(b, *x[next], b.columns, b.rows, [&](int64_t n, int64_t i, int64_t k) { return b.At(n, k, i); });
  return {Multiply(a, b, *x[2])};
}

}  // namespace

void AddDots(HandlerTable& table) {
  table["tt.dot"] = Dot;
  table["tt.dot_scaled"] = DotScaled;
}

}  // namespace tritond::tests
