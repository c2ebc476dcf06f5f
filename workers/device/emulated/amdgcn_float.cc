// SPDX-License-Identifier: Apache-2.0
// Arithmetic on floats of one lane (CDNA3 and RDNA3 ISA, "VOP1", "VOP3"; LLVM, IntrinsicsAMDGPU). What the device
// approximates is as exact here as the C library. exp2 and log of f32 know no subnormal numbers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "workers/device/emulated/amdgcn_instruction.h"

namespace tritond::workers::emulated {
namespace {

constexpr double kTurn = 6.283185307179586;

double WithoutSubnormals(double value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0, value) : value;
}

// The one in the middle; where one is NaN, the smaller of the others.
double Median(double x, double y, double z) {
  if (std::isnan(x) || std::isnan(y) || std::isnan(z)) return std::fmin(std::fmin(x, y), z);
  return std::max(std::min(x, y), std::min(std::max(x, y), z));
}

double Fraction(double x) { return std::min(x - std::floor(x), std::nextafter(1.0, 0.0)); }

double Clamped(double x) {
  return std::isinf(x) ? std::copysign(static_cast<double>(std::numeric_limits<float>::max()), x) : x;
}

// Zero times anything is zero.
double LegacyProduct(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }

using Of1 = double (*)(double);
struct Row1 {
  const char* name;
  Of1 f;
};
constexpr Row1 kOf1[] = {
    {"sin", [](double x) { return std::sin(kTurn * Fraction(x)); }},
    {"cos", [](double x) { return std::cos(kTurn * Fraction(x)); }},
    {"rcp", [](double x) { return 1 / x; }},
    {"rsq", [](double x) { return 1 / std::sqrt(x); }},
    {"rsq.clamp", [](double x) { return Clamped(1 / std::sqrt(x)); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"fract", Fraction},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"log.clamp", [](double x) { return Clamped(std::log2(WithoutSubnormals(x))); }},
    {"frexp.mant",
     [](double x) {
       int exponent;
       return std::isfinite(x) ? std::frexp(x, &exponent) : x;
     }},
};

using Of3 = double (*)(double, double, double);
struct Row3 {
  const char* name;
  Of3 f;
};
constexpr Row3 kOf3[] = {
    {"fmed3", Median},
    {"fma.legacy", [](double x, double y, double z) { return LegacyProduct(x, y) + z; }},
    {"fmad.ftz", [](double x, double y, double z) { return x * y + z; }},
    // Denominator and numerator: the quotient before it is an approximation.
    {"div.fixup", [](double, double y, double z) { return z / y; }},
};

Runner FindFloat(const AmdName& name) {
  if (name.results.empty() || name.results[0].count != 1 || name.operands.empty()) return nullptr;
  const AmdOperand type = name.results[0];
  const size_t operands = name.operands.size();
  for (const Row1& row : kOf1)
    if (name.name == row.name && operands == 1)
      return [type, f = row.f](const Call& call) -> Fault {
        call.lanes[0].out[0] = AmdBitsOf(f(AmdFloatOf(call.lanes[0].in[0], type)), type);
        return absl::nullopt;
      };
  for (const Row3& row : kOf3)
    if (name.name == row.name && operands == 3)
      return [type, f = row.f](const Call& call) -> Fault {
        const uint64_t* in = call.lanes[0].in;
        call.lanes[0].out[0] =
            AmdBitsOf(f(AmdFloatOf(in[0], type), AmdFloatOf(in[1], type), AmdFloatOf(in[2], type)), type);
        return absl::nullopt;
      };
  return nullptr;
}

// Subnormal numbers count as zero where the type is f32.
Fault RunExp2(const AmdOperand& type, const Call& call) {
  double value = std::exp2(AmdFloatOf(call.lanes[0].in[0], type));
  if (type.bits == 32) value = WithoutSubnormals(value);
  call.lanes[0].out[0] = AmdBitsOf(value, type);
  return absl::nullopt;
}

Fault RunLog(const AmdOperand& type, const Call& call) {
  double value = AmdFloatOf(call.lanes[0].in[0], type);
  if (type.bits == 32) value = WithoutSubnormals(value);
  call.lanes[0].out[0] = AmdBitsOf(std::log2(value), type);
  return absl::nullopt;
}

// a * b + c, of quotients: what div.scale has done is nothing.
Fault RunDivFmas(const AmdOperand& type, const Call& call) {
  const uint64_t* in = call.lanes[0].in;
  call.lanes[0].out[0] =
      AmdBitsOf(std::fma(AmdFloatOf(in[0], type), AmdFloatOf(in[1], type), AmdFloatOf(in[2], type)), type);
  return absl::nullopt;
}

Fault RunDivScale(const Call& call) {
  const Lane& lane = call.lanes[0];
  lane.out[0] = lane.in[2] & 1 ? lane.in[0] : lane.in[1];
  lane.out[1] = 0;
  return absl::nullopt;
}

Fault RunExponent(const AmdName& name, const Call& call) {
  const double value = AmdFloatOf(call.lanes[0].in[0], name.operands[0]);
  int exponent = 0;
  if (std::isfinite(value)) std::frexp(value, &exponent);
  call.lanes[0].out[0] = static_cast<uint64_t>(static_cast<int64_t>(exponent));
  return absl::nullopt;
}

// A bit of the mask for each class: signalling NaN, quiet NaN, -inf, -normal, -subnormal, -0, +0, +subnormal, +normal,
// +inf.
Fault RunClass(const AmdName& name, const Call& call) {
  const AmdOperand& type = name.operands[0];
  const uint64_t bits = call.lanes[0].in[0];
  const double value = AmdFloatOf(bits, type);
  const int mantissa = type.bits == 64 ? 52 : type.bits == 32 ? 23 : 10;
  const double least = type.bits == 64   ? std::numeric_limits<double>::min()
                       : type.bits == 32 ? std::numeric_limits<float>::min()
                                         : std::ldexp(1, -14);
  int which = 0;
  if (std::isnan(value)) {
    which = bits >> (mantissa - 1) & 1;
  } else {
    const int magnitude = std::isinf(value) ? 3 : std::fabs(value) >= least ? 2 : value != 0 ? 1 : 0;
    which = std::signbit(value) ? 5 - magnitude : 6 + magnitude;
  }
  call.lanes[0].out[0] = call.lanes[0].in[1] >> which & 1;
  return absl::nullopt;
}

// 2 / pi as a binary fraction.
constexpr uint64_t kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                   0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                   0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                   0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                   0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// 53 bits of 2 / pi. They begin where a product with the first operand, which is large, has bits that count. The second
// operand says how many times 53 bits further they begin.
Fault RunTrigPreop(const Call& call) {
  const Lane& lane = call.lanes[0];
  const int exponent = static_cast<int>(lane.in[0] >> 52 & 0x7ff);
  const int shift = static_cast<int>(lane.in[1] & 31) * 53 + std::max(0, exponent - 1077);
  uint64_t bits = 0;
  for (int i = shift; i < shift + 53; ++i) {
    const bool is_known = i / 64 < static_cast<int>(std::size(kTwoOverPi)) && i <= 1200;
    bits = bits << 1 | (is_known ? kTwoOverPi[i / 64] >> (63 - i % 64) & 1 : 0);
  }
  const int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  lane.out[0] = BitsOfDouble(std::ldexp(static_cast<double>(bits), scale));
  return absl::nullopt;
}

}  // namespace

