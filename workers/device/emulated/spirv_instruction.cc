// SPDX-License-Identifier: Apache-2.0
// "OpenCL Extension Specification", cl_khr_subgroup_shuffle: what a lane reads that takes no part is undefined, so here
// it is a fault. "SPIR-V Specification", 3.49.21 "Group and Subgroup Instructions": all lanes take part in a reduction.
//
//   sub_group_shuffle_xor   value, mask    from lane l xor mask
//   sub_group_shuffle       value, lane    from that lane
//   sub_group_reduce_add, _max, _min       value; integers without sign
//   __spirv_GroupSMax, GroupSMin           scope, 0, value; integers with sign
//
// cl_intel_subgroup_matrix_multiply_accumulate: c += a b over 8 rows of the accumulator, or 4, 2 or 1, and 16 columns
// or 8, the lanes of a sub-group. Lane n has column n of c and b, the elements of b in words of 32 bits. Of each row of
// a it has word n, of 16 bits where there are 16 lanes, of 32 bits where there are 8. The extension's …_tf32,
// sub-groups of 16: words of f32, whose lower bits do not count. Eight lanes have a row of a, and the others the next
// one.
#include "workers/device/emulated/spirv_instruction.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "workers/device/emulated/amdgcn_instruction.h"

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

constexpr size_t kMaxRows = 8, kRowBits = 256;
constexpr uint64_t kTf32Bits = 0xffffe000;

// Element `i` of the `bits` wide ones that lie in slots of `slot_bits`.
uint64_t Element(const uint64_t* slots, size_t i, int bits, int slot_bits) {
  const size_t at = i * bits;
  return slots[at / slot_bits] >> at % slot_bits & ((uint64_t{1} << bits) - 1);
}

// `type`: of an element of a and b; integers are i8.
Fault RunProduct(const SubGroup& group, const AmdOperand& type, bool is_float) {
  const AmdOperand &a = group.name.operands[0], &b = group.name.operands[1], &c = group.name.operands[2];
  const bool is_tf32 = type.bits == 32;
  const size_t columns = is_tf32 ? 16 : kRowBits / a.bits;
  if (group.lanes() != columns)
    return absl::StrCat("it is for sub-groups of ", columns, " lanes, not of ", group.lanes());
  for (size_t l = 0; l < columns; ++l)
    if (!group.IsOn(l)) return absl::StrCat("lane ", l, " does not take part");
  const size_t in_lane = a.bits / type.bits;               // elements of a row of a
  const size_t depth = kRowBits / type.bits;               // of K
  const size_t rows_of_lanes = columns * in_lane / depth;  // of a, side by side
  for (size_t n = 0; n < columns; ++n) {
    for (size_t m = 0; m < static_cast<size_t>(c.count); ++m) {
      const Lane& lane = group.call.lanes[n];
      float sum = FloatOfBits(lane.in[c.first + m]);
      int32_t total = Signed(lane.in[c.first + m]);
      for (size_t k = 0; k < depth; ++k) {
        const Lane& left = group.call.lanes[m % rows_of_lanes * depth + k / in_lane];
        const uint64_t x = Element(left.in + a.first, m / rows_of_lanes * in_lane + k % in_lane, type.bits, a.bits);
        const uint64_t y = Element(lane.in + b.first, k, type.bits, b.bits);
        if (is_tf32) {
          sum = std::fma(FloatOfBits(x & kTf32Bits), FloatOfBits(y & kTf32Bits), sum);
        } else if (is_float) {
          sum = std::fma(static_cast<float>(AmdFloatOf(x, type)), static_cast<float>(AmdFloatOf(y, type)), sum);
        } else {
          total = Signed(static_cast<uint32_t>(total) +
                         static_cast<uint32_t>(static_cast<int8_t>(x) * static_cast<int8_t>(y)));
        }
      }
      lane.out[m] = is_float ? BitsOfFloat(sum) : static_cast<uint32_t>(total);
    }
  }
  return absl::nullopt;
}

struct Product {
  const char* name;
  int bits;
  bool is_float, is_bf16;
};

constexpr Product kProducts[] = {{"intel_sub_group_f16_f16_matrix_mad_k16", 16, true, false},
                                 {"intel_sub_group_bf16_bf16_matrix_mad_k16", 16, true, true},
                                 {"intel_sub_group_tf32_tf32_matrix_mad_k8", 32, true, false},
                                 {"intel_sub_group_i8_i8_matrix_mad_k32", 8, false, false}};

Runner FindProduct(const AmdName& name) {
  const auto is = [](const AmdOperand& operand, int count, int bits) {
    return operand.count == count && operand.bits == bits;
  };
  if (name.results.size() != 1 || name.operands.size() != 3) return nullptr;
  const int rows = name.results[0].count;
  if (rows > static_cast<int>(kMaxRows) || !is(name.results[0], rows, 32) || !is(name.operands[1], 8, 32) ||
      !is(name.operands[2], rows, 32))
    return nullptr;
  for (const Product& product : kProducts) {
    if (name.name != product.name) continue;
    const AmdOperand& a = name.operands[0];
    const bool is_tf32 = product.bits == 32;
    if (is_tf32 ? !is(a, std::max(1, rows / 2), 32) : !is(a, rows, 16) && !is(a, rows, 32)) return nullptr;
    AmdOperand type;
    type.bits = product.bits;
    type.is_bf16 = product.is_bf16;
    return [name, type, is_float = product.is_float](const Call& call) {
      return RunProduct({name, call}, type, is_float);
    };
  }
  return nullptr;
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
     [](const SubGroup& g) {
       return RunReduce(g, [](uint64_t x, uint64_t y) { return Signed(x) > Signed(y) ? x : y; });
     }},
    {"__spirv_GroupSMin", 3,
     [](const SubGroup& g) {
       return RunReduce(g, [](uint64_t x, uint64_t y) { return Signed(x) < Signed(y) ? x : y; });
     }},
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
  Instruction instruction;
  instruction.is_collective = true;
  instruction.order_slot = name->inputs();  // after the operands
  instruction.run = FindProduct(*name);
  if (!instruction.run) instruction.run = FindBlockRead(*name);
  if (!instruction.run) instruction.run = FindBlockPrefetch(*name);
  if (instruction.run) return instruction;
  for (const Row& row : kRows) {
    if (name->name != row.name || name->operands.size() != row.operands || !HasWords(*name)) continue;
    instruction.run = [name = *name, run = row.run](const Call& call) { return run({name, call}); };
    return instruction;
  }
  return absl::InvalidArgumentError(absl::StrCat("the emulator of ", name->arch, " has no function ", name->name));
}

}  // namespace tritond::workers::emulated
