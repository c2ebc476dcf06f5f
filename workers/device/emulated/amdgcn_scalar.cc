// SPDX-License-Identifier: Apache-2.0
// Arithmetic on words and their parts, of one lane (CDNA3 and RDNA3 ISA, "VOP3", "VOP3P"; LLVM, IntrinsicsAMDGPU).
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "timing/steady/steady_time.h"
#include "workers/device/emulated/amdgcn_instruction.h"

namespace tritond::workers::emulated {
namespace {

int64_t Signed(uint64_t value, int bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }
uint64_t Unsigned(uint64_t value, int bits) { return value << (64 - bits) >> (64 - bits); }

// A field of `width` bits (5 count) from `offset`.
uint64_t Field(const uint64_t* in, bool is_signed, int bits) {
  const int mask = bits - 1, offset = static_cast<int>(in[1]) & mask, width = static_cast<int>(in[2]) & mask;
  if (width == 0) return 0;
  const uint64_t value = Unsigned(in[0], bits) >> offset;
  const int have = std::min(width, bits - offset);
  return is_signed ? static_cast<uint64_t>(Signed(value, have)) : Unsigned(value, have);
}

// v_perm_b32: bytes 0 to 3 of the second operand, 4 to 7 of the first; 8 to 11 their signs, 12 zero, above 255.
uint64_t Permuted(const uint64_t* in) {
  const uint64_t bytes = (in[1] & 0xffffffff) | in[0] << 32;
  uint64_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint64_t code = in[2] >> (8 * i) & 0xff;
    uint64_t byte = 0xff;
    if (code < 8) byte = bytes >> (8 * code) & 0xff;
    if (code >= 8 && code < 12) byte = bytes >> (16 * (code - 8) + 15) & 1 ? 0xff : 0;
    if (code == 12) byte = 0;
    result |= byte << (8 * i);
  }
  return result;
}

uint64_t LeadingSigns(uint64_t value, int bits) {
  for (int i = 1; i < bits; ++i)
    if ((value >> (bits - 1 - i) & 1) != (value >> (bits - 1) & 1)) return i;
  return ~uint64_t{0};
}

using OfWords = uint64_t (*)(const uint64_t* in, int bits);
struct WordRow {
  const char* name;
  size_t operands;
  OfWords f;
};
constexpr WordRow kOfWords[] = {
    {"mul.i24", 2, [](const uint64_t* in, int) { return uint64_t(Signed(in[0], 24) * Signed(in[1], 24)); }},
    {"mul.u24", 2, [](const uint64_t* in, int) { return Unsigned(in[0], 24) * Unsigned(in[1], 24); }},
    {"mulhi.i24", 2, [](const uint64_t* in, int) { return uint64_t(Signed(in[0], 24) * Signed(in[1], 24) >> 32); }},
    {"mulhi.u24", 2, [](const uint64_t* in, int) { return Unsigned(in[0], 24) * Unsigned(in[1], 24) >> 32; }},
    {"ubfe", 3, [](const uint64_t* in, int bits) { return Field(in, false, bits); }},
    {"sbfe", 3, [](const uint64_t* in, int bits) { return Field(in, true, bits); }},
    {"perm", 3, [](const uint64_t* in, int) { return Permuted(in); }},
    {"alignbyte", 3,
     [](const uint64_t* in, int) { return ((in[1] & 0xffffffff) | in[0] << 32) >> (8 * (in[2] & 3)) & 0xffffffff; }},
    {"sffbh", 1, [](const uint64_t* in, int bits) { return LeadingSigns(in[0], bits); }},
    {"s.getreg", 1, [](const uint64_t*, int) { return uint64_t{0}; }},
};

// Sums of products of the parts of two words, and a third operand; the last one clamps.
struct Dot {
  int a = 0, b = 1, c = 2, bits = 0;
  bool is_signed_a = true, is_signed_b = true;
  bool tells_signs = false;  // operands 0 and 2 do
  const FloatFormat* format_a = nullptr;
  const FloatFormat* format_b = nullptr;
};

absl::optional<Dot> ParseDot(const AmdName& name) {
  const std::string& n = name.name;
  const auto fp8 = [&](const std::string& word) { return word == "fp8" ? &Fp8Of(name.arch) : &Bf8Of(name.arch); };
  Dot dot;
  if (absl::StartsWith(n, "fdot2")) {
    dot.bits = 16;
    dot.format_a = dot.format_b = absl::StrContains(n, "bf16") ? &kBf16 : &kF16;
    return dot;
  }
  if (absl::StartsWith(n, "dot4.f32.")) {
    const std::vector<std::string> words = name.Words();
    dot.bits = 8, dot.format_a = fp8(words[2]), dot.format_b = fp8(words.back());
    return dot;
  }
  for (int parts : {2, 4, 8}) {
    dot.bits = 32 / parts;
    if (n == absl::StrCat("sdot", parts)) return dot;
    dot.is_signed_a = dot.is_signed_b = false;
    if (n == absl::StrCat("udot", parts)) return dot;
    dot.tells_signs = true, dot.a = 1, dot.b = 3, dot.c = 4;
    if (n == absl::StrCat("sudot", parts)) return dot;
    dot = Dot();
  }
  return absl::nullopt;
}

Fault RunFloatDot(const AmdName& name, const Dot& dot, const Call& call) {
  const Lane& lane = call.lanes[0];
  const AmdOperand& a = name.operands[dot.a];
  double sum = AmdFloatOf(lane.in[name.operands[dot.c].first], name.operands[dot.c]);
  for (int i = 0; i < a.total_bits() / dot.bits; ++i)
    sum += Decode(GetElement(lane.in, a, i, dot.bits), *dot.format_a) *
           Decode(GetElement(lane.in, name.operands[dot.b], i, dot.bits), *dot.format_b);
  lane.out[0] = AmdBitsOf(sum, name.results[0]);
  return absl::nullopt;
}

Fault RunIntegerDot(const AmdName& name, const Dot& dot, const Call& call) {
  const Lane& lane = call.lanes[0];
  const bool sign_a = dot.tells_signs ? lane.in[0] & 1 : dot.is_signed_a;
  const bool sign_b = dot.tells_signs ? lane.in[name.operands[2].first] & 1 : dot.is_signed_b;
  const bool is_signed = dot.tells_signs || dot.is_signed_a;
  const auto part = [&](int operand, int i, bool has_sign) {
    const uint64_t bits = GetElement(lane.in, name.operands[operand], i, dot.bits);
    return has_sign ? Signed(bits, dot.bits) : static_cast<int64_t>(bits);
  };
  const uint64_t c = lane.in[name.operands[dot.c].first];
  int64_t sum = is_signed ? Signed(c, 32) : static_cast<int64_t>(Unsigned(c, 32));
  for (int i = 0; i < 32 / dot.bits; ++i) sum += part(dot.a, i, sign_a) * part(dot.b, i, sign_b);
  const bool clamps = lane.in[name.operands.back().first] & 1;
  if (clamps)
    sum = is_signed ? std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX)
                    : std::min<int64_t>(sum, UINT32_MAX);
  lane.out[0] = static_cast<uint64_t>(sum) & 0xffffffff;
  return absl::nullopt;
}

