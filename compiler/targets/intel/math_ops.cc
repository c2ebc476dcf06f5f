// SPDX-License-Identifier: Apache-2.0
// Scalar mathematics: LLVM's intrinsics where LLVM has the function and can compute with it, else OpenCL's functions by
// their names. Both become OpenCL's extended instructions, whose precision "The OpenCL C Specification", 7.4 gives: 2
// to 16 ulp for most.
//
// Divisions and square roots of f32 may be 2.5 and 3 ulp off. Those that have to be rounded correctly are computed in
// f64 and rounded a second time. The second rounding changes nothing: f64 has more than twice the bits of f32, and two
// more.
#include "compiler/ir/device_functions.h"
#include "compiler/targets/intel/builtins.h"
#include "compiler/targets/intel/intel_ops.h"
#include "compiler/targets/llvm_emitters.h"
#include "llvm/ADT/StringSwitch.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

using mlir::FailureOr;
using mlir::Value;

llvm::StringRef IntrinsicOf(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("ceil", "llvm.ceil")
      .Case("copysign", "llvm.copysign")
      .Case("cos", "llvm.cos")
      .Case("exp", "llvm.exp")
      .Case("exp10", "llvm.exp10")
      .Case("exp2", "llvm.exp2")
      .Case("fabs", "llvm.fabs")
      .Case("floor", "llvm.floor")
      .Case("fma", "llvm.fma")
      .Case("fmax", "llvm.maxnum")
      .Case("fmin", "llvm.minnum")
      .Case("log", "llvm.log")
      .Case("log10", "llvm.log10")
      .Case("log2", "llvm.log2")
      .Case("pow", "llvm.pow")
      .Cases({"nearbyint", "rint"}, "llvm.roundeven")
      .Case("round", "llvm.round")
      .Case("sin", "llvm.sin")
      .Case("sqrt", "llvm.sqrt")
      .Case("trunc", "llvm.trunc")
      .Default("");
}

// OpenCL's name of a function that it has for f32 and f64; empty: it has none.
llvm::StringRef OpenClName(llvm::StringRef name) {
  const bool same = llvm::StringSwitch<bool>(name)
                        .Cases({"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt"}, true)
                        .Cases({"cosh", "cospi", "erf", "erfc", "expm1", "fdim", "fmod", "hypot"}, true)
                        .Cases({"ilogb", "ldexp", "lgamma", "log1p", "logb", "nextafter", "pown"}, true)
                        .Cases({"remainder", "rsqrt", "sinh", "sinpi", "tan", "tanh", "tgamma"}, true)
                        .Default(false);
  if (same) return name;
  return llvm::StringSwitch<llvm::StringRef>(name).Case("scalbn", "ldexp").Default("");
}

// Of f32, by fewer instructions.
llvm::StringRef NativeName(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("fast_cos", "native_cos")
      .Case("fast_exp", "native_exp")
      .Case("fast_exp10", "native_exp10")
      .Case("fast_exp2", "native_exp2")
      .Case("fast_log", "native_log")
      .Case("fast_log10", "native_log10")
      .Case("fast_log2", "native_log2")
      .Case("fast_sin", "native_sin")
      .Default("");
}

// C's name of an operation of the math dialect, or of one that lowering asks for by another name.
std::string NameOf(llvm::StringRef op) {
  llvm::StringRef renamed = llvm::StringSwitch<llvm::StringRef>(op)
                                .Case("arith.remf", "fmod")
                                .Case("math.absf", "fabs")
                                .Case("math.fpowi", "pown")
                                .Case("math.powf", "pow")
                                .Case("math.roundeven", "rint")
                                .Default("");
  if (!renamed.empty()) return renamed.str();
  return op.consume_front("math.") ? op.str() : "";
}

// What `op` of these types is: a result of `type` from operands that are floats of it, but for a last integer.
bool FitsTypes(llvm::StringRef name, mlir::Type type, mlir::Type result, mlir::ValueRange args) {
  const size_t operands = llvm::StringSwitch<size_t>(name)
                              .Cases({"atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "ldexp"}, 2)
                              .Cases({"nextafter", "pow", "pown", "remainder", "scalbn"}, 2)
                              .Case("fma", 3)
                              .Default(1);
  if (args.size() != operands ||
      result != (name == "ilogb" ? mlir::Type(mlir::IntegerType::get(type.getContext(), 32)) : type))
    return false;
  const bool takes_integer = name == "ldexp" || name == "pown" || name == "scalbn";
  for (auto [i, operand] : llvm::enumerate(args.getTypes()))
    if (takes_integer && i == 1 ? !operand.isInteger(32) : operand != type) return false;
  return true;
}

Value EmitFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type, double value) {
  return LLVM::ConstantOp::create(b, loc, type, b.getFloatAttr(type, value));
}

// Whether a float is of a class, as i32; null: no such question.
Value EmitClass(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, Value x) {
  Value answer;
  if (name == "isnan") {
    answer = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::uno, x, x);
  } else if (name == "isinf" || name == "isfinite") {
    Value size = EmitIntrinsic(b, loc, "llvm.fabs", x.getType(), {x});
    Value infinity = EmitFloat(b, loc, x.getType(), std::numeric_limits<double>::infinity());
    const auto predicate = name == "isinf" ? LLVM::FCmpPredicate::oeq : LLVM::FCmpPredicate::olt;
    answer = LLVM::FCmpOp::create(b, loc, predicate, size, infinity);
  } else if (name == "signbit") {
    Value bits = ToInteger(b, loc, x);
    Value zero = LLVM::ConstantOp::create(b, loc, bits.getType(), b.getIntegerAttr(bits.getType(), 0));
    answer = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, bits, zero);
  } else {
    return nullptr;
  }
  return LLVM::ZExtOp::create(b, loc, b.getI32Type(), answer);
}

