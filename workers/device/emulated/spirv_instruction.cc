// SPDX-License-Identifier: Apache-2.0
// "OpenCL Extension Specification", cl_khr_subgroup_shuffle: what a lane reads that takes no part is undefined, so here
// it is a fault. "SPIR-V Specification", 3.49.21 "Group and Subgroup Instructions": all lanes take part in a reduction.
//
//   sub_group_shuffle_xor   value, mask    from lane l xor mask
//   sub_group_shuffle       value, lane    from that lane
//   sub_group_reduce_add, _max, _min       value; integers without sign
//   __spirv_GroupSMax, GroupSMin           scope, 0, value; integers with sign
#include "workers/device/emulated/spirv_instruction.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "workers/device/emulated/amdgcn_name.h"

namespace tritond::workers::emulated {
namespace {

constexpr uint64_t kSubgroup = 3, kReduce = 0;

struct SubGroup {
  const AmdName& name;
  const Call& call;

  size_t lanes() const { return call.lanes.size(); }
  bool IsOn(size_t l) const { return call.lanes[l].in != nullptr; }
  uint64_t In(size_t l, size_t operand) const { return call.lanes[l].in[name.operands[operand].first]; }
};

Fault RunShuffle(const SubGroup& group, bool is_xor) {
  for (size_t l = 0; l < group.lanes(); ++l) {
    if (!group.IsOn(l)) continue;
    const uint64_t from = is_xor ? l ^ group.In(l, 1) : group.In(l, 1);
    if (from >= group.lanes() || !group.IsOn(from))
      return absl::StrCat("lane ", l, " reads lane ", from, ", which does not take part");
    group.call.lanes[l].out[0] = group.In(from, 0);
  }
  return absl::nullopt;
}

using Combine = uint64_t (*)(uint64_t x, uint64_t y);

int32_t Signed(uint64_t x) { return static_cast<int32_t>(static_cast<uint32_t>(x)); }

// The value is the last operand.
Fault RunReduce(const SubGroup& group, Combine combine) {
  for (size_t l = 0; l < group.lanes(); ++l)
    if (!group.IsOn(l)) return absl::StrCat("lane ", l, " does not take part");
  const size_t operand = group.name.operands.size() - 1;
  if (operand == 2 && (group.In(0, 0) != kSubgroup || group.In(0, 1) != kReduce))
    return std::string("it is no reduction over a sub-group");
  uint64_t total = group.In(0, operand);
  for (size_t l = 1; l < group.lanes(); ++l) total = combine(total, group.In(l, operand)) & 0xffffffff;
  for (const Lane& lane : group.call.lanes) lane.out[0] = total;
  return absl::nullopt;
}

struct Row {
  const char* name;
  size_t operands;
  Fault (*run)(const SubGroup& group);
};

constexpr Row kRows[] = {
    {"sub_group_shuffle_xor", 2, [](const SubGroup& g) { return RunShuffle(g, true); }},
    {"sub_group_shuffle", 2, [](const SubGroup& g) { return RunShuffle(g, false); }},
    {"sub_group_reduce_add", 1,
     [](const SubGroup& g) { return RunReduce(g, [](uint64_t x, uint64_t y) { return x + y; }); }},
    {"sub_group_reduce_max", 1,
     [](const SubGroup& g) { return RunReduce(g, [](uint64_t x, uint64_t y) { return std::max(x, y); }); }},
    {"sub_group_reduce_min", 1,
     [](const SubGroup& g) { return RunReduce(g, [](uint64_t x, uint64_t y) { return std::min(x, y); }); }},
    {"__spirv_GroupSMax", 3,
     [](const SubGroup& g) { return RunReduce(g, [](uint64_t x, uint64_t y) { return Signed(x) > Signed(y) ? x : y; }); }},
    {"__spirv_GroupSMin", 3,
     [](const SubGroup& g) { return RunReduce(g, [](uint64_t x, uint64_t y) { return Signed(x) < Signed(y) ? x : y; }); }},
};

// One result, and operands of one slot each, all of 32 bits.
bool HasWords(const AmdName& name) {
  if (name.results.size() != 1 || name.results[0].total_bits() != 32) return false;
  return std::all_of(name.operands.begin(), name.operands.end(),
                     [](const AmdOperand& operand) { return operand.count == 1 && operand.bits == 32; });
}

}  // namespace

absl::StatusOr<Instruction> FindSpirv(absl::string_view text) {
  const absl::optional<AmdName> name = ParseAmdName(text);
  if (!name) return absl::InvalidArgumentError(absl::StrCat("the emulator cannot read \"", text, "\""));
  for (const Row& row : kRows) {
    if (name->name != row.name || name->operands.size() != row.operands || !HasWords(*name)) continue;
    Instruction instruction;
    instruction.is_collective = true;
    instruction.order_slot = name->inputs();  // behind the operands
    instruction.run = [name = *name, run = row.run](const Call& call) { return run({name, call}); };
    return instruction;
  }
  return absl::InvalidArgumentError(absl::StrCat("the emulator of ", name->arch, " has no function ", name->name));
}

}  // namespace tritond::workers::emulated
