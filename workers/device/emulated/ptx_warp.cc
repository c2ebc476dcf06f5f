// SPDX-License-Identifier: Apache-2.0
// What lanes of a warp do together without memory (PTX ISA, "Data Movement: shfl.sync" and "Parallel Synchronization
// and Communication Instructions"). The last operand is a mask of the lanes that take part: these and no others, and
// each of them with the same mask. What a lane that takes no part would have given is undefined: a fault.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "workers/device/emulated/ptx_instruction.h"

namespace tritond::workers::emulated {
namespace {

constexpr int kLanes = 32;

// The lanes that have come.
uint32_t Members(const Call& call) {
  uint32_t members = 0;
  for (int l = 0; l < kLanes; ++l) members |= uint32_t{call.lanes[l].in != nullptr} << l;
  return members;
}

Fault CheckMask(const PtxName& name, const Call& call, int slot) {
  const uint32_t members = Members(call);
  for (const Lane& lane : call.lanes) {
    if (lane.in == nullptr || static_cast<uint32_t>(lane.in[slot]) == members) continue;
    return absl::StrCat(name.opcode(), " with the member mask 0x", absl::Hex(static_cast<uint32_t>(lane.in[slot])),
                        " by the lanes 0x", absl::Hex(members));
  }
  return absl::nullopt;
}

// in: value, lane or distance, clamp and segments, mask. out: value, whether it came from another lane in range.
Fault RunShuffle(const PtxName& name, const Call& call) {
  const std::string& mode = name.words[2];
  for (int l = 0; l < kLanes; ++l) {
    const Lane& lane = call.lanes[l];
    if (lane.in == nullptr) continue;
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
    if (call.lanes[from].in == nullptr) return absl::StrCat("lane ", l, " reads lane ", from, ", which takes no part");
    lane.out[0] = call.lanes[from].in[0] & 0xffffffffu;
    if (name.slots[0] > 1) lane.out[1] = in_range;
  }
  return absl::nullopt;
}

void GiveAll(const Call& call, uint64_t result) {
  for (const Lane& lane : call.lanes)
    if (lane.in != nullptr) lane.out[0] = result;
}

// Of the lanes that take part, those for which `is` holds.
template <typename Predicate>
uint32_t LanesWhere(const Call& call, Predicate is) {
  uint32_t bits = 0;
  for (int l = 0; l < kLanes; ++l)
    if (call.lanes[l].in != nullptr) bits |= uint32_t{is(call.lanes[l])} << l;
  return bits;
}

Fault RunVote(const PtxName& name, const Call& call) {
  const uint32_t bits = LanesWhere(call, [](const Lane& lane) { return (lane.in[0] & 1) != 0; });
  const uint32_t members = Members(call);
  const std::string& mode = name.words[2];
  GiveAll(call, mode == "ballot" ? bits
                : mode == "all"  ? bits == members
                : mode == "any"  ? bits != 0
                                 : bits == 0 || bits == members);
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
  absl::optional<uint32_t> result;
  for (const Lane& lane : call.lanes) {
    if (lane.in == nullptr) continue;
    const uint32_t value = static_cast<uint32_t>(lane.in[0]);
    result = result ? Reduce(name.words[2], name.last() == "s32", *result, value) : value;
  }
  GiveAll(call, *result);
  return absl::nullopt;
}

Fault RunMatch(const PtxName& name, const Call& call) {
  const uint32_t members = Members(call);
  for (const Lane& lane : call.lanes) {
    if (lane.in == nullptr) continue;
    const uint32_t same = LanesWhere(call, [&](const Lane& other) { return other.in[0] == lane.in[0]; });
    const bool all = same == members;
    lane.out[0] = name.words[1] == "any" ? same : all ? same : 0;
    if (name.slots[0] > 1) lane.out[1] = all;
  }
  return absl::nullopt;
}

// The first lane that takes part.
Fault RunElect(const PtxName& name, const Call& call) {
  const int elected = __builtin_ctz(Members(call));
  GiveAll(call, elected);
  for (int l = 0; l < kLanes && name.slots[0] > 1; ++l)
    if (call.lanes[l].in != nullptr) call.lanes[l].out[1] = l == elected;
  return absl::nullopt;
}

Fault RunActive(const PtxName&, const Call& call) {
  GiveAll(call, Members(call));
  return absl::nullopt;
}

Fault RunSetRegisters(const PtxName& name, const Call& call) {
  const Lane& lane = call.lanes[0];
  return call.machine.SetRegisters(lane.thread, static_cast<uint32_t>(lane.in[0]), name.words[1] == "inc");
}

// What the directive says, when the kernel starts.
Fault RunMaxRegisters(const PtxName&, const Call& call) {
  call.machine.StartWithRegisters(static_cast<uint32_t>(call.lanes[0].in[0]));
  return absl::nullopt;
}

bool IsOneOf(absl::string_view word, std::initializer_list<absl::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

int MaskSlot(const PtxName& name) {
  if (name.opcode() == "shfl") return 3;
  if (name.opcode() == "elect") return 0;
  return name.opcode() == "vote" || name.opcode() == "redux" || name.opcode() == "match" ? 1 : -1;
}

Runner FindWarp(const PtxName& name) {
  const size_t words = name.words.size();
  const auto with = [&](Fault (*run)(const PtxName&, const Call&)) -> Runner {
    return [name, run](const Call& call) -> Fault {
      if (call.lanes.size() != kLanes) return absl::StrCat(name.opcode(), " needs a warp of 32 lanes");
      const int slot = MaskSlot(name);
      Fault fault = slot < 0 ? Fault() : CheckMask(name, call, slot);
      return fault ? fault : run(name, call);
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
  if (name.opcode() == "maxnreg") return with(RunMaxRegisters);
  if (name.opcode() == "setmaxnreg" && words > 2 && IsOneOf(name.words[1], {"inc", "dec"}))
    return with(RunSetRegisters);
  return nullptr;
}

}  // namespace tritond::workers::emulated
