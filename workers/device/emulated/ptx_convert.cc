// SPDX-License-Identifier: Apache-2.0
// cvt (PTX ISA, "Data Movement and Conversion Instructions: cvt"). A conversion between floats rounds once; one to an
// integer rounds to an integer and clamps, NaN becoming 0. Two f32 become a pair whose upper half is the first.
#include <cmath>

#include "workers/device/emulated/ptx_instruction.h"

namespace tritond::workers::emulated {
namespace {

uint64_t Mask(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

double RoundToWhole(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    case Rounding::kUp:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

uint64_t FloatToInteger(double value, const PtxType& to, Rounding rounding) {
  if (std::isnan(value)) return to.bits == 64 ? uint64_t{1} << 63 : 0;
  const double whole = RoundToWhole(value, rounding);
  const bool is_signed = to.kind == 's';
  const double least = is_signed ? -std::ldexp(1, to.bits - 1) : 0;
  const double beyond = std::ldexp(1, is_signed ? to.bits - 1 : to.bits);
  if (whole <= least) return static_cast<uint64_t>(static_cast<int64_t>(least)) & Mask(to.bits);
  if (whole >= beyond) return is_signed ? Mask(to.bits - 1) : Mask(to.bits);
  return (is_signed ? static_cast<uint64_t>(static_cast<int64_t>(whole)) : static_cast<uint64_t>(whole)) &
         Mask(to.bits);
}

__int128 IntegerOf(uint64_t slot, const PtxType& type) {
  const int shift = 64 - type.bits;
  if (type.kind == 's') return static_cast<int64_t>(slot << shift) >> shift;
  return slot & Mask(type.bits);
}

// 64-bit integers do not fit a double: what is cut off is folded into a last bit, as rounding once needs.
double WholeToDouble(__int128 value, bool exact_is_enough) {
  if (exact_is_enough) return static_cast<double>(value);
  const bool negative = value < 0;
  unsigned __int128 magnitude = negative ? -value : value;
  int shift = 0;
  bool lost = false;
  while (magnitude >> 52 != 0) {
    lost |= magnitude & 1;
    magnitude >>= 1;
    ++shift;
  }
  const double folded = std::ldexp(static_cast<double>(static_cast<uint64_t>(magnitude) * 2 + lost), shift - 1);
  return negative ? -folded : folded;
}

uint64_t IntegerToInteger(uint64_t slot, const PtxType& from, const PtxType& to, bool saturate) {
  __int128 value = IntegerOf(slot, from);
  if (saturate) {
    const __int128 one = 1, most = (one << (to.kind == 's' ? to.bits - 1 : to.bits)) - 1;
    const __int128 least = to.kind == 's' ? -most - 1 : 0;
    value = value < least ? least : value > most ? most : value;
  }
  return static_cast<uint64_t>(value) & Mask(to.bits);
}

struct Conversion {
  PtxName name;
  PtxType to, from;
  Rounding rounding;
  bool saturates_finite, whole;

  uint64_t Element(uint64_t slot) const {
    if (from.kind != 'f' && to.kind != 'f') return IntegerToInteger(slot, from, to, name.Has("sat"));
    if (from.kind != 'f') {
      const double value = WholeToDouble(IntegerOf(slot, from), to.bits == 64 && rounding == Rounding::kNearestEven);
      return to.bits == 64 ? SlotOf(value, to) : Encode(value, *to.format, rounding);
    }
    double value = FloatOf(slot, from);
    if (name.Has("ftz") && std::fabs(value) < 0x1p-126) value = std::copysign(0.0, value);
    if (to.kind != 'f') return FloatToInteger(value, to, rounding);
    if (whole) value = RoundToWhole(value, rounding);
    if (name.Has("relu") && value < 0) value = 0;
    if (name.Has("sat")) value = value > 0 ? std::fmin(value, 1) : 0;
    if (to.bits == 64) return SlotOf(value, to);
    if (to.format == &kTf32) return Encode(value, kTf32, rounding, saturates_finite) << 13;
    return Encode(value, *to.format, rounding, saturates_finite);
  }
};

}  // namespace

Runner FindConversion(const PtxName& name) {
  if (name.opcode() != "cvt" || name.words.size() < 3) return nullptr;
  Conversion c{name,
               ParsePtxType(name.words[name.words.size() - 2]),
               ParsePtxType(name.last()),
               RoundingOf(name),
               name.Has("satfinite"),
               name.Has("rni") || name.Has("rzi") || name.Has("rmi") || name.Has("rpi")};
  if (c.to.kind == 0 || c.from.kind == 0) return nullptr;
  // Eight bits have no infinity that would be the result.
  if (c.to.bits == 8 && c.to.kind == 'f' && !c.saturates_finite) return nullptr;
  const bool from_two = c.to.count == 2 && c.from.count == 1;
  if (c.from.count == 2 && c.to.count == 1) return nullptr;
  return [c, from_two](const Call& call) -> Fault {
    const Lane& lane = call.lanes[0];
    uint64_t result = 0;
    for (int i = 0; i < c.to.count; ++i) {
      const uint64_t slot = from_two ? lane.in[1 - i] : lane.in[0] >> (c.from.count == 2 ? c.from.bits * i : 0);
      result |= (c.Element(slot) & Mask(c.to.bits)) << (c.to.bits * i);
    }
    lane.out[0] = result;
    return absl::nullopt;
  };
}

}  // namespace tritond::workers::emulated
