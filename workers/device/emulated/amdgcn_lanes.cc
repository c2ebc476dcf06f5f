// SPDX-License-Identifier: Apache-2.0
// What lanes of a wave give each other (CDNA3, RDNA3 and RDNA4 ISA: "DPP", "DS_PERMUTE_B32", "V_PERMLANE16_B32", …).
// l is a lane; rows are of 16 lanes.
//
//   update.dpp         by its control: quad_perm 0x00-0xff; row_shl 0x101: from l + n; row_shr 0x111: from l - n;
//   row_ror
//                      0x121; wave_shl, rol, shr, ror by one 0x130, 0x134, 0x138, 0x13c; mirror 0x140; half mirror
//                      0x141; bcast15, bcast31 0x142, 0x143; row_share 0x150; row_xmask 0x160. Without a source lane
//                      the result is `old`, or 0 with bound_ctrl; `old` where row_mask or bank_mask is off
//   permlane16         from the same row, permlanex16: from the other row of a pair, by a selector of 16 nibbles
//   permlane32.swap    the upper half of the first register and the lower one of the second change places;
//   permlane16.swap    the odd rows of the first and the even ones of the second
//   ds.bpermute        from lane address / 4; ds.permute: to it, the highest lane wins; lanes that are off give 0
//   ds.swizzle         quads, or in 32 lanes (l and a) or o xor x
#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "workers/device/emulated/amdgcn_instruction.h"

namespace tritond::workers::emulated {
namespace {

constexpr int kNone = -1, kUnknown = -2;

bool IsOn(const Lane& lane) { return lane.in != nullptr; }

// A move between lanes: from which lane the results of `l` come; kNone: from nowhere.
struct Wave {
  const AmdName& name;
  const Call& call;