// The function `name` of f32 or f64; null, with nothing emitted, where there is none.
FailureOr<Value> EmitFunction(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::Type result,
                              mlir::ValueRange args) {
  mlir::Type type = args[0].getType();
  if (llvm::StringRef intrinsic = IntrinsicOf(name); !intrinsic.empty())
    return EmitIntrinsic(b, loc, intrinsic, result, args);
  llvm::StringRef known = type.isF32() ? NativeName(name) : "";
  if (known.empty()) known = OpenClName(name);
  if (known.empty()) return Value();
  return intel::EmitBuiltin(b, loc, known, result, args, intel::Effect::kNone, /*is_signed=*/true);
}

// `act` on operands extended to f64, and its result rounded.
Value EmitInDouble(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange args,
                   llvm::function_ref<Value(llvm::ArrayRef<Value>)> act) {
  llvm::SmallVector<Value> wide;
  for (Value arg : args) wide.push_back(LLVM::FPExtOp::create(b, loc, b.getF64Type(), arg));
  return LLVM::FPTruncOp::create(b, loc, b.getF32Type(), act(wide));
}

}  // namespace

FailureOr<Value> IntelOps::Math(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef op,
                                mlir::ValueRange args) const {
  mlir::Type type = args.empty() ? mlir::Type() : args[0].getType();
  if (!type || (!type.isF32() && !type.isF64()))
    return mlir::emitError(loc) << "no function " << op << " of " << (type ? type : b.getNoneType());
  auto divide = [&](llvm::ArrayRef<Value> x) -> Value { return LLVM::FDivOp::create(b, loc, x[0], x[1]); };
  auto root = [&](llvm::ArrayRef<Value> x) -> Value { return LLVM::SqrtOp::create(b, loc, x[0]); };
  const bool precise_division = op == "tt.precise_divf", precise_root = op == "tt.precise_sqrt";
  if (precise_division || precise_root) {
    if (!device_.arch.has_f64)
      return mlir::emitError(loc) << device_.arch.name << " has no f64, which " << op
                                  << " needs to be rounded correctly; use the operation that need not be";
    const llvm::SmallVector<Value> operands(args);
    if (type.isF64()) return precise_root ? root(operands) : divide(operands);
    return precise_root ? EmitInDouble(b, loc, args, root) : EmitInDouble(b, loc, args, divide);
  }
  if (op == "arith.divf") return LLVM::FDivOp::create(b, loc, args[0], args[1]).getResult();
  FailureOr<Value> value = EmitFunction(b, loc, NameOf(op), type, args);
  if (failed(value) || *value) return value;
  return mlir::emitError(loc) << "no function " << op << " of " << type << " on " << device_.arch.name;
}

FailureOr<Value> IntelOps::MultiplyHigh(mlir::OpBuilder& b, mlir::Location loc, Value x, Value y,
                                        bool is_signed) const {
  if (!x.getType().isInteger(64)) return Value();
  return intel::EmitBuiltin(b, loc, "mul_hi", x.getType(), {x, y}, intel::Effect::kNone, is_signed);
}

FailureOr<Value> IntelOps::CallExtern(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol, mlir::Type result,
                                      mlir::ValueRange args) const {
  std::optional<DeviceFunction> function = ReadDeviceFunction(symbol.str());
  if (!function)
    return mlir::emitError(loc) << "'" << symbol << "' is no function that " << device_.arch.name << " has";
  mlir::Type type = function->bits == 32 ? b.getF32Type() : b.getF64Type();
  if (args.size() == 1 && args[0].getType() == type && result.isInteger(32))
    if (Value answer = EmitClass(b, loc, function->name, args[0])) return answer;
  if (!FitsTypes(function->name, type, result, args))
    return mlir::emitError(loc) << "'" << symbol << "' is called with other operands than " << function->name
                                << " has, or is no function of OpenCL's";
  FailureOr<Value> value = EmitFunction(b, loc, function->name, result, args);
  if (failed(value) || *value) return value;
  return mlir::emitError(loc) << "'" << symbol << "' computes " << function->name << ", which OpenCL does not have";
}

}  // namespace tritond::compiler
