// SPDX-License-Identifier: Apache-2.0
// Scalar mathematics. Three kinds:
//
// - what LLVM itself turns into one instruction
// - what one approximate instruction does (f32 only, within 2 ulp, as upstream's kernels expect)
// - calls of libdevice for everything else
//
// The calls of __nv_exp2f, __nv_sqrtf and __nv_rsqrtf become instructions in optimize.cc, which knows how to treat
// subnormals.
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"
#include "llvm/ADT/StringSwitch.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
using nvidia::PtxBuilder;

namespace {

// The LLVM intrinsic, overloaded on the type, that the NVPTX back end turns into an instruction; else empty.
llvm::StringRef GenericIntrinsic(llvm::StringRef op) {
  return llvm::StringSwitch<llvm::StringRef>(op)
      .Case("math.absf", "llvm.fabs")
      .Case("math.ceil", "llvm.ceil")
      .Case("math.copysign", "llvm.copysign")
      .Case("math.floor", "llvm.floor")
      .Case("math.fma", "llvm.fma")
      .Case("math.round", "llvm.round")
      .Case("math.roundeven", "llvm.roundeven")
      .Case("math.trunc", "llvm.trunc")
      .Case("tt.precise_sqrt", "llvm.sqrt")
      .Default("");
}

// libdevice's f64 function; its f32 twin ends in f.
llvm::StringRef LibdeviceName(llvm::StringRef op) {
  return llvm::StringSwitch<llvm::StringRef>(op)
      .Case("arith.remf", "__nv_fmod")
      .Case("math.acos", "__nv_acos")
      .Case("math.acosh", "__nv_acosh")
      .Case("math.asin", "__nv_asin")
      .Case("math.asinh", "__nv_asinh")
      .Case("math.atan", "__nv_atan")
      .Case("math.atan2", "__nv_atan2")
      .Case("math.atanh", "__nv_atanh")
      .Case("math.cbrt", "__nv_cbrt")
      .Case("math.cos", "__nv_cos")
      .Case("math.cosh", "__nv_cosh")
      .Case("math.erf", "__nv_erf")
      .Case("math.erfc", "__nv_erfc")
      .Case("math.exp", "__nv_exp")
      .Case("math.exp2", "__nv_exp2")
      .Case("math.expm1", "__nv_expm1")
      .Case("math.fpowi", "__nv_powi")
      .Case("math.log", "__nv_log")
      .Case("math.log10", "__nv_log10")
      .Case("math.log1p", "__nv_log1p")
      .Case("math.log2", "__nv_log2")
      .Case("math.powf", "__nv_pow")
      .Case("math.rsqrt", "__nv_rsqrt")
      .Case("math.sin", "__nv_sin")
      .Case("math.sinh", "__nv_sinh")
      .Case("math.sqrt", "__nv_sqrt")
      .Case("math.tan", "__nv_tan")
      .Case("math.tanh", "__nv_tanh")
      .Default("");
}

constexpr float kLeastNormal = 0x1p-126f;

// e^x = 2^(x log2 e). Subnormal results survive, unlike in exp2.
mlir::Value EmitExp(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x) {
  mlir::Value log2e = LLVM::ConstantOp::create(b, loc, b.getF32Type(), b.getF32FloatAttr(1.44269504088896340736f));
  return EmitIntrinsic(b, loc, "llvm.nvvm.ex2.approx.f32", b.getF32Type(), {LLVM::FMulOp::create(b, loc, x, log2e)});
}

// A power of e or 2, or an absolute value; or NaN.
bool IsNotNegative(mlir::Value value) {
  if (auto call = value.getDefiningOp<LLVM::CallIntrinsicOp>())
    return call.getIntrin().starts_with("llvm.nvvm.ex2.approx") || call.getIntrin() == "llvm.fabs.f32";
  auto call = value.getDefiningOp<LLVM::CallOp>();
  return call && (call.getCallee() == "__nv_exp2f" || call.getCallee() == "__nv_expf");
}

// Whether it is a sum of a normal number above zero and of what is not negative. Such a sum is no subnormal number. An
// example is 1 + e^x of a logistic function.
bool IsNormalSum(mlir::Value value) {
  auto sum = value.getDefiningOp<LLVM::FAddOp>();
  auto is_normal = [](mlir::Value term) {
    llvm::APFloat number(0.0f);
    return mlir::matchPattern(term, mlir::m_ConstantFloat(&number)) && number.convertToFloat() >= kLeastNormal;
  };
  return sum && ((is_normal(sum.getLhs()) && IsNotNegative(sum.getRhs())) ||
                 (is_normal(sum.getRhs()) && IsNotNegative(sum.getLhs())));
}

// x / y to 2 ulp over the whole range, as the assembler expands div.full. Written out, divisions by one divisor share
// all but two multiplications, and the last one fuses with an addition after it.
//
//   s = |y| > 2^126 ? 2^-2 : |y| < 2^-126 ? 2^24 : 1          // so that 1 / (y s) is a normal number
//   x / y = (x s) (1 / (y s))
//
// The second comparison falls where y is known to be a normal number.
mlir::Value EmitFastDivision(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value y) {
  mlir::Type f32 = b.getF32Type();
  auto constant = [&](float value) -> mlir::Value {
    return LLVM::ConstantOp::create(b, loc, f32, b.getF32FloatAttr(value));
  };
  auto choose = [&](LLVM::FCmpPredicate predicate, mlir::Value bound, mlir::Value yes, mlir::Value no) -> mlir::Value {
    mlir::Value magnitude = LLVM::FAbsOp::create(b, loc, y);
    mlir::Value chosen = LLVM::FCmpOp::create(b, loc, predicate, magnitude, bound);
    return LLVM::SelectOp::create(b, loc, chosen, yes, no);
  };
  mlir::Value scale = constant(1);
  if (!IsNormalSum(y)) scale = choose(LLVM::FCmpPredicate::olt, constant(kLeastNormal), constant(0x1p24f), scale);
  scale = choose(LLVM::FCmpPredicate::ogt, constant(0x1p126f), constant(0x1p-2f), scale);
  mlir::Value inverse =
      EmitIntrinsic(b, loc, "llvm.nvvm.rcp.approx.ftz.f", f32, {LLVM::FMulOp::create(b, loc, y, scale)});
  return LLVM::FMulOp::create(b, loc, LLVM::FMulOp::create(b, loc, x, scale), inverse);
}

}  // namespace

