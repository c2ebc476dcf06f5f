// SPDX-License-Identifier: Apache-2.0
#include "workers/device/element_type.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tritond::workers {
namespace {

constexpr int kDoubleBias = 1023;
constexpr int kDoubleMantissaBits = 52;

// As std::ilogb for what is normal; less than every normal number's for zero and subnormals. Buffers have many
// elements, and the library's functions make these two the most of what an element costs.
int ExponentOf(double magnitude) {
  uint64_t bits = 0;
  std::memcpy(&bits, &magnitude, sizeof(bits));
  return static_cast<int>(bits >> kDoubleMantissaBits) - kDoubleBias;
}

// As std::ldexp.
double TimesPowerOfTwo(double value, int exponent) {
  if (exponent <= -kDoubleBias || exponent > kDoubleBias) return std::ldexp(value, exponent);
  const uint64_t bits = static_cast<uint64_t>(exponent + kDoubleBias) << kDoubleMantissaBits;
  double power = 0;
  std::memcpy(&power, &bits, sizeof(power));
  return value * power;
}

}  // namespace

absl::StatusOr<ElementType> ElementType::Parse(absl::string_view name) {
  static const ElementType kTypes[] = {
      {"i1", 1, Kind::kBool},
      {"i8", 1, Kind::kSigned},
      {"i16", 2, Kind::kSigned},
      {"i32", 4, Kind::kSigned},
      {"i64", 8, Kind::kSigned},
      {"u8", 1, Kind::kUnsigned},
      {"u16", 2, Kind::kUnsigned},
      {"u32", 4, Kind::kUnsigned},
      {"u64", 8, Kind::kUnsigned},
      {"f16", 2, Kind::kFloat, 5, 10, 15},
      {"bf16", 2, Kind::kFloat, 8, 7, 127},
      {"f32", 4, Kind::kFloat, 8, 23, 127},
      {"f64", 8, Kind::kFloat, 11, 52, 1023},
      {"fp8e5", 1, Kind::kFloat, 5, 2, 15},
      {"fp8e4nv", 1, Kind::kFloat, 4, 3, 7, Top::kOneNan},
      {"fp8e4b8", 1, Kind::kFloat, 4, 3, 8, Top::kNegativeNan},
      {"fp8e5b16", 1, Kind::kFloat, 5, 2, 16, Top::kNegativeNan},
      {"fp8e4b15", 1, Kind::kFloat, 4, 3, 15, Top::kNumbers},
  };
  static const std::pair<absl::string_view, absl::string_view> kOtherNames[] = {
      {"u1", "i1"},
      {"bool", "i1"},
      {"fp16", "f16"},
      {"fp32", "f32"},
      {"fp64", "f64"},
      {"f8E4M3FN", "fp8e4nv"},
      {"f8E5M2", "fp8e5"},
      {"f8E4M3FNUZ", "fp8e4b8"},
      {"f8E5M2FNUZ", "fp8e5b16"},
  };
  absl::string_view wanted = name;
  for (const auto& [other, usual] : kOtherNames) {
    if (name == other) wanted = usual;
  }
  for (const ElementType& type : kTypes) {
    if (wanted == type.name_) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is no element type; expected i1, i8 … i64, u8 … u64, f16, bf16, f32, f64 or fp8…"));
}

void ElementType::Encode(double value, char* to) const {
  if (kind_ != Kind::kFloat) {
    const double rounded = std::nearbyint(value);
    // Values of u64 above the range of i64 have the same bits as the negative number 2^64 below.
    const bool is_large = rounded >= 0x1p63 && rounded < 0x1p64;
    const bool fits = rounded >= -0x1p63 && rounded < 0x1p63;
    return EncodeInteger(fits       ? static_cast<int64_t>(rounded)
                         : is_large ? static_cast<int64_t>(static_cast<uint64_t>(rounded))
                                    : 0,
                         to);
  }
  const uint64_t bits = FloatBits(value);
  std::memcpy(to, &bits, bytes_);  // little-endian, as are all devices
}

void ElementType::EncodeInteger(int64_t value, char* to) const {
  if (kind_ == Kind::kFloat) return Encode(static_cast<double>(value), to);
  if (kind_ == Kind::kBool) value = value != 0;
  std::memcpy(to, &value, bytes_);
}

double ElementType::Decode(const char* from) const {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes_);
  switch (kind_) {
    case Kind::kBool:
      return bits != 0;
    case Kind::kUnsigned:
      return static_cast<double>(bits);
    case Kind::kSigned: {
      const int unused = 64 - 8 * bytes_;
      return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
    }
    case Kind::kFloat:
      break;
  }
  return FloatValue(bits);
}

