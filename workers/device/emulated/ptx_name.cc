// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "absl/strings/numbers.h"
#include "workers/device/emulated/ptx_instruction.h"

namespace tritond::workers::emulated {

bool PtxName::Has(absl::string_view word) const { return std::find(words.begin(), words.end(), word) != words.end(); }

int PtxName::total(size_t first, size_t count) const {
  int sum = 0;
  for (size_t i = first; i < std::min(slots.size(), first + count); ++i) sum += slots[i];
  return sum;
}

bool IsUniform(const Call& call, int slot) {
  for (const Lane& lane : call.lanes)
    if (lane.in[slot] != call.lanes[0].in[slot]) return false;
  return true;
}

PtxType ParsePtxType(absl::string_view word) {
  struct Row {
    const char* word;
    PtxType type;
  };
  static const Row kRows[] = {
      {"f16", {'f', 16, 1, &kF16}},     {"f16x2", {'f', 16, 2, &kF16}}, {"bf16", {'f', 16, 1, &kBf16}},
      {"bf16x2", {'f', 16, 2, &kBf16}}, {"f32", {'f', 32, 1, &kF32}},   {"f32x2", {'f', 32, 2, &kF32}},
      {"f64", {'f', 64, 1, nullptr}},   {"tf32", {'f', 32, 1, &kTf32}}, {"e4m3", {'f', 8, 1, &kE4m3}},
      {"e4m3x2", {'f', 8, 2, &kE4m3}},  {"e5m2", {'f', 8, 1, &kE5m2}},  {"e5m2x2", {'f', 8, 2, &kE5m2}},
      {"e2m1", {'f', 4, 1, &kE2m1}},    {"pred", {'p', 1, 1, nullptr}}, {"u16x2", {'u', 16, 2, nullptr}},
      {"s16x2", {'s', 16, 2, nullptr}},
  };
  for (const Row& row : kRows)
    if (word == row.word) return row.type;
  int bits = 0;
  if (word.size() < 2 || !std::strchr("usb", word[0]) || !absl::SimpleAtoi(word.substr(1), &bits)) return {};
  if (bits != 4 && bits != 8 && bits != 16 && bits != 32 && bits != 64) return {};
  return {word[0], bits, 1, nullptr};
}

Rounding RoundingOf(const PtxName& name) {
  if (name.Has("rna")) return Rounding::kNearestAway;
  if (name.Has("rz") || name.Has("rzi")) return Rounding::kZero;
  if (name.Has("rm") || name.Has("rmi")) return Rounding::kDown;
  if (name.Has("rp") || name.Has("rpi")) return Rounding::kUp;
  return Rounding::kNearestEven;
}

double FloatOf(uint64_t slot, const PtxType& type) {
  if (type.bits == 64) {
    double value;
    std::memcpy(&value, &slot, sizeof(value));
    return value;
  }
  if (type.format == &kF32) {
    float value;
    std::memcpy(&value, &slot, sizeof(value));
    return value;
  }
  if (type.format == &kTf32) return Decode(slot >> 13, kTf32);
  return Decode(slot & ((uint64_t{1} << type.bits) - 1), *type.format);
}

uint64_t SlotOf(double value, const PtxType& type, Rounding rounding) {
  if (type.bits == 64) {
    uint64_t slot;
    std::memcpy(&slot, &value, sizeof(slot));
    return slot;
  }
  if (type.format == &kTf32) return Encode(value, kTf32, rounding) << 13;
  if (type.format == &kF32 && rounding == Rounding::kNearestEven) {
    const float narrow = static_cast<float>(value);
    uint32_t slot;
    std::memcpy(&slot, &narrow, sizeof(slot));
    return slot;
  }
  return Encode(value, *type.format, rounding);
}

}  // namespace tritond::workers::emulated