mlir::FailureOr<mlir::Value> NvidiaOps::Math(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef op,
                                             mlir::ValueRange args) const {
  mlir::Type type = args.empty() ? mlir::Type() : args[0].getType();
  if (!type || (!type.isF32() && !type.isF64())) {
    mlir::emitError(loc) << "no function " << op << " of " << (type ? type : b.getNoneType());
    return mlir::failure();
  }
  if (type.isF32() && op == "math.exp") return EmitExp(b, loc, args[0]);
  if (type.isF32() && op == "arith.divf") return EmitFastDivision(b, loc, args[0], args[1]);
  if (op == "arith.divf" || op == "tt.precise_divf") {
    return LLVM::FDivOp::create(b, loc, args[0], args[1]).getResult();
  }
  if (llvm::StringRef intrinsic = GenericIntrinsic(op); !intrinsic.empty()) {
    return EmitIntrinsic(b, loc, (intrinsic + (type.isF32() ? ".f32" : ".f64")).str(), type, args);
  }
  llvm::StringRef name = LibdeviceName(op);
  if (name.empty()) {
    mlir::emitError(loc) << "no function " << op << " of " << type;
    return mlir::failure();
  }
  return CallExtern(b, loc, (name + (type.isF32() ? "f" : "")).str(), type, args);
}

mlir::FailureOr<mlir::Value> NvidiaOps::CallExtern(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol,
                                                   mlir::Type result, mlir::ValueRange args) const {
  mlir::Type returned = result ? result : LLVM::LLVMVoidType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(returned, llvm::to_vector(args.getTypes()));
  LLVM::LLVMFuncOp callee = DeclareFunction(b, loc, symbol, type);
  if (!callee) {
    mlir::emitError(loc) << "'" << symbol << "' is called as " << type << ", but is something else in this module";
    return mlir::failure();
  }
  auto call = LLVM::CallOp::create(b, loc, callee, args);
  return result ? call.getResult() : mlir::Value();
}

}  // namespace tritond::compiler
