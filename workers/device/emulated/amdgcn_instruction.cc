// SPDX-License-Identifier: Apache-2.0
// AMD's instructions, by the names of LLVM's intrinsics for them. l is a lane of a wave of 32 or 64, j an element of an
// operand, r one of the result; KB the elements that a lane holds of a row.
//
//   mfma 32x32xK       A: row l mod 32, column KB (l / 32) + j; B the same with its column; D: column l mod 32, row
//                      8 (r / 4) + 4 (l / 32) + r mod 4
//   wmma 16x16x16      gfx11, 16 elements: A row and B column l mod 16, k = j; D: column l mod 16, row 2 r + l / 16
//                      gfx12, 8 elements: k = 8 (l / 16) + j; D: column l mod 16, row 8 (l / 16) + r
//   ds.read.tr16.b64   of 16 lanes: element j of lane l is element l mod 4 that lane 4 j + l / 4 has read
//   update.dpp         a permutation of rows of 16 lanes; what has no source is `old`, or 0 with bound_ctrl
//   permlanex16        from the other row of a pair, by a selector of 16 nibbles
#include "workers/device/emulated/amdgcn_instruction.h"

#include <cmath>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "workers/device/emulated/narrow_float.h"

namespace tritond::workers::emulated {
namespace {

float FloatOfSlot(uint64_t slot) {
  float value;
  std::memcpy(&value, &slot, sizeof(value));
  return value;
}

uint64_t SlotOfFloat(double value) {
  const float narrow = static_cast<float>(value);
  uint32_t slot;
  std::memcpy(&slot, &narrow, sizeof(slot));
  return slot;
}

// Where an instruction finds and puts its elements.
struct Product {
  int m, n, k;
  int per_lane;  // elements of A and B in a lane
  int results;   // of D
  int waves;     // lanes that it is for; 0: any
  const FloatFormat* format;
  void (*operand)(int lane, int j, int per_lane, int* row, int* k);
  void (*result)(int lane, int r, int* row, int* column);
};

void OperandOfMfma32(int lane, int j, int per_lane, int* row, int* k) {
  *row = lane % 32;
  *k = per_lane * (lane / 32) + j;
}
void ResultOfMfma32(int lane, int r, int* row, int* column) {
  *row = 8 * (r / 4) + 4 * (lane / 32) + r % 4;
  *column = lane % 32;
}
void OperandOfWmma11(int lane, int j, int, int* row, int* k) {
  *row = lane % 16;
  *k = j;
}
void ResultOfWmma11(int lane, int r, int* row, int* column) {
  *row = 2 * r + lane / 16;
  *column = lane % 16;
}
void OperandOfWmma12(int lane, int j, int per_lane, int* row, int* k) {
  *row = lane % 16;
  *k = per_lane * (lane / 16) + j;
}
void ResultOfWmma12(int lane, int r, int* row, int* column) {
  *row = 8 * (lane / 16) + r;
  *column = lane % 16;
}

struct NamedProduct {
  const char* name;
  Product product;
};

constexpr NamedProduct kProducts[] = {
    {"mfma.f32.32x32x8f16", {32, 32, 8, 4, 16, 64, &kF16, OperandOfMfma32, ResultOfMfma32}},
    {"mfma.f32.32x32x8bf16.1k", {32, 32, 8, 4, 16, 64, &kBf16, OperandOfMfma32, ResultOfMfma32}},
    {"mfma.f32.32x32x16.f16", {32, 32, 16, 8, 16, 64, &kF16, OperandOfMfma32, ResultOfMfma32}},
    {"mfma.f32.32x32x16.bf16", {32, 32, 16, 8, 16, 64, &kBf16, OperandOfMfma32, ResultOfMfma32}},
    {"wmma.f32.16x16x16.f16.v8f32.v16f16", {16, 16, 16, 16, 8, 32, &kF16, OperandOfWmma11, ResultOfWmma11}},
    {"wmma.f32.16x16x16.bf16.v8f32.v16i16", {16, 16, 16, 16, 8, 32, &kBf16, OperandOfWmma11, ResultOfWmma11}},
    {"wmma.f32.16x16x16.f16.v8f32.v8f16", {16, 16, 16, 8, 8, 32, &kF16, OperandOfWmma12, ResultOfWmma12}},
    {"wmma.f32.16x16x16.bf16.v8f32.v8i16", {16, 16, 16, 8, 8, 32, &kBf16, OperandOfWmma12, ResultOfWmma12}},
};

// in: A, B (an element a slot), then C; out: D.
Fault RunProduct(const Product& p, const Call& call) {
  if (static_cast<int>(call.lanes.size()) != p.waves)
    return absl::StrCat("it is for waves of ", p.waves, " lanes, not of ", call.lanes.size());
  std::vector<double> a(p.m * p.k), b(p.n * p.k);
  for (size_t l = 0; l < call.lanes.size(); ++l) {
    for (int j = 0; j < p.per_lane; ++j) {
      int row, k;
      p.operand(static_cast<int>(l), j, p.per_lane, &row, &k);
      a[row * p.k + k] = Decode(call.lanes[l].in[j] & 0xffff, *p.format);
      b[row * p.k + k] = Decode(call.lanes[l].in[p.per_lane + j] & 0xffff, *p.format);
    }
  }
  for (size_t l = 0; l < call.lanes.size(); ++l) {
    for (int r = 0; r < p.results; ++r) {
      int row, column;
      p.result(static_cast<int>(l), r, &row, &column);
      double sum = FloatOfSlot(call.lanes[l].in[2 * p.per_lane + r]);
      for (int k = 0; k < p.k; ++k) sum += a[row * p.k + k] * b[column * p.k + k];
      call.lanes[l].out[r] = SlotOfFloat(sum);
    }
  }
  return absl::nullopt;
}

// in: an address; out: four elements of 16 bits.
Fault RunTransposedRead(const Call& call) {
  std::vector<uint64_t> read;
  for (const Lane& lane : call.lanes) {
    Fault fault;
    const char* at = call.machine.AccessShared(lane.thread, call.site, lane.in[0], 8, TRITOND_HOST_READ, &fault);
    if (fault) return fault;
    read.emplace_back();
    std::memcpy(&read.back(), at, 8);
  }
  for (size_t l = 0; l < call.lanes.size(); ++l) {
    const size_t group = l / 16 * 16, in_group = l % 16;
    for (size_t j = 0; j < 4; ++j)
      call.lanes[l].out[j] = read[group + 4 * j + in_group / 4] >> (16 * (in_group % 4)) & 0xffff;
  }
  return absl::nullopt;
}

// The lane that a DPP control names for lane `l`; -1: none.
int SourceOfDpp(int control, int l) {
  const int row = l / 16 * 16, at = l % 16, by = control & 15;
  if (control <= 0xff) return l / 4 * 4 + (control >> (2 * (l % 4)) & 3);
  if (control >= 0x101 && control <= 0x10f) return at + by < 16 ? row + at + by : -1;
  if (control >= 0x111 && control <= 0x11f) return at >= by ? row + at - by : -1;
  if (control >= 0x121 && control <= 0x12f) return row + (at - by + 16) % 16;
  if (control == 0x140) return row + 15 - at;
  if (control == 0x141) return l / 8 * 8 + 7 - l % 8;
  if (control == 0x142) return row >= 16 ? row - 1 : -1;
  if (control == 0x143) return l >= 32 ? 31 : -1;
  if (control >= 0x150 && control <= 0x15f) return row + by;
  if (control >= 0x160 && control <= 0x16f) return row + (at ^ by);
  return -2;
}

// in: old, value, control, row_mask, bank_mask, bound_ctrl
Fault RunDpp(const Call& call) {
  for (size_t l = 0; l < call.lanes.size(); ++l) {
    const Lane& lane = call.lanes[l];
    const int control = static_cast<int>(lane.in[2] & 0xfff), source = SourceOfDpp(control, static_cast<int>(l));
    if (source == -2) return absl::StrCat("unknown DPP control 0x", absl::Hex(control));
    const bool is_on = (lane.in[3] >> (l / 16 % 4) & 1) && (lane.in[4] >> (l % 16 / 4) & 1);
    if (!is_on) {
      lane.out[0] = lane.in[0];
    } else if (source < 0) {
      lane.out[0] = lane.in[5] & 1 ? 0 : lane.in[0];
    } else {
      lane.out[0] = call.lanes[source].in[1];
    }
  }
  return absl::nullopt;
}

// in: old, value, selector (low), selector (high), fi, bound_ctrl
Fault RunPermLaneX16(const Call& call) {
  for (size_t l = 0; l < call.lanes.size(); ++l) {
    const Lane& lane = call.lanes[l];
    const uint64_t selector = (lane.in[2] & 0xffffffff) | lane.in[3] << 32;
    const size_t from = (l / 16 * 16 ^ 16) + (selector >> (4 * (l % 16)) & 15);
    lane.out[0] = call.lanes[from].in[1];
  }
  return absl::nullopt;
}

// in: a byte address in lanes, value
Fault RunBpermute(const Call& call) {
  for (const Lane& lane : call.lanes) lane.out[0] = call.lanes[lane.in[0] / 4 % call.lanes.size()].in[1];
  return absl::nullopt;
}

Fault RunFirstLane(const Call& call) {
  for (const Lane& lane : call.lanes) lane.out[0] = call.lanes[0].in[0];
  return absl::nullopt;
}

// in: a predicate; out: a bit for each lane.
Fault RunBallot(const Call& call) {
  uint64_t bits = 0;
  for (size_t l = 0; l < call.lanes.size(); ++l) bits |= (call.lanes[l].in[0] & 1) << l;
  for (const Lane& lane : call.lanes) lane.out[0] = bits;
  return absl::nullopt;
}

// in: base, records, offset, then words to store; out: the words. Each word is in range or not by itself.
Runner Buffer(int words, bool stores) {
  return [words, stores](const Call& call) -> Fault {
    const Lane& lane = call.lanes[0];
    for (int i = 0; i < words; ++i) {
      const uint64_t offset = (lane.in[2] & 0xffffffff) + 4 * i;
      const bool is_in = offset + 4 <= (lane.in[1] & 0xffffffff);
      if (!stores) lane.out[i] = 0;
      if (!is_in) continue;
      char* at = reinterpret_cast<char*>(lane.in[0] + offset);
      if (stores)
        std::memcpy(at, &lane.in[3 + i], 4);
      else
        std::memcpy(&lane.out[i], at, 4);
    }
    return absl::nullopt;
  };
}

}  // namespace

absl::StatusOr<Instruction> FindAmdgcn(absl::string_view name) {
  const absl::string_view plain = name.substr(0, name.find(' '));
  for (const NamedProduct& row : kProducts)
    if (plain == row.name)
      return Instruction{true, false, [p = row.product](const Call& call) { return RunProduct(p, call); }};
  if (absl::StartsWith(plain, "ds.read.tr16.b64")) return Instruction{true, false, RunTransposedRead};
  if (plain == "update.dpp") return Instruction{true, false, RunDpp};
  if (plain == "permlanex16") return Instruction{true, false, RunPermLaneX16};
  if (plain == "ds.bpermute") return Instruction{true, false, RunBpermute};
  if (plain == "readfirstlane") return Instruction{true, false, RunFirstLane};
  if (plain == "ballot") return Instruction{true, false, RunBallot};
  for (int words : {1, 2, 4}) {
    const std::string type = words == 1 ? "i32" : absl::StrCat("v", words, "i32");
    if (plain == absl::StrCat("raw.ptr.buffer.load.", type)) return Instruction{false, false, Buffer(words, false)};
    if (plain == absl::StrCat("raw.ptr.buffer.store.", type)) return Instruction{false, false, Buffer(words, true)};
  }
  return absl::InvalidArgumentError(absl::StrCat("the emulator has no AMD instruction ", plain));
}

}  // namespace tritond::workers::emulated