std::string ElementType::Text(const char* from) const {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes_);
  if (kind_ == Kind::kUnsigned) return absl::StrCat(bits);
  if (kind_ == Kind::kSigned && bytes_ == 8) return absl::StrCat(static_cast<int64_t>(bits));
  const double value = Decode(from);
  if (kind_ != Kind::kFloat) return absl::StrCat(static_cast<int64_t>(value));
  const int digits = mantissa_bits_ > 23 ? 17 : mantissa_bits_ > 10 ? 9 : mantissa_bits_ > 7 ? 5 : 4;
  return absl::StrFormat("%.*g", digits, value);
}

uint64_t ElementType::NanBits() const {
  const uint64_t exponent = ((uint64_t{1} << exponent_bits_) - 1) << mantissa_bits_;
  switch (top_) {
    case Top::kIeee:
      return exponent | uint64_t{1} << (mantissa_bits_ - 1);
    case Top::kNegativeNan:
      return uint64_t{1} << (exponent_bits_ + mantissa_bits_);
    case Top::kOneNan:
    case Top::kNumbers:
      break;
  }
  return exponent | ((uint64_t{1} << mantissa_bits_) - 1);
}

// What stands for a magnitude beyond the largest.
uint64_t ElementType::OverflowBits() const {
  if (top_ == Top::kIeee) return ((uint64_t{1} << exponent_bits_) - 1) << mantissa_bits_;
  return NanBits();
}

uint64_t ElementType::FloatBits(double value) const {
  if (std::isnan(value)) return NanBits();
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << (exponent_bits_ + mantissa_bits_) : 0;
  const double magnitude = std::fabs(value);
  const bool overflow_has_no_sign = top_ == Top::kNegativeNan;
  if (std::isinf(value)) return OverflowBits() | (overflow_has_no_sign ? 0 : sign);
  // Counts in units of the last place: of the value's own binade, or of the smallest normal one for subnormals. The
  // count carries into the exponent by itself when it is added to it.
  const int exponent = std::max(ExponentOf(magnitude), 1 - bias_);
  const auto units = static_cast<uint64_t>(std::nearbyint(TimesPowerOfTwo(magnitude, mantissa_bits_ - exponent)));
  const uint64_t bits = (static_cast<uint64_t>(exponent + bias_ - 1) << mantissa_bits_) + units;
  const uint64_t all_ones = (uint64_t{1} << (exponent_bits_ + mantissa_bits_)) - 1;
  const uint64_t largest = top_ == Top::kIeee ? OverflowBits() - 1 : top_ == Top::kOneNan ? all_ones - 1 : all_ones;
  if (bits > largest) return OverflowBits() | (overflow_has_no_sign ? 0 : sign);
  if (bits == 0 && top_ == Top::kNegativeNan) return 0;
  return bits | sign;
}

double ElementType::FloatValue(uint64_t bits) const {
  const uint64_t mantissa = bits & ((uint64_t{1} << mantissa_bits_) - 1);
  const uint64_t largest_exponent = (uint64_t{1} << exponent_bits_) - 1;
  const uint64_t exponent = bits >> mantissa_bits_ & largest_exponent;
  const bool is_negative = bits >> (exponent_bits_ + mantissa_bits_) & 1;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (top_ == Top::kIeee && exponent == largest_exponent) {
    if (mantissa != 0) return nan;
    return is_negative ? -HUGE_VAL : HUGE_VAL;
  }
  if (top_ == Top::kOneNan && exponent == largest_exponent && mantissa + 1 == uint64_t{1} << mantissa_bits_) return nan;
  if (top_ == Top::kNegativeNan && bits == NanBits()) return nan;
  const double significand = static_cast<double>(exponent == 0 ? mantissa : mantissa | uint64_t{1} << mantissa_bits_);
  const int scale = static_cast<int>(std::max<uint64_t>(exponent, 1)) - bias_ - mantissa_bits_;
  const double value = TimesPowerOfTwo(significand, scale);
  return is_negative ? -value : value;
}

}  // namespace tritond::workers
