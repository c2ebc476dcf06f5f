// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_NARROW_FLOAT_H_
#define WORKERS_DEVICE_EMULATED_NARROW_FLOAT_H_

#include <cstdint>

namespace tritond::workers::emulated {

// A binary floating-point format of at most 32 bits, sign first.
struct FloatFormat {
  const char* name;  // as PTX has it: "e4m3"
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;       // else the largest exponent is of numbers, and all ones is the only NaN
  bool is_fnuz = false;    // all ones is a number too, the code of negative zero is the only NaN, the bias is one more
  bool is_finite = false;  // no NaN either

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - (is_fnuz ? 0 : 1); }
};

inline constexpr FloatFormat kF32 = {"f32", 8, 23, true};
inline constexpr FloatFormat kTf32 = {"tf32", 8, 10, true};  // lies in the upper 19 bits of 32
inline constexpr FloatFormat kF16 = {"f16", 5, 10, true};
inline constexpr FloatFormat kBf16 = {"bf16", 8, 7, true};
inline constexpr FloatFormat kE4m3 = {"e4m3", 4, 3, false};
inline constexpr FloatFormat kE5m2 = {"e5m2", 5, 2, true};
inline constexpr FloatFormat kE4m3Fnuz = {"e4m3fnuz", 4, 3, false, true};
inline constexpr FloatFormat kE5m2Fnuz = {"e5m2fnuz", 5, 2, false, true};
inline constexpr FloatFormat kE2m3 = {"e2m3", 2, 3, false, false, true};
inline constexpr FloatFormat kE3m2 = {"e3m2", 3, 2, false, false, true};
inline constexpr FloatFormat kE2m1 = {"e2m1", 2, 1, false, false, true};

enum class Rounding { kNearestEven, kNearestAway, kZero, kDown, kUp };

// The value of the low bits of `bits`; every value of these formats is a double.
double Decode(uint64_t bits, const FloatFormat& format);

// The nearest number of the format, by `rounding`. What is too large becomes an infinity, or NaN where there is none;
// with `saturate` the largest number, infinities too.
uint64_t Encode(double value, const FloatFormat& format, Rounding rounding = Rounding::kNearestEven,
                bool saturate = false);

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_NARROW_FLOAT_H_