  int lanes() const { return static_cast<int>(call.lanes.size()); }
  uint64_t In(int l, int operand) const { return call.lanes[l].in[name.operands[operand].first]; }
  int FirstOn() const {
    for (int l = 0; l < lanes(); ++l)
      if (IsOn(call.lanes[l])) return l;
    return 0;
  }
  // The result of lane `l` becomes operand `operand` of lane `from`.
  void Copy(int l, int from, int operand) const {
    const AmdOperand& source = name.operands[operand];
    for (int i = 0; i < name.results[0].count; ++i) call.lanes[l].out[i] = call.lanes[from].in[source.first + i];
  }
  void Set(int l, uint64_t value) const {
    for (int i = 0; i < name.results[0].count; ++i) call.lanes[l].out[i] = value;
  }
};

int SourceOfDpp(int control, int l, int lanes) {
  const int row = l / 16 * 16, at = l % 16, by = control & 15;
  if (control <= 0xff) return l / 4 * 4 + (control >> (2 * (l % 4)) & 3);
  if (control >= 0x101 && control <= 0x10f) return at + by < 16 ? row + at + by : kNone;
  if (control >= 0x111 && control <= 0x11f) return at >= by ? row + at - by : kNone;
  if (control >= 0x121 && control <= 0x12f) return row + (at - by + 16) % 16;
  if (control == 0x130) return l + 1 < lanes ? l + 1 : kNone;
  if (control == 0x134) return (l + 1) % lanes;
  if (control == 0x138) return l - 1;
  if (control == 0x13c) return (l + lanes - 1) % lanes;
  if (control == 0x140) return row + 15 - at;
  if (control == 0x141) return l / 8 * 8 + 7 - l % 8;
  if (control == 0x142) return row >= 16 ? row - 1 : kNone;
  if (control == 0x143) return l >= 32 ? 31 : kNone;
  if (control >= 0x150 && control <= 0x15f) return row + by;
  if (control >= 0x160 && control <= 0x16f) return row + (at ^ by);
  return kUnknown;
}

// Broadcasts over rows and shifts of whole waves are of generation 9 alone, exchanges by masks of later ones.
bool HasControl(const AmdName& name, int control) {
  const bool is_old = (control >= 0x130 && control <= 0x13f) || control == 0x142 || control == 0x143;
  const bool is_late = control >= 0x160;
  return name.IsGeneration(9) ? !is_late : !is_old;
}

// old, value, control, row_mask, bank_mask, bound_ctrl; mov.dpp has no `old`.
Fault RunDpp(const Wave& wave, bool has_old) {
  const int value = has_old ? 1 : 0;
  const int first = wave.FirstOn();
  const int control = static_cast<int>(wave.In(first, value + 1) & 0xfff);
  if (!HasControl(wave.name, control)) return absl::StrCat("unknown DPP control 0x", absl::Hex(control));
  for (int l = 0; l < wave.lanes(); ++l) {
    if (!IsOn(wave.call.lanes[l])) continue;
    const int source = SourceOfDpp(control, l, wave.lanes());
    if (source == kUnknown) return absl::StrCat("unknown DPP control 0x", absl::Hex(control));
    const bool is_on = (wave.In(l, value + 2) >> (l / 16 % 4) & 1) && (wave.In(l, value + 3) >> (l % 16 / 4) & 1);
    const bool is_valid = source >= 0 && IsOn(wave.call.lanes[source]);
    if (is_on && is_valid) {
      wave.Copy(l, source, value);
    } else if (is_on && (wave.In(l, value + 4) & 1)) {
      wave.Set(l, 0);
    } else if (has_old) {
      wave.Copy(l, l, 0);
    } else {
      wave.Set(l, 0x7f7f7f7f);
    }
  }
  return absl::nullopt;
}

// Eight lanes, each with three bits of the selector.
Fault RunDpp8(const Wave& wave) {
  for (int l = 0; l < wave.lanes(); ++l) {
    if (!IsOn(wave.call.lanes[l])) continue;
    const int from = l / 8 * 8 + static_cast<int>(wave.In(l, 1) >> (3 * (l % 8)) & 7);
    IsOn(wave.call.lanes[from]) ? wave.Copy(l, from, 0) : wave.Set(l, 0);
  }
  return absl::nullopt;
}

// old, value, selector (two words; with `var` one of each lane's own), fi, bound_ctrl
Fault RunPermLane(const Wave& wave, int other_row, bool is_var) {
  for (int l = 0; l < wave.lanes(); ++l) {
    if (!IsOn(wave.call.lanes[l])) continue;
    const uint64_t selector = is_var ? wave.In(l, 2) : (wave.In(l, 2) & 0xffffffff) | wave.In(l, 3) << 32;
    const int nibble = static_cast<int>(is_var ? selector & 15 : selector >> (4 * (l % 16)) & 15);
    const int from = (l / 16 * 16 ^ other_row) + nibble;
    if (IsOn(wave.call.lanes[from])) {
      wave.Copy(l, from, 1);
    } else if (wave.In(l, static_cast<int>(wave.name.operands.size()) - 1) & 1) {
      wave.Set(l, 0);
    } else {
      wave.Copy(l, l, 0);
    }
  }
  return absl::nullopt;
}

// first, second; results: both, after halves (or rows) have changed places.
Fault RunSwap(const Wave& wave, int size) {
  for (int l = 0; l < wave.lanes(); ++l)
    if (!IsOn(wave.call.lanes[l])) return absl::StrCat("lane ", l, " does not take part");
  for (int l = 0; l < wave.lanes(); ++l) {
    const bool is_upper = l & size;
    const Lane& lane = wave.call.lanes[l];
    lane.out[0] = is_upper ? wave.In(l ^ size, 1) : lane.in[0];
    lane.out[1] = is_upper ? lane.in[1] : wave.In(l ^ size, 0);
  }
  return absl::nullopt;
}

// address, value
Fault RunBpermute(const Wave& wave) {
  for (int l = 0; l < wave.lanes(); ++l) {
    if (!IsOn(wave.call.lanes[l])) continue;
    const int from = static_cast<int>(wave.In(l, 0) / 4 % wave.lanes());
    IsOn(wave.call.lanes[from]) ? wave.Copy(l, from, 1) : wave.Set(l, 0);
  }
  return absl::nullopt;
}

Fault RunPermute(const Wave& wave) {
  for (int l = 0; l < wave.lanes(); ++l)
    if (IsOn(wave.call.lanes[l])) wave.Set(l, 0);
  for (int l = 0; l < wave.lanes(); ++l) {
    if (!IsOn(wave.call.lanes[l])) continue;
    const int to = static_cast<int>(wave.In(l, 0) / 4 % wave.lanes());
    if (IsOn(wave.call.lanes[to])) wave.Copy(to, l, 1);
  }
  return absl::nullopt;
}

// value, pattern
Fault RunSwizzle(const Wave& wave) {
  const int pattern = static_cast<int>(wave.In(wave.FirstOn(), 1) & 0xffff);
  if (pattern >= 0xc000) return absl::StrCat("the emulator has no swizzle 0x", absl::Hex(pattern));
  for (int l = 0; l < wave.lanes(); ++l) {
    if (!IsOn(wave.call.lanes[l])) continue;
    int from = l / 4 * 4 + (pattern >> (2 * (l % 4)) & 3);
    if (pattern < 0x8000) {
      const int in_half = l % 32, masked = (in_half & pattern & 31) | (pattern >> 5 & 31);
      from = l / 32 * 32 + (masked ^ (pattern >> 10 & 31));
    }
    IsOn(wave.call.lanes[from]) ? wave.Copy(l, from, 0) : wave.Set(l, 0);
  }
  return absl::nullopt;
}

// All lanes get what one has.
Fault Broadcast(const Wave& wave, int from) {
  if (!IsOn(wave.call.lanes[from])) return absl::StrCat("it reads lane ", from, ", which does not take part");
  for (int l = 0; l < wave.lanes(); ++l)
    if (IsOn(wave.call.lanes[l])) wave.Copy(l, from, 0);
  return absl::nullopt;
}

// value, lane
Fault RunReadLane(const Wave& wave) {
  const int first = wave.FirstOn();
  const uint64_t from = wave.In(first, 1);
  for (int l = 0; l < wave.lanes(); ++l)
    if (IsOn(wave.call.lanes[l]) && wave.In(l, 1) != from)
      return absl::StrCat("lanes ", first, " and ", l, " name different lanes");
  return Broadcast(wave, static_cast<int>(from % wave.lanes()));
}

// value, lane, old
Fault RunWriteLane(const Wave& wave) {
  for (int l = 0; l < wave.lanes(); ++l)
    if (IsOn(wave.call.lanes[l])) wave.Copy(l, l, wave.In(l, 1) % wave.lanes() == static_cast<uint64_t>(l) ? 0 : 2);
  return absl::nullopt;
}

// A bit of each lane; a result of 32 bits is for waves of at most as many lanes.
Fault RunBallot(const Wave& wave) {
  if (wave.name.results[0].bits < wave.lanes())
    return absl::StrCat("its result has no bits for ", wave.lanes(), " lanes");
  uint64_t bits = 0;
  for (int l = 0; l < wave.lanes(); ++l)
    if (IsOn(wave.call.lanes[l])) bits |= (wave.In(l, 0) & 1) << l;
  for (int l = 0; l < wave.lanes(); ++l)
    if (IsOn(wave.call.lanes[l])) wave.Set(l, bits);
  return absl::nullopt;
}

Fault RunInverseBallot(const Wave& wave) {
  for (int l = 0; l < wave.lanes(); ++l)
    if (IsOn(wave.call.lanes[l])) wave.Set(l, wave.In(l, 0) >> l & 1);
  return absl::nullopt;
}

// The halves of a wave of 64 change places.
Fault RunPermLane64(const Wave& wave) {
  for (int l = 0; l < wave.lanes(); ++l) {
    if (!IsOn(wave.call.lanes[l])) continue;
    const int from = wave.lanes() == 64 ? l ^ 32 : l;
    IsOn(wave.call.lanes[from]) ? wave.Copy(l, from, 0) : wave.Set(l, 0);
  }
  return absl::nullopt;
}

// value, lane: any lane from any other.
Fault RunShuffle(const Wave& wave) {
  for (int l = 0; l < wave.lanes(); ++l) {
    if (!IsOn(wave.call.lanes[l])) continue;
    const int from = static_cast<int>(wave.In(l, 1) % wave.lanes());
    if (!IsOn(wave.call.lanes[from])) return absl::StrCat("it reads lane ", from, ", which does not take part");
    wave.Copy(l, from, 0);
  }
  return absl::nullopt;
}

using Exchange = Fault (*)(const Wave& wave);

struct Row {
  const char* name;
  size_t operands;
  Exchange run;
};

constexpr Row kRows[] = {
    {"update.dpp", 6, [](const Wave& w) { return RunDpp(w, true); }},
    {"mov.dpp", 5, [](const Wave& w) { return RunDpp(w, false); }},
    {"mov.dpp8", 2, RunDpp8},
    {"permlane16", 6, [](const Wave& w) { return RunPermLane(w, 0, false); }},
    {"permlanex16", 6, [](const Wave& w) { return RunPermLane(w, 16, false); }},
    {"permlane16.var", 5, [](const Wave& w) { return RunPermLane(w, 0, true); }},
    {"permlanex16.var", 5, [](const Wave& w) { return RunPermLane(w, 16, true); }},
    {"permlane16.swap", 4, [](const Wave& w) { return RunSwap(w, 16); }},
    {"permlane32.swap", 4, [](const Wave& w) { return RunSwap(w, 32); }},
    {"permlane64", 1, RunPermLane64},
    {"ds.bpermute", 2, RunBpermute},
    {"ds.permute", 2, RunPermute},
    {"ds.swizzle", 2, RunSwizzle},
    {"wave.shuffle", 2, RunShuffle},
    {"readfirstlane", 1, [](const Wave& w) { return Broadcast(w, w.FirstOn()); }},
    {"readlane", 2, RunReadLane},
    {"writelane", 3, RunWriteLane},
    {"ballot", 1, RunBallot},
    {"inverse.ballot", 1, RunInverseBallot},
};

int64_t Signed(uint64_t value, int bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }

uint64_t Reduce(absl::string_view op, uint64_t x, uint64_t y, int bits) {
  if (op == "add") return x + y;
  if (op == "sub") return x - y;
  if (op == "and") return x & y;
  if (op == "or") return x | y;
  if (op == "xor") return x ^ y;
  if (op == "umin") return std::min(x, y);
  if (op == "umax") return std::max(x, y);
  if (op == "min") return Signed(x, bits) < Signed(y, bits) ? x : y;
  if (op == "max") return Signed(x, bits) > Signed(y, bits) ? x : y;
  const double a = bits == 64 ? DoubleOfBits(x) : FloatOfBits(x), b = bits == 64 ? DoubleOfBits(y) : FloatOfBits(y);
  const double r = op == "fadd" ? a + b : op == "fsub" ? a - b : op == "fmin" ? std::fmin(a, b) : std::fmax(a, b);
  return bits == 64 ? BitsOfDouble(r) : BitsOfFloat(static_cast<float>(r));
}

// value, strategy. What "sub" and "fsub" begin with is zero.
Fault RunReduce(const Wave& wave, const std::string& op) {
  const int bits = wave.name.operands[0].bits;
  const bool from_zero = op == "sub" || op == "fsub";
  uint64_t total = 0;
  bool is_first = !from_zero;
  for (int l = 0; l < wave.lanes(); ++l) {
    if (!IsOn(wave.call.lanes[l])) continue;
    total = is_first ? wave.In(l, 0) : Reduce(op, total, wave.In(l, 0), bits);
    is_first = false;
  }
  if (bits < 64) total &= (uint64_t{1} << bits) - 1;
  for (int l = 0; l < wave.lanes(); ++l)
    if (IsOn(wave.call.lanes[l])) wave.Set(l, total);
  return absl::nullopt;
}

bool IsReduction(absl::string_view op) {
  for (const char* known :
       {"umin", "fmin", "min", "umax", "fmax", "max", "add", "fadd", "sub", "fsub", "and", "or", "xor"})
    if (op == known) return true;
  return false;
}

}  // namespace

Runner FindAmdExchange(const AmdName& name) {
  if (name.results.empty()) return nullptr;
  for (const Row& row : kRows) {
    if (name.name != row.name || name.operands.size() != row.operands) continue;
    return [name, run = row.run](const Call& call) { return run({name, call}); };
  }
  absl::string_view op = name.name;
  if (!absl::ConsumePrefix(&op, "wave.reduce.") || !IsReduction(op) || name.operands.size() != 2) return nullptr;
  return [name, op = std::string(op)](const Call& call) { return RunReduce({name, call}, op); };
}

}  // namespace tritond::workers::emulated
