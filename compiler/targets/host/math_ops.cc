// SPDX-License-Identifier: Apache-2.0
// Scalar mathematics: LLVM's intrinsics, which become instructions or calls of libm, and libm itself. Everything is
// as exact as the C library, whatever the GPU's own function would round.
#include "compiler/targets/host/extern_functions.h"
#include "compiler/targets/host/host_ops.h"
#include "compiler/targets/llvm_emitters.h"
#include "llvm/ADT/StringSwitch.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

// The LLVM intrinsic, overloaded on the type; else empty.
llvm::StringRef IntrinsicOf(llvm::StringRef op) {
  return llvm::StringSwitch<llvm::StringRef>(op)
      .Case("math.absf", "llvm.fabs")
      .Case("math.ceil", "llvm.ceil")
      .Case("math.copysign", "llvm.copysign")
      .Case("math.cos", "llvm.cos")
      .Case("math.exp", "llvm.exp")
      .Case("math.exp2", "llvm.exp2")
      .Case("math.floor", "llvm.floor")
      .Case("math.fma", "llvm.fma")
      .Case("math.log", "llvm.log")
      .Case("math.log10", "llvm.log10")
      .Case("math.log2", "llvm.log2")
      .Case("math.powf", "llvm.pow")
      .Case("math.round", "llvm.round")
      .Case("math.roundeven", "llvm.roundeven")
      .Case("math.sin", "llvm.sin")
      .Cases({"math.sqrt", "tt.precise_sqrt"}, "llvm.sqrt")
      .Case("math.trunc", "llvm.trunc")
      .Default("");
}

// libm's f64 function; its f32 twin ends in f.
llvm::StringRef LibmName(llvm::StringRef op) {
  return llvm::StringSwitch<llvm::StringRef>(op)
      .Case("arith.remf", "fmod")
      .Case("math.acos", "acos")
      .Case("math.acosh", "acosh")
      .Case("math.asin", "asin")
      .Case("math.asinh", "asinh")
      .Case("math.atan", "atan")
      .Case("math.atan2", "atan2")
      .Case("math.atanh", "atanh")
      .Case("math.cbrt", "cbrt")
      .Case("math.cosh", "cosh")
      .Case("math.erf", "erf")
      .Case("math.erfc", "erfc")
      .Case("math.expm1", "expm1")
      .Case("math.log1p", "log1p")
      .Case("math.sinh", "sinh")
      .Case("math.tan", "tan")
      .Case("math.tanh", "tanh")
      .Default("");
}

}  // namespace

mlir::FailureOr<mlir::Value> HostOps::Math(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef op,
                                           mlir::ValueRange args) const {
  mlir::Type type = args.empty() ? mlir::Type() : args[0].getType();
  if (!type || (!type.isF32() && !type.isF64())) {
    mlir::emitError(loc) << "no function " << op << " of " << (type ? type : b.getNoneType());
    return mlir::failure();
  }
  if (op == "arith.divf" || op == "tt.precise_divf") {
    return LLVM::FDivOp::create(b, loc, args[0], args[1]).getResult();
  }
  if (op == "math.rsqrt") return host::EmitReciprocalSqrt(b, loc, args[0]);
  if (llvm::StringRef name = IntrinsicOf(op); !name.empty()) return host::EmitFloatIntrinsic(b, loc, name, args);
  llvm::StringRef name = LibmName(op);
  if (name.empty()) {
    mlir::emitError(loc) << "no function " << op << " of " << type << " on the host";
    return mlir::failure();
  }
  if (mlir::Value value = host::EmitLibmCall(b, loc, name, args)) return value;
  mlir::emitError(loc) << "'" << name << "' is something else in this module";
  return mlir::failure();
}

}  // namespace tritond::compiler
