// SPDX-License-Identifier: Apache-2.0
// CUDA's libdevice by name. A function is libm's of the same name, an intrinsic of LLVM, or a few operations. Each row
// of the tables says which types it takes and gives ("CUDA Math API", "libdevice User's Guide"). A call with other
// types, or of a function that has no row, is a diagnostic.
//
// A signature is result, colon, arguments: x the float that the name is for, f f32, d f64, h i16, i i32, l i64.
#include "compiler/targets/host/extern_functions.h"

#include "compiler/targets/host/host_ops.h"
#include "compiler/targets/llvm_emitters.h"
#include "llvm/ADT/StringMap.h"

namespace tritond::compiler {
namespace host {
namespace {
namespace LLVM = mlir::LLVM;
using mlir::Value;

// What a row emits with: operands and the result's type have been checked.
struct Call {
  mlir::OpBuilder& b;
  mlir::Location loc;
  mlir::ValueRange args;
  mlir::Type result;

  template <typename Op>
  Value Do(mlir::ValueRange operands) const {
    return Op::create(b, loc, operands[0].getType(), operands).getResult();
  }
  Value Float(double value) const {
    mlir::Type type = args[0].getType();
    return LLVM::ConstantOp::create(b, loc, type, b.getFloatAttr(type, value));
  }
  Value Intrinsic(llvm::StringRef name) const { return EmitFloatIntrinsic(b, loc, name, args); }
  Value Extend(Value condition) const { return LLVM::ZExtOp::create(b, loc, result, condition); }
};

using Emit = Value (*)(const Call&);

// libm's functions under their own names, f64's here and f32's with an f after.
struct LibmRow {
  const char* name;
  const char* signature;
};
constexpr LibmRow kLibm[] = {
    {"acos", "x:x"},   {"acosh", "x:x"},      {"asin", "x:x"},   {"asinh", "x:x"},      {"atan", "x:x"},
    {"atan2", "x:xx"}, {"atanh", "x:x"},      {"cbrt", "x:x"},   {"cosh", "x:x"},       {"erf", "x:x"},
    {"erfc", "x:x"},   {"exp10", "x:x"},      {"expm1", "x:x"},  {"fdim", "x:xx"},      {"fmod", "x:xx"},
    {"hypot", "x:xx"}, {"ilogb", "i:x"},      {"j0", "x:x"},     {"j1", "x:x"},         {"jn", "x:ix"},
    {"ldexp", "x:xi"}, {"lgamma", "x:x"},     {"llrint", "l:x"}, {"llround", "l:x"},    {"log1p", "x:x"},
    {"logb", "x:x"},   {"nextafter", "x:xx"}, {"pow", "x:xx"},   {"remainder", "x:xx"}, {"scalbn", "x:xi"},
    {"sinh", "x:x"},   {"tan", "x:x"},        {"tanh", "x:x"},   {"tgamma", "x:x"},     {"y0", "x:x"},
    {"y1", "x:x"},     {"yn", "x:ix"},
};

// Intrinsics of LLVM, under the names of their f64 and f32 functions.
struct IntrinsicRow {
  const char* f64;
  const char* f32;
  const char* intrinsic;
  const char* signature;
};
constexpr IntrinsicRow kIntrinsics[] = {
    {"ceil", "ceilf", "llvm.ceil", "x:x"},
    {"copysign", "copysignf", "llvm.copysign", "x:xx"},
    {"cos", "cosf", "llvm.cos", "x:x"},
    {"exp", "expf", "llvm.exp", "x:x"},
    {"exp2", "exp2f", "llvm.exp2", "x:x"},
    {"fabs", "fabsf", "llvm.fabs", "x:x"},
    {"floor", "floorf", "llvm.floor", "x:x"},
    {"fma", "fmaf", "llvm.fma", "x:xxx"},
    {"fma_rn", "fmaf_rn", "llvm.fma", "x:xxx"},
    {"fmax", "fmaxf", "llvm.maxnum", "x:xx"},
    {"fmin", "fminf", "llvm.minnum", "x:xx"},
    {"log", "logf", "llvm.log", "x:x"},
    {"log10", "log10f", "llvm.log10", "x:x"},
    {"log2", "log2f", "llvm.log2", "x:x"},
    {"nearbyint", "nearbyintf", "llvm.roundeven", "x:x"},
    {"rint", "rintf", "llvm.roundeven", "x:x"},
    {"round", "roundf", "llvm.round", "x:x"},
    {"sin", "sinf", "llvm.sin", "x:x"},
    {"sqrt", "sqrtf", "llvm.sqrt", "x:x"},
    {"trunc", "truncf", "llvm.trunc", "x:x"},
    {"dsqrt_rn", "fsqrt_rn", "llvm.sqrt", "x:x"},
    {"", "fast_cosf", "llvm.cos", "x:x"},
    {"", "fast_expf", "llvm.exp", "x:x"},
    {"", "fast_log10f", "llvm.log10", "x:x"},
    {"", "fast_log2f", "llvm.log2", "x:x"},
    {"", "fast_logf", "llvm.log", "x:x"},
    {"", "fast_powf", "llvm.pow", "x:xx"},
    {"", "fast_sinf", "llvm.sin", "x:x"},
};

// A few operations each.
struct OperationsRow {
  const char* f64;
  const char* f32;
  const char* signature;
  Emit emit;
};

Value EmitClass(const Call& c, uint32_t mask) {  // "llvm.is.fpclass", LLVM Language Reference
  return c.Extend(LLVM::IsFPClass::create(c.b, c.loc, c.b.getI1Type(), c.args[0], mask));
}
constexpr uint32_t kNan = 0x3, kInfinite = 0x204;

Value EmitReciprocal(const Call& c, Value x) { return LLVM::FDivOp::create(c.b, c.loc, c.Float(1.0), x); }

template <typename Op>
Value EmitOp(const Call& c) {
  return c.Do<Op>(c.args);
}

Value EmitSignBit(const Call& c) {
  const unsigned width = c.args[0].getType().getIntOrFloatBitWidth();
  Value bits = LLVM::BitcastOp::create(c.b, c.loc, c.b.getIntegerType(width), c.args[0]);
  Value zero = LLVM::ZeroOp::create(c.b, c.loc, bits.getType());
  return c.Extend(LLVM::ICmpOp::create(c.b, c.loc, LLVM::ICmpPredicate::slt, bits, zero));
}

// An integer power as a power of floats: exact where pow is.
Value EmitPowI(const Call& c) {
  Value exponent = LLVM::SIToFPOp::create(c.b, c.loc, c.args[0].getType(), c.args[1]);
  return EmitFloatIntrinsic(c.b, c.loc, "llvm.pow", {c.args[0], exponent});
}

// The lower bound first: NaN becomes 0.
Value EmitSaturate(const Call& c) {
  Value low = EmitFloatIntrinsic(c.b, c.loc, "llvm.maxnum", {c.args[0], c.Float(0.0)});
  return EmitFloatIntrinsic(c.b, c.loc, "llvm.minnum", {low, c.Float(1.0)});
}

// The normal distribution: erfc(-x / sqrt 2) / 2.
Value EmitNormCdf(const Call& c) {
  Value scaled = LLVM::FMulOp::create(c.b, c.loc, c.args[0], c.Float(-0.70710678118654752440));
  return LLVM::FMulOp::create(c.b, c.loc, EmitLibmCall(c.b, c.loc, "erfc", scaled), c.Float(0.5));
}

constexpr OperationsRow kFloatOperations[] = {
    {"dadd_rn", "fadd_rn", "x:xx", EmitOp<LLVM::FAddOp>},
    {"dsub_rn", "fsub_rn", "x:xx", EmitOp<LLVM::FSubOp>},
    {"dmul_rn", "fmul_rn", "x:xx", EmitOp<LLVM::FMulOp>},
    {"ddiv_rn", "fdiv_rn", "x:xx", EmitOp<LLVM::FDivOp>},
    {"", "fast_fdividef", "x:xx", EmitOp<LLVM::FDivOp>},
    {"drcp_rn", "frcp_rn", "x:x", [](const Call& c) { return EmitReciprocal(c, c.args[0]); }},
    {"rsqrt", "rsqrtf", "x:x", [](const Call& c) { return EmitReciprocalSqrt(c.b, c.loc, c.args[0]); }},
    {"", "frsqrt_rn", "x:x", [](const Call& c) { return EmitReciprocalSqrt(c.b, c.loc, c.args[0]); }},
    {"rcbrt", "rcbrtf", "x:x",
     [](const Call& c) { return EmitReciprocal(c, EmitLibmCall(c.b, c.loc, "cbrt", c.args)); }},
    {"rhypot", "rhypotf", "x:xx",
     [](const Call& c) { return EmitReciprocal(c, EmitLibmCall(c.b, c.loc, "hypot", c.args)); }},
    {"", "fast_tanf", "x:x", [](const Call& c) { return EmitLibmCall(c.b, c.loc, "tan", c.args); }},
    {"", "fast_tanhf", "x:x", [](const Call& c) { return EmitLibmCall(c.b, c.loc, "tanh", c.args); }},
    {"", "fast_exp10f", "x:x", [](const Call& c) { return EmitLibmCall(c.b, c.loc, "exp10", c.args); }},
    {"powi", "powif", "x:xi", EmitPowI},
    {"normcdf", "normcdff", "x:x", EmitNormCdf},
    {"", "saturatef", "x:x", EmitSaturate},
    {"isnand", "isnanf", "i:x", [](const Call& c) { return EmitClass(c, kNan); }},
    {"isinfd", "isinff", "i:x", [](const Call& c) { return EmitClass(c, kInfinite); }},
    {"isfinited", "finitef", "i:x", [](const Call& c) { return EmitClass(c, 0x3ff & ~(kNan | kInfinite)); }},
    {"signbitd", "signbitf", "i:x", EmitSignBit},
};

struct IntegerRow {
  const char* name;
  const char* signature;
  Emit emit;
};

Value EmitAbs(const Call& c) {
  return LLVM::AbsOp::create(c.b, c.loc, c.args[0].getType(), c.args[0], /*is_int_min_poison=*/false);
}

// The upper half of the product of twice the width.
template <typename Extend, typename Shift>
Value EmitMulHigh(const Call& c) {
  const unsigned width = c.result.getIntOrFloatBitWidth();
  mlir::Type wide = c.b.getIntegerType(2 * width);
  Value x = Extend::create(c.b, c.loc, wide, c.args[0]), y = Extend::create(c.b, c.loc, wide, c.args[1]);
  Value amount = LLVM::ConstantOp::create(c.b, c.loc, wide, c.b.getIntegerAttr(wide, width));
  return LLVM::TruncOp::create(c.b, c.loc, c.result,
                               Shift::create(c.b, c.loc, LLVM::MulOp::create(c.b, c.loc, x, y), amount));
}

// Bit counts of i64 are i32.
Value EmitNarrow(const Call& c, Value count) {
  return count.getType() == c.result ? count : Value(LLVM::TruncOp::create(c.b, c.loc, c.result, count));
}

Value EmitPopCount(const Call& c) {
  return EmitNarrow(c, LLVM::CtPopOp::create(c.b, c.loc, c.args[0].getType(), c.args[0]));
}

Value EmitLeadingZeros(const Call& c) {
  return EmitNarrow(
      c, LLVM::CountLeadingZerosOp::create(c.b, c.loc, c.args[0].getType(), c.args[0], /*is_zero_poison=*/false));
}

// The place of the lowest set bit, from 1; 0 when there is none.
Value EmitFindFirstSet(const Call& c) {
  mlir::Type type = c.args[0].getType();
  Value zero = LLVM::ZeroOp::create(c.b, c.loc, type);
  Value one = LLVM::ConstantOp::create(c.b, c.loc, type, c.b.getIntegerAttr(type, 1));
  Value trailing = LLVM::CountTrailingZerosOp::create(c.b, c.loc, type, c.args[0], /*is_zero_poison=*/false);
  Value place = LLVM::AddOp::create(c.b, c.loc, trailing, one);
  Value none = LLVM::ICmpOp::create(c.b, c.loc, LLVM::ICmpPredicate::eq, c.args[0], zero);
  return EmitNarrow(c, LLVM::SelectOp::create(c.b, c.loc, none, zero, place));
}

template <typename Op>
Value EmitCast(const Call& c) {
  return Op::create(c.b, c.loc, c.result, c.args[0]);
}

// Float to integer: rounded by `rounding` (towards zero without), saturated, NaN as 0, as the GPU converts.
template <typename Saturate>
Value EmitRounded(const Call& c, llvm::StringRef rounding) {
  Value x = rounding.empty() ? c.args[0] : c.Intrinsic(rounding);
  return LLVM::CallIntrinsicOp::create(c.b, c.loc, c.result, c.b.getStringAttr(Saturate::Name(c)), x).getResult(0);
}

struct SignedSaturation {
  static std::string Name(const Call& c) { return "llvm.fptosi.sat." + Suffix(c); }
  static std::string Suffix(const Call& c) {
    return "i" + std::to_string(c.result.getIntOrFloatBitWidth()) + ".f" +
           std::to_string(c.args[0].getType().getIntOrFloatBitWidth());
  }
};
struct UnsignedSaturation {
  static std::string Name(const Call& c) { return "llvm.fptoui.sat." + SignedSaturation::Suffix(c); }
};

constexpr IntegerRow kIntegerOperations[] = {
    {"abs", "i:i", EmitAbs},
    {"llabs", "l:l", EmitAbs},
    {"max", "i:ii", EmitOp<LLVM::SMaxOp>},
    {"min", "i:ii", EmitOp<LLVM::SMinOp>},
    {"umax", "i:ii", EmitOp<LLVM::UMaxOp>},
    {"umin", "i:ii", EmitOp<LLVM::UMinOp>},
    {"llmax", "l:ll", EmitOp<LLVM::SMaxOp>},
    {"llmin", "l:ll", EmitOp<LLVM::SMinOp>},
    {"ullmax", "l:ll", EmitOp<LLVM::UMaxOp>},
    {"ullmin", "l:ll", EmitOp<LLVM::UMinOp>},
    {"mulhi", "i:ii", EmitMulHigh<LLVM::SExtOp, LLVM::AShrOp>},
    {"umulhi", "i:ii", EmitMulHigh<LLVM::ZExtOp, LLVM::LShrOp>},
    {"mul64hi", "l:ll", EmitMulHigh<LLVM::SExtOp, LLVM::AShrOp>},
    {"umul64hi", "l:ll", EmitMulHigh<LLVM::ZExtOp, LLVM::LShrOp>},
    {"popc", "i:i", EmitPopCount},
    {"popcll", "i:l", EmitPopCount},
    {"clz", "i:i", EmitLeadingZeros},
    {"clzll", "i:l", EmitLeadingZeros},
    {"ffs", "i:i", EmitFindFirstSet},
    {"ffsll", "i:l", EmitFindFirstSet},
    {"brev", "i:i", EmitOp<LLVM::BitReverseOp>},
    {"brevll", "l:l", EmitOp<LLVM::BitReverseOp>},
    {"int2float_rn", "f:i", EmitCast<LLVM::SIToFPOp>},
    {"uint2float_rn", "f:i", EmitCast<LLVM::UIToFPOp>},
    {"ll2float_rn", "f:l", EmitCast<LLVM::SIToFPOp>},
    {"ull2float_rn", "f:l", EmitCast<LLVM::UIToFPOp>},
    {"int2double_rn", "d:i", EmitCast<LLVM::SIToFPOp>},
    {"uint2double_rn", "d:i", EmitCast<LLVM::UIToFPOp>},
    {"ll2double_rn", "d:l", EmitCast<LLVM::SIToFPOp>},
    {"ull2double_rn", "d:l", EmitCast<LLVM::UIToFPOp>},
    {"double2float_rn", "f:d", EmitCast<LLVM::FPTruncOp>},
    {"float_as_int", "i:f", EmitCast<LLVM::BitcastOp>},
    {"float_as_uint", "i:f", EmitCast<LLVM::BitcastOp>},
    {"int_as_float", "f:i", EmitCast<LLVM::BitcastOp>},
    {"uint_as_float", "f:i", EmitCast<LLVM::BitcastOp>},
    {"double_as_longlong", "l:d", EmitCast<LLVM::BitcastOp>},
    {"longlong_as_double", "d:l", EmitCast<LLVM::BitcastOp>},
};

// "float2int_rz" and the like: every source, destination and rounding.
Emit FindRounded(llvm::StringRef name, std::string& signature) {
  struct Part {
    const char* text;
    char letter;
  };
  constexpr Part kFrom[] = {{"float2", 'f'}, {"double2", 'd'}}, kTo[] = {{"int", 'i'}, {"ll", 'l'}};
  for (const Part& from : kFrom) {
    llvm::StringRef rest = name;
    if (!rest.consume_front(from.text)) continue;
    const bool is_unsigned = rest.consume_front("u");
    for (const Part& to : kTo) {
      llvm::StringRef mode = rest;
      if (!mode.consume_front(to.text)) continue;
      signature = {to.letter, ':', from.letter};
      if (mode == "_rz" && is_unsigned) return [](const Call& c) { return EmitRounded<UnsignedSaturation>(c, ""); };
      if (mode == "_rz") return [](const Call& c) { return EmitRounded<SignedSaturation>(c, ""); };
      if (mode == "_rn" && is_unsigned)
        return [](const Call& c) { return EmitRounded<UnsignedSaturation>(c, "llvm.roundeven"); };
      if (mode == "_rn") return [](const Call& c) { return EmitRounded<SignedSaturation>(c, "llvm.roundeven"); };
      if (mode == "_rd" && is_unsigned)
        return [](const Call& c) { return EmitRounded<UnsignedSaturation>(c, "llvm.floor"); };
      if (mode == "_rd") return [](const Call& c) { return EmitRounded<SignedSaturation>(c, "llvm.floor"); };
      if (mode == "_ru" && is_unsigned)
        return [](const Call& c) { return EmitRounded<UnsignedSaturation>(c, "llvm.ceil"); };
      if (mode == "_ru") return [](const Call& c) { return EmitRounded<SignedSaturation>(c, "llvm.ceil"); };
    }
  }
  return nullptr;
}

mlir::Type TypeOf(mlir::OpBuilder& b, char letter, mlir::Type x) {
  switch (letter) {
    case 'f':
      return b.getF32Type();
    case 'd':
      return b.getF64Type();
    case 'i':
      return b.getI32Type();
    case 'l':
      return b.getI64Type();
    default:
      return x;
  }
}

bool Matches(const Call& call, llvm::StringRef signature, mlir::Type x) {
  auto [result, args] = signature.split(':');
  if (call.result != TypeOf(call.b, result[0], x) || call.args.size() != args.size()) return false;
  for (auto [arg, letter] : llvm::zip(call.args, args)) {
    if (arg.getType() != TypeOf(call.b, letter, x)) return false;
  }
  return true;
}

// A function that was found: what it takes, and how it is emitted.
struct Found {
  std::string signature;
  mlir::Type x;
  std::function<Value(const Call&)> emit;
};

std::optional<Found> Find(mlir::OpBuilder& b, llvm::StringRef name) {
  const mlir::Type f32 = b.getF32Type(), f64 = b.getF64Type();
  for (const LibmRow& row : kLibm) {
    llvm::StringRef rest = name;
    if (!rest.consume_front(row.name) || (!rest.empty() && rest != "f")) continue;
    auto emit = [&row](const Call& c) { return EmitLibmCall(c.b, c.loc, row.name, c.args, c.result); };
    return Found{row.signature, rest.empty() ? f64 : f32, emit};
  }
  for (const IntrinsicRow& row : kIntrinsics) {
    if (name != row.f64 && name != row.f32) continue;
    return Found{row.signature, name == row.f64 ? f64 : f32,
                 [&row](const Call& c) { return c.Intrinsic(row.intrinsic); }};
  }
  for (const OperationsRow& row : kFloatOperations) {
    if (name == row.f64 || name == row.f32) return Found{row.signature, name == row.f64 ? f64 : f32, row.emit};
  }
  for (const IntegerRow& row : kIntegerOperations) {
    if (name == row.name) return Found{row.signature, f32, row.emit};
  }
  std::string signature;
  if (Emit emit = FindRounded(name, signature)) return Found{signature, f32, emit};
  return std::nullopt;
}

}  // namespace

Value EmitFloatIntrinsic(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange args) {
  mlir::Type type = args[0].getType();
  return EmitIntrinsic(b, loc, (name + (type.isF32() ? ".f32" : ".f64")).str(), type, args);
}

Value EmitLibmCall(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange args,
                   mlir::Type result) {
  if (!result) result = args[0].getType();
  const bool is_f32 = llvm::any_of(args.getTypes(), [](mlir::Type type) { return type.isF32(); });
  auto type = LLVM::LLVMFunctionType::get(result, llvm::to_vector(args.getTypes()));
  LLVM::LLVMFuncOp callee = DeclareFunction(b, loc, (name + (is_f32 ? "f" : "")).str(), type);
  if (!callee) return nullptr;
  return LLVM::CallOp::create(b, loc, callee, args).getResult();
}

Value EmitReciprocalSqrt(mlir::OpBuilder& b, mlir::Location loc, Value x) {
  mlir::Type type = x.getType();
  Value one = LLVM::ConstantOp::create(b, loc, type, b.getFloatAttr(type, 1.0));
  return LLVM::FDivOp::create(b, loc, one, EmitFloatIntrinsic(b, loc, "llvm.sqrt", x));
}

bool IsLibmFunction(llvm::StringRef name) {
  // Those that calls of intrinsics become.
  constexpr const char* kByIntrinsic[] = {"cos", "exp",    "exp2", "log",  "log10", "log2",
                                          "sin", "sincos", "fma",  "fmax", "fmin"};
  for (bool is_f32 : {false, true}) {
    llvm::StringRef base = name;
    if (is_f32 && !base.consume_back("f")) break;
    if (llvm::is_contained(kByIntrinsic, base)) return true;
    if (llvm::any_of(kLibm, [&](const LibmRow& row) { return base == row.name; })) return true;
  }
  return false;
}

}  // namespace host

mlir::FailureOr<mlir::Value> HostOps::CallExtern(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol,
                                                 mlir::Type result, mlir::ValueRange args) const {
  llvm::StringRef name = symbol;
  std::optional<host::Found> found;
  if (name.consume_front("__nv_")) found = host::Find(b, name);
  if (!found) {
    mlir::emitError(loc) << "the host has no function '" << symbol << "'";
    return mlir::failure();
  }
  const host::Call call{b, loc, args, result};
  if (!host::Matches(call, found->signature, found->x)) {
    mlir::emitError(loc) << "'" << symbol << "' does not take and give the types of this call";
    return mlir::failure();
  }
  mlir::Value value = found->emit(call);
  if (value) return value;
  mlir::emitError(loc) << "'" << symbol << "' is something else in this module";
  return mlir::failure();
}

}  // namespace tritond::compiler
