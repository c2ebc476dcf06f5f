// SPDX-License-Identifier: Apache-2.0
// Conversions (CDNA3 and CDNA4 ISA, "V_CVT_*"; LLVM, IntrinsicsAMDGPU). Names tell the target first: cvt.pk.fp8.f32.
//
//   cvt.pkrtz                  two f32 to f16, towards zero
//   cvt.pk.i16, cvt.pk.u16     two 32-bit integers, clamped
//   cvt.f32.fp8 x, byte        one byte of a word; cvt.pk.f32.fp8 x, half: two of them
//   cvt.pk.fp8.f32 a, b, old, half       two bytes into a half of `old`
//   cvt.scalef32.pk.f16.fp4 x, scale, i  the i-th pair, times the scale; others divide by it and put the pair into
//   `old` cvt.scalef32.pk32.f32.fp6 x, scale   all elements
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "workers/device/emulated/amdgcn_instruction.h"

namespace tritond::workers::emulated {
namespace {

const FloatFormat* FormatNamed(absl::string_view word, absl::string_view arch) {
  if (word == "f32") return &kF32;
  if (word == "f16") return &kF16;
  if (word == "bf16") return &kBf16;
  if (word == "fp8") return &Fp8Of(arch);
  if (word == "bf8") return &Bf8Of(arch);
  if (word == "fp6") return &kE2m3;
  if (word == "bf6") return &kE3m2;
  if (word == "fp4") return &kE2m1;
  return nullptr;
}

struct Conversion {
  const FloatFormat* to = nullptr;
  const FloatFormat* from = nullptr;
  int count = 1;
  bool is_scaled = false;
  // Operands by number; -1: there is none.
  int old = -1, source = 0, second = -1, scale = -1, from_index = -1, to_index = -1;
};

// "cvt", "scalef32" perhaps, "pk" perhaps, target, source.
absl::optional<Conversion> ParseConversion(const AmdName& name) {
  std::vector<std::string> words = name.Words();
  if (words.size() < 3 || words[0] != "cvt") return absl::nullopt;
  Conversion c;
  size_t at = 1;
  if (words[at] == "scalef32") c.is_scaled = true, ++at;
  absl::string_view pack = words[at];
  bool has_pairs = pack == "pk";
  bool has_all = false;
  if (has_pairs) {
    c.count = 2;
    ++at;
  } else if (absl::ConsumePrefix(&pack, "pk") && absl::SimpleAtoi(pack, &c.count)) {
    has_all = true;
    ++at;
  }
  if (words.size() != at + 2) return absl::nullopt;
  c.to = FormatNamed(words[at], name.arch);
  c.from = FormatNamed(words[at + 1], name.arch);
  if (!c.to || !c.from || name.results.size() != 1) return absl::nullopt;
  const int operands = static_cast<int>(name.operands.size());
  const bool narrows = c.to->bits() < c.from->bits();
  if (has_all && c.is_scaled && operands == 2) {
    c.scale = 1;
  } else if (!narrows && operands == (c.is_scaled ? 3 : 2)) {
    if (c.is_scaled) c.scale = 1;
    c.from_index = operands - 1;
  } else if (!narrows && c.is_scaled && operands == 5) {  // cvt.scalef32.f16.fp8
    c.old = 0, c.source = 1, c.scale = 2, c.from_index = 3, c.to_index = 4;
  } else if (!narrows && !c.is_scaled && operands == 1) {
    // All of it.
  } else if (narrows && c.is_scaled && has_pairs && (operands == 4 || operands == 5)) {
    c.old = 0, c.source = 1, c.scale = operands - 2, c.to_index = operands - 1;
    if (operands == 5) c.second = 2;
  } else if (narrows && !c.is_scaled && has_pairs && operands == 4) {
    c.second = 1, c.old = 2, c.to_index = 3;
  } else if (!narrows || c.is_scaled || operands != 1) {
    return absl::nullopt;
  }
  return c;
}

double PowerOf(float scale) { return std::isfinite(scale) && scale != 0 ? std::ldexp(1, std::ilogb(scale)) : scale; }

Fault RunConversion(const AmdName& name, const Conversion& c, const Call& call) {
  const Lane& lane = call.lanes[0];
  const auto in = [&](int operand) { return lane.in[name.operands[operand].first]; };
  const AmdOperand& to = name.results[0];
  if (c.old >= 0)
    for (int i = 0; i < to.count; ++i) lane.out[i] = lane.in[name.operands[c.old].first + i];
  const double scale = c.is_scaled ? PowerOf(FloatOfBits(in(c.scale))) : 1;
  const bool narrows = c.to->bits() < c.from->bits();
  const int from_index = c.from_index < 0 ? 0 : static_cast<int>(in(c.from_index)) * c.count;
  const int to_index = c.to_index < 0 ? 0 : static_cast<int>(in(c.to_index)) * c.count;
  for (int i = 0; i < c.count; ++i) {
    const bool is_second = i == 1 && c.second >= 0;
    const AmdOperand& source = name.operands[is_second ? c.second : c.source];
    const uint64_t bits = GetElement(lane.in, source, is_second ? 0 : from_index + i, c.from->bits());
    const double value = Decode(bits, *c.from);
    SetElement(lane.out, to, to_index + i, c.to->bits(), Encode(narrows ? value / scale : value * scale, *c.to));
  }
  return absl::nullopt;
}

uint64_t Clamped(uint64_t bits, bool is_signed) {
  const int64_t value = is_signed ? static_cast<int32_t>(bits) : static_cast<int64_t>(bits & 0xffffffff);
  const int64_t least = is_signed ? INT16_MIN : 0, most = is_signed ? INT16_MAX : UINT16_MAX;
  return static_cast<uint64_t>(std::min(std::max(value, least), most)) & 0xffff;
}

Fault RunClampedPair(const Call& call, bool is_signed) {
  for (int i : {0, 1}) call.lanes[0].out[i] = Clamped(call.lanes[0].in[i], is_signed);
  return absl::nullopt;
}

// Of f32; f16 has ten bits of mantissa.
Fault RunTowardsZero(const Call& call) {
  for (int i : {0, 1}) call.lanes[0].out[i] = Encode(FloatOfBits(call.lanes[0].in[i]), kF16, Rounding::kZero);
  return absl::nullopt;
}

}  // namespace

Runner FindAmdConversion(const AmdName& name) {
  if (name.name == "cvt.pkrtz") return RunTowardsZero;
  if (name.name == "cvt.pk.i16") return [](const Call& call) { return RunClampedPair(call, true); };
  if (name.name == "cvt.pk.u16") return [](const Call& call) { return RunClampedPair(call, false); };
  const absl::optional<Conversion> conversion = ParseConversion(name);
  if (!conversion) return nullptr;
  return [name, c = *conversion](const Call& call) { return RunConversion(name, c, call); };
}

}  // namespace tritond::workers::emulated