Runner FindDot(const AmdName& name) {
  const absl::optional<Dot> dot = ParseDot(name);
  if (!dot || static_cast<int>(name.operands.size()) <= dot->c || name.results.size() != 1) return nullptr;
  if (dot->format_a) return [name, d = *dot](const Call& call) { return RunFloatDot(name, d, call); };
  return [name, d = *dot](const Call& call) { return RunIntegerDot(name, d, call); };
}

// Nanoseconds.
Fault RunClock(const Call& call) {
  call.lanes[0].out[0] = static_cast<uint64_t>(absl::ToUnixNanos(timing::SteadyNow()));
  return absl::nullopt;
}

}  // namespace

Runner FindAmdScalar(const AmdName& name) {
  if (Runner run = FindDot(name)) return run;
  const AmdOperand type = name.results.empty() ? AmdOperand() : name.results[0];
  for (const WordRow& row : kOfWords)
    if (name.name == row.name && name.operands.size() == row.operands)
      return [type, f = row.f](const Call& call) -> Fault {
        call.lanes[0].out[0] = f(call.lanes[0].in, type.bits);
        return absl::nullopt;
      };
  if (name.name == "s.memtime" || name.name == "s.memrealtime") return RunClock;
  return nullptr;
}

}  // namespace tritond::workers::emulated
