// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/narrow_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tritond::workers::emulated {
namespace {

// `value` >= 0 as an integer.
double RoundToInteger(double value, bool negative, Rounding rounding) {
  const double below = std::floor(value), rest = value - below;
  switch (rounding) {
    case Rounding::kNearestEven:
      if (rest == 0.5) return std::fmod(below, 2) == 0 ? below : below + 1;
      return rest > 0.5 ? below + 1 : below;
    case Rounding::kNearestAway:
      return rest >= 0.5 ? below + 1 : below;
    case Rounding::kZero:
      return below;
    case Rounding::kDown:
      return negative && rest > 0 ? below + 1 : below;
    case Rounding::kUp:
      return !negative && rest > 0 ? below + 1 : below;
  }
  return below;
}

uint64_t LargestMagnitude(const FloatFormat& format) {
  const uint64_t all = (uint64_t{1} << (format.bits() - 1)) - 1;
  if (format.is_fnuz || format.is_finite) return all;
  return format.has_infinity ? all - (uint64_t{1} << format.mantissa_bits) : all - 1;
}

}  // namespace

double Decode(uint64_t bits, const FloatFormat& format) {
  const uint64_t mantissa = bits & ((uint64_t{1} << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const double sign = bits >> (format.bits() - 1) & 1 ? -1 : 1;
  const bool top = exponent == (1 << format.exponent_bits) - 1;
  if (format.is_fnuz && bits == uint64_t{1} << (format.bits() - 1)) return std::numeric_limits<double>::quiet_NaN();
  const bool has_nan = !format.is_fnuz && !format.is_finite;
  if (top && format.has_infinity)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (top && has_nan && mantissa == (uint64_t{1} << format.mantissa_bits) - 1)
    return std::numeric_limits<double>::quiet_NaN();
  const int least = 1 - format.bias() - format.mantissa_bits;
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa), least);
  return sign * std::ldexp(static_cast<double>(mantissa | uint64_t{1} << format.mantissa_bits), least + exponent - 1);
}

uint64_t Encode(double value, const FloatFormat& format, Rounding rounding, bool saturate) {
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << (format.bits() - 1) : 0;
  const uint64_t largest = LargestMagnitude(format);
  const uint64_t only_nan = uint64_t{1} << (format.bits() - 1);  // of fnuz formats
  if (std::isnan(value)) return format.is_fnuz ? only_nan : only_nan - 1;
  // Infinity, or NaN where there is none, or the largest number where there is no NaN.
  const uint64_t beyond = format.is_fnuz ? only_nan : format.is_finite ? largest : largest + 1;
  if (std::isinf(value)) return sign | (saturate ? largest : beyond);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return format.is_fnuz ? 0 : sign;
  // The weight of the last bit at this magnitude.
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  const int last = exponent - format.mantissa_bits;
  const double steps = RoundToInteger(std::ldexp(magnitude, -last), sign != 0, rounding);
  // A carry out of the mantissa goes on into the exponent, as the encoding has it.
  const uint64_t biased = static_cast<uint64_t>(exponent + format.bias() - 1) << format.mantissa_bits;
  const uint64_t code = biased + static_cast<uint64_t>(steps);
  if (code == 0 && format.is_fnuz) return 0;
  if (code <= largest) return sign | code;
  const bool towards_zero = rounding == Rounding::kZero || (rounding == Rounding::kDown && sign == 0) ||
                            (rounding == Rounding::kUp && sign != 0);
  return sign | (saturate || towards_zero ? largest : beyond);
}

}  // namespace tritond::workers::emulated
