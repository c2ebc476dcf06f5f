// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp do together without memory (PTX ISA, "Data Movement: shfl.sync" and "Parallel
// Synchronization and Communication Instructions"). All lanes take part: a mask with fewer is a fault.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "workers/device/emulated/ptx_instruction.h"

namespace tritond::workers::emulated {
namespace {

constexpr int kLanes = 32;

// The last operand of all of them.
Fault CheckMask(const PtxName& name, const Call& call, int slot) {
  for (const Lane& lane : call.lanes) {
    if (static_cast<uint32_t>(lane.in[slot]) == 0xffffffffu) continue;
    return absl::StrCat(name.opcode(), " with the member mask 0x", absl::Hex(static_cast<uint32_t>(lane.in[slot])),
                        "; the emulator knows only that of all lanes");
  }
  return absl::nullopt;
}

// in: value, lane or distance, clamp and segments, mask. out: value, whether it came from another lane in range.
Fault RunShuffle(const PtxName& name, const Call& call) {
  if (Fault fault = CheckMask(name, call, 3)) return fault;
  const std::string& mode = name.words[2];
  for (int l = 0; l < kLanes; ++l) {
    const Lane& lane = call.lanes[l];
    const int by = lane.in[1] & 31, clamp = lane.in[2] & 31, segments = lane.in[2] >> 8 & 31;
    const int most = (l & segments) | (clamp & ~segments), least = l & segments;
    int from = 0;
    bool in_range = false;
    if (mode == "up") {
      from = l - by;
      in_range = from >= most;
    } else if (mode == "down") {
      from = l + by;
      in_range = from <= most;
    } else if (mode == "bfly") {
      from = l ^ by;
      in_range = from <= most;
    } else {
      from = least | (by & ~segments);
      in_range = from <= most;
    }
    if (!in_range) from = l;
    lane.out[0] = call.lanes[from].in[0] & 0xffffffffu;
    if (name.slots[0] > 1) lane.out[1] = in_range;
  }
  return absl::nullopt;
}

uint32_t Ballot(const Call& call) {
  uint32_t bits = 0;
  for (int l = 0; l < kLanes; ++l) bits |= (call.lanes[l].in[0] & 1) << l;
  return bits;
}

Fault RunVote(const PtxName& name, const Call& call) {
  if (Fault fault = CheckMask(name, call, 1)) return fault;
  const uint32_t bits = Ballot(call);
  const std::string& mode = name.words[2];
  const uint64_t result = mode == "ballot" ? bits
                          : mode == "all"  ? bits == 0xffffffffu
                          : mode == "any"  ? bits != 0
                                           : bits == 0 || bits == 0xffffffffu;
  for (const Lane& lane : call.lanes) lane.out[0] = result;
  return absl::nullopt;
}

uint32_t Reduce(absl::string_view op, bool is_signed, uint32_t a, uint32_t b) {
  if (op == "add") return a + b;
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  const bool less = is_signed ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
  return less == (op == "min") ? a : b;
}

Fault RunRedux(const PtxName& name, const Call& call) {
  if (Fault fault = CheckMask(name, call, 1)) return fault;
  uint32_t result = static_cast<uint32_t>(call.lanes[0].in[0]);
  for (int l = 1; l < kLanes; ++l)
    result = Reduce(name.words[2], name.last() == "s32", result, static_cast<uint32_t>(call.lanes[l].in[0]));
  for (const Lane& lane : call.lanes) lane.out[0] = result;
  return absl::nullopt;
}

Fault RunMatch(const PtxName& name, const Call& call) {
  if (Fault fault = CheckMask(name, call, 1)) return fault;
  for (const Lane& lane : call.lanes) {
    uint32_t same = 0;
    for (int l = 0; l < kLanes; ++l) same |= uint32_t{call.lanes[l].in[0] == lane.in[0]} << l;
    const bool all = same == 0xffffffffu;
    lane.out[0] = name.words[1] == "any" ? same : all ? same : 0;
    if (name.slots[0] > 1) lane.out[1] = all;
  }
  return absl::nullopt;
}

Fault RunElect(const PtxName& name, const Call& call) {
  if (Fault fault = CheckMask(name, call, 0)) return fault;
  for (int l = 0; l < kLanes; ++l) {
    call.lanes[l].out[0] = 0;
    if (name.slots[0] > 1) call.lanes[l].out[1] = l == 0;
  }
  return absl::nullopt;
}

Fault RunActive(const PtxName&, const Call& call) {
  for (const Lane& lane : call.lanes) lane.out[0] = 0xffffffffu;
  return absl::nullopt;
}

bool IsOneOf(absl::string_view word, std::initializer_list<absl::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

Runner FindWarp(const PtxName& name) {
  const size_t words = name.words.size();
  const auto with = [&](Fault (*run)(const PtxName&, const Call&)) -> Runner {
    return [name, run](const Call& call) -> Fault {
      if (call.lanes.size() != kLanes) return absl::StrCat(name.opcode(), " needs a warp of 32 lanes");
      return run(name, call);
    };
  };
  if (name.opcode() == "shfl" && words == 4 && IsOneOf(name.words[2], {"up", "down", "bfly", "idx"}))
    return with(RunShuffle);
  if (name.opcode() == "vote" && words == 4 && IsOneOf(name.words[2], {"ballot", "all", "any", "uni"}))
    return with(RunVote);
  if (name.opcode() == "redux" && words == 4 && ParsePtxType(name.last()).bits == 32 &&
      ParsePtxType(name.last()).kind != 'f')
    return with(RunRedux);
  if (name.opcode() == "match" && words == 4) return with(RunMatch);
  if (name.opcode() == "elect" && words == 2) return with(RunElect);
  if (name.opcode() == "activemask") return with(RunActive);
  return nullptr;
}

}  // namespace tritond::workers::emulated
