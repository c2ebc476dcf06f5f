// SPDX-License-Identifier: Apache-2.0
// Mathematical functions, in f64 and rounded: what a device may miss by an error of its own.
#include <cmath>

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tests/support/evaluation.h"

namespace tritond::tests {
namespace {

using mlir::FloatType;
using mlir::Operation;
using Elements = llvm::ArrayRef<Element>;

using Unary = double (*)(double);
using Binary = double (*)(double, double);

double ReciprocalRoot(double x) { return 1 / std::sqrt(x); }

struct UnaryFunction {
  const char* op;      // of the math dialect
  const char* symbol;  // of device libraries: __nv_<symbol>, with an f for f32
  Unary fn;
};
const UnaryFunction kUnary[] = {
    {"acos", "acos", std::acos},        {"acosh", "acosh", std::acosh},
    {"asin", "asin", std::asin},        {"asinh", "asinh", std::asinh},
    {"atan", "atan", std::atan},        {"atanh", "atanh", std::atanh},
    {"cbrt", "cbrt", std::cbrt},        {"ceil", "ceil", std::ceil},
    {"cos", "cos", std::cos},           {"cosh", "cosh", std::cosh},
    {"erf", "erf", std::erf},           {"erfc", "erfc", std::erfc},
    {"exp", "exp", std::exp},           {"exp2", "exp2", std::exp2},
    {"expm1", "expm1", std::expm1},     {"floor", "floor", std::floor},
    {"log", "log", std::log},           {"log10", "log10", std::log10},
    {"log1p", "log1p", std::log1p},     {"log2", "log2", std::log2},
    {"round", "round", std::round},     {"roundeven", "rint", std::nearbyint},
    {"rsqrt", "rsqrt", ReciprocalRoot}, {"sin", "sin", std::sin},
    {"sinh", "sinh", std::sinh},        {"sqrt", "sqrt", std::sqrt},
    {"tan", "tan", std::tan},           {"tanh", "tanh", std::tanh},
    {"trunc", "trunc", std::trunc},
};

struct BinaryFunction {
  const char* op;
  const char* symbol;
  Binary fn;
};
const BinaryFunction kBinary[] = {
    {"atan2", "atan2", std::atan2}, {"copysign", "copysign", std::copysign},
    {"powf", "pow", std::pow},      {"", "fmod", std::fmod},
    {"", "fmax", std::fmax},        {"", "fmin", std::fmin},
};

FloatType FloatOf(Operation* op) { return llvm::cast<FloatType>(tt::ElementOf(op->getOperand(0).getType())); }

Handler One(Unary fn) {
  return Elementwise([fn](Operation* op, Elements x) {
    FloatType type = FloatOf(op);
    return FromDouble(fn(ToDouble(x[0], type)), type);
  });
}

Handler Two(Binary fn) {
  return Elementwise([fn](Operation* op, Elements x) {
    FloatType type = FloatOf(op);
    return FromDouble(fn(ToDouble(x[0], type), ToDouble(x[1], type)), type);
  });
}

Element FusedMultiplyAdd(Operation* op, Elements x) {
  FloatType type = FloatOf(op);
  llvm::APFloat a = ToFloat(x[0], type);
  a.fusedMultiplyAdd(ToFloat(x[1], type), ToFloat(x[2], type), llvm::APFloat::rmNearestTiesToEven);
  return FromFloat(a);
}

Element Absolute(Operation* op, Elements x) { return FromFloat(abs(ToFloat(x[0], FloatOf(op)))); }

// A function of a device library, by its name without prefix and suffix.
Data Extern(Evaluation& e, Operation* op, Operands operands) {
  llvm::StringRef name = llvm::cast<tt::ExternElementwiseOp>(op).getSymbol();
  name.consume_front("__nv_");
  auto matches = [&](llvm::StringRef symbol) {
    llvm::StringRef rest = name;
    return rest.consume_front(symbol) && (rest.empty() || rest == "f");
  };
  if (name == "fabs" || name == "fabsf") return Elementwise(Absolute)(e, op, operands);
  if (matches("fma")) return Elementwise(FusedMultiplyAdd)(e, op, operands);
  for (const UnaryFunction& function : kUnary)
    if (operands.size() == 1 && matches(function.symbol)) return One(function.fn)(e, op, operands);
  for (const BinaryFunction& function : kBinary)
    if (operands.size() == 2 && matches(function.symbol)) return Two(function.fn)(e, op, operands);
  e.Fail(op, "the evaluator does not know this function");
  return {};
}

}  // namespace

void AddMathFunctions(HandlerTable& table) {
  for (const UnaryFunction& function : kUnary) table[std::string("math.") + function.op] = One(function.fn);
  for (const BinaryFunction& function : kBinary)
    if (*function.op) table[std::string("math.") + function.op] = Two(function.fn);
  table["tt.precise_sqrt"] = One(std::sqrt);
  table["math.fma"] = Elementwise(FusedMultiplyAdd);
  table["math.absf"] = Elementwise(Absolute);
  table["math.absi"] = Elementwise([](Operation* op, Elements x) {
    return FromInt(ToInt(x[0], WidthOf(tt::ElementOf(op->getOperand(0).getType()))).abs());
  });
  table["tt.extern_elementwise"] = Extern;
}

}  // namespace tritond::tests
