// SPDX-License-Identifier: Apache-2.0
// Functions are as exact as the C library's, whatever the GPU's own would round. "The OpenCL C Specification", 7.4,
// says how far the GPU may be off.
#include "compiler/targets/emulated/opencl_functions.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::emulated {
namespace {

constexpr struct {
  llvm::StringLiteral name;
  OpenClUse use;
} kRows[] = {
    {"get_local_id", OpenClUse::kLocalId},
    {"get_group_id", OpenClUse::kGroupId},
    {"get_num_groups", OpenClUse::kGroups},
    {"printf", OpenClUse::kPrint},
    {"__spirv_ControlBarrier", OpenClUse::kBarrier},
    {"__spirv_ConvertFToBF16INTEL", OpenClUse::kToBf16},
    {"__spirv_GroupSMax", OpenClUse::kRunTogether},
    {"__spirv_GroupSMin", OpenClUse::kRunTogether},
    {"sub_group_reduce_add", OpenClUse::kRunTogether},
    {"sub_group_reduce_max", OpenClUse::kRunTogether},
    {"sub_group_reduce_min", OpenClUse::kRunTogether},
    {"sub_group_shuffle", OpenClUse::kRunTogether},
    {"sub_group_shuffle_xor", OpenClUse::kRunTogether},
};

// LLVM's intrinsic for a function of few instructions; 0: it has none.
llvm::Intrinsic::ID NativeIntrinsic(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::Intrinsic::ID>(name)
      .Case("native_cos", llvm::Intrinsic::cos)
      .Case("native_exp", llvm::Intrinsic::exp)
      .Case("native_exp10", llvm::Intrinsic::exp10)
      .Case("native_exp2", llvm::Intrinsic::exp2)
      .Case("native_log", llvm::Intrinsic::log)
      .Case("native_log10", llvm::Intrinsic::log10)
      .Case("native_log2", llvm::Intrinsic::log2)
      .Case("native_sin", llvm::Intrinsic::sin)
      .Default(llvm::Intrinsic::not_intrinsic);
}

// Functions that libm has under the same name, with an f after for f32.
bool IsLibms(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt"}, true)
      .Cases({"cosh", "erf", "erfc", "expm1", "fdim", "fmod", "hypot", "ilogb"}, true)
      .Cases({"ldexp", "lgamma", "log1p", "logb", "nextafter", "remainder", "sinh"}, true)
      .Cases({"tan", "tanh", "tgamma"}, true)
      .Default(false);
}

// The upper half of the product; "_Z6mul_hill" is of integers with sign, "_Z6mul_himm" without.
llvm::Value* EmitMulHigh(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  llvm::Type* type = call.getType();
  const unsigned bits = type->getIntegerBitWidth();
  const llvm::StringRef mangled = call.getCalledFunction()->getName();
  const bool is_signed = llvm::StringRef("csil").contains(mangled.back());
  auto widen = [&](unsigned i) { return b.CreateIntCast(call.getArgOperand(i), b.getIntNTy(2 * bits), is_signed); };
  return b.CreateTrunc(b.CreateLShr(b.CreateMul(widen(0), widen(1)), bits), type);
}

}  // namespace

std::string PlainName(llvm::StringRef mangled) {
  llvm::StringRef rest = mangled;
  unsigned length = 0;
  if (!rest.consume_front("_Z") || rest.consumeInteger(10, length) || length > rest.size()) return mangled.str();
  return rest.take_front(length).str();
}

OpenClUse OpenClUseOf(llvm::StringRef name) {
  for (const auto& row : kRows)
    if (row.name == name) return row.use;
  if (name.starts_with("intel_sub_group_") && name.contains("_matrix_mad_k")) return OpenClUse::kRunTogether;
  if (name.starts_with("intel_sub_group_2d_block_prefetch_")) return OpenClUse::kRunTogether;
  if (name.starts_with("intel_sub_group_2d_block_read_")) return OpenClUse::kReadBlock;
  const bool is_math =
      name == "mul_hi" || name == "pown" || name == "rsqrt" || NativeIntrinsic(name) != 0 || IsLibms(name);
  return is_math ? OpenClUse::kMath : OpenClUse::kUnknown;
}

llvm::Value* EmitOpenClMath(llvm::IRBuilder<>& b, llvm::CallInst& call, llvm::StringRef name) {
  llvm::Value* x = call.getArgOperand(0);
  llvm::Type* type = x->getType();
  if (name == "mul_hi") return EmitMulHigh(b, call);
  if (llvm::Intrinsic::ID id = NativeIntrinsic(name)) return b.CreateUnaryIntrinsic(id, x);
  if (name == "rsqrt")
    return b.CreateFDiv(llvm::ConstantFP::get(type, 1), b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
  // Exact where pow is.
  if (name == "pown")
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::pow, x, b.CreateSIToFP(call.getArgOperand(1), type));
  const std::string symbol = type->isFloatTy() ? (name + "f").str() : name.str();
  llvm::FunctionCallee callee = call.getModule()->getOrInsertFunction(symbol, call.getFunctionType());
  return b.CreateCall(callee, llvm::SmallVector<llvm::Value*>(call.args()));
}

}  // namespace tritond::compiler::emulated
