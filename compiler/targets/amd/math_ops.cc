// SPDX-License-Identifier: Apache-2.0
// Scalar mathematics. Three kinds: LLVM's intrinsics, which its AMDGPU back end expands to a few instructions of known
// precision (1 to 2 ulp). Single instructions (1 ulp, subnormal operands count as zero); and calls of ocml for
// everything else, which optimize.cc links.
#include "compiler/ir/device_functions.h"
#include "compiler/targets/amd/amd_ops.h"
#include "compiler/targets/llvm_emitters.h"
#include "llvm/ADT/StringSwitch.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

using mlir::Value;

// LLVM's intrinsic, without a suffix, that the back end expands for the type; else empty.
llvm::StringRef IntrinsicOf(llvm::StringRef name, bool is_f32) {
  llvm::StringRef both = llvm::StringSwitch<llvm::StringRef>(name)
                             .Case("ceil", "llvm.ceil")
                             .Case("copysign", "llvm.copysign")
                             .Case("fabs", "llvm.fabs")
                             .Case("floor", "llvm.floor")
                             .Case("fma", "llvm.fma")
                             .Case("fmax", "llvm.maxnum")
                             .Case("fmin", "llvm.minnum")
                             .Cases({"nearbyint", "rint"}, "llvm.roundeven")
                             .Case("round", "llvm.round")
                             .Case("trunc", "llvm.trunc")
                             .Default("");
  if (!both.empty() || !is_f32) return both;
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"exp2", "fast_exp2"}, "llvm.exp2")
      .Case("exp10", "llvm.exp10")
      .Cases({"log", "fast_log"}, "llvm.log")
      .Cases({"log10", "fast_log10"}, "llvm.log10")
      .Cases({"log2", "fast_log2"}, "llvm.log2")
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
                                .Case("tt.precise_sqrt", "precise_sqrt")
                                .Default("");
  if (!renamed.empty()) return renamed.str();
  return op.consume_front("math.") ? op.str() : "";
}

Value EmitFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type, double value) {
  return LLVM::ConstantOp::create(b, loc, type, b.getFloatAttr(type, value));
}

// e^x = 2^(x log2 e).
Value EmitExp(mlir::OpBuilder& b, mlir::Location loc, Value x) {
  Value scaled = LLVM::FMulOp::create(b, loc, x, EmitFloat(b, loc, x.getType(), 1.44269504088896340736));
  return EmitIntrinsic(b, loc, "llvm.exp2", x.getType(), {scaled});
}

// The reciprocal of a square root: an instruction for f32, both steps for f64.
Value EmitReciprocalSqrt(mlir::OpBuilder& b, mlir::Location loc, Value x) {
  if (x.getType().isF32()) return EmitIntrinsic(b, loc, "llvm.amdgcn.rsq", x.getType(), {x});
  Value root = LLVM::SqrtOp::create(b, loc, x);
  return LLVM::FDivOp::create(b, loc, EmitFloat(b, loc, x.getType(), 1), root);
}

// The function where no library is needed for it; null otherwise.
Value EmitDirect(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange args) {
  mlir::Type type = args[0].getType();
  const bool is_f32 = type.isF32();
  if (llvm::StringRef intrinsic = IntrinsicOf(name, is_f32); !intrinsic.empty())
    return EmitIntrinsic(b, loc, intrinsic, type, args);
  if (is_f32 && (name == "exp" || name == "fast_exp")) return EmitExp(b, loc, args[0]);
  if (name == "rsqrt") return EmitReciprocalSqrt(b, loc, args[0]);
  // Rounded correctly; the flag lets the back end take the instruction of 1 ulp.
  if (name == "precise_sqrt" || (name == "sqrt" && !is_f32)) return LLVM::SqrtOp::create(b, loc, args[0]);
  if (name == "sqrt") return LLVM::SqrtOp::create(b, loc, args[0], LLVM::FastmathFlags::afn);
  return nullptr;
}

bool AllOf(mlir::ValueRange args, mlir::Type type) {
  return llvm::all_of(args.getTypes(), [&](mlir::Type each) { return each == type; });
}

// How many operands the functions of EmitDirect take.
size_t OperandsOf(llvm::StringRef name) {
  return llvm::StringSwitch<size_t>(name).Cases({"copysign", "fmax", "fmin"}, 2).Case("fma", 3).Default(1);
}

mlir::FailureOr<Value> EmitCall(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol, mlir::Type result,
                                mlir::ValueRange args) {
  mlir::Type returned = result ? result : LLVM::LLVMVoidType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(returned, llvm::to_vector(args.getTypes()));
  LLVM::LLVMFuncOp callee = DeclareFunction(b, loc, symbol, type);
  if (!callee)
    return mlir::emitError(loc) << "'" << symbol << "' is called as " << type
                                << ", but is something else in this module";
  auto call = LLVM::CallOp::create(b, loc, callee, args);
  return result ? call.getResult() : Value();
}

}  // namespace

mlir::FailureOr<Value> AmdOps::Math(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef op,
                                    mlir::ValueRange args) const {
  mlir::Type type = args.empty() ? mlir::Type() : args[0].getType();
  if (!type || (!type.isF32() && !type.isF64()))
    return mlir::emitError(loc) << "no function " << op << " of " << (type ? type : b.getNoneType());
  if (op == "tt.precise_divf" || (op == "arith.divf" && type.isF64()))
    return LLVM::FDivOp::create(b, loc, args[0], args[1]).getResult();
  // What may be 2.5 ulp off is marked by the flag, which optimize.cc reads.
  if (op == "arith.divf") return LLVM::FDivOp::create(b, loc, args[0], args[1], LLVM::FastmathFlags::arcp).getResult();
  const std::string name = NameOf(op);
  if (name.empty()) return mlir::emitError(loc) << "no function " << op << " of " << type << " on " << arch_.name;
  if (Value value = EmitDirect(b, loc, name, args)) return value;
  return EmitCall(b, loc, OcmlName({name, static_cast<int>(type.getIntOrFloatBitWidth())}), type, args);
}

mlir::FailureOr<Value> AmdOps::CallExtern(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol,
                                          mlir::Type result, mlir::ValueRange args) const {
  std::optional<DeviceFunction> function = ReadDeviceFunction(symbol.str());
  if (!function) {
    if (symbol.starts_with("__ocml_") || symbol.starts_with("__ockl_")) return EmitCall(b, loc, symbol, result, args);
    return mlir::emitError(loc) << "'" << symbol << "' is no function of the device libraries of " << arch_.name;
  }
  mlir::Type type = function->bits == 32 ? b.getF32Type() : b.getF64Type();
  if (result == type && AllOf(args, type) && args.size() == OperandsOf(function->name))
    if (Value value = EmitDirect(b, loc, function->name, args)) return value;
  return EmitCall(b, loc, OcmlName(*function), result, args);
}

}  // namespace tritond::compiler