double AmdFloatOf(uint64_t bits, const AmdOperand& type) {
  if (type.bits == 64) return DoubleOfBits(bits);
  return type.bits == 32 ? FloatOfBits(bits) : Decode(bits & 0xffff, type.is_bf16 ? kBf16 : kF16);
}

uint64_t AmdBitsOf(double value, const AmdOperand& type) {
  if (type.bits == 64) return BitsOfDouble(value);
  return type.bits == 32 ? BitsOfFloat(static_cast<float>(value)) : Encode(value, type.is_bf16 ? kBf16 : kF16);
}

Runner FindAmdFloat(const AmdName& name) {
  if (name.results.empty()) return nullptr;
  if (Runner run = FindFloat(name)) return run;
  const AmdOperand type = name.results[0];
  if (name.name == "exp2") return [type](const Call& call) { return RunExp2(type, call); };
  if (name.name == "log") return [type](const Call& call) { return RunLog(type, call); };
  if (name.name == "div.fmas") return [type](const Call& call) { return RunDivFmas(type, call); };
  if (name.name == "div.scale") return RunDivScale;
  if (name.name == "frexp.exp") return [name](const Call& call) { return RunExponent(name, call); };
  if (name.name == "class") return [name](const Call& call) { return RunClass(name, call); };
  if (name.name == "trig.preop") return RunTrigPreop;
  return nullptr;
}

}  // namespace tritond::workers::emulated
