// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/spirv_instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "workers/device/emulated/amdgcn_instruction.h"
#include "workers/device/emulated/fake_machine.h"

namespace tritond::workers::emulated {
namespace {

using testing::HasSubstr;
using Slots = std::vector<uint64_t>;

struct Outcome {
  std::vector<uint64_t> results;
  Fault fault;
};

// Lanes whose bit of `on` is set execute "NAME pvc 1x32 : OPERANDS".
Outcome Execute(const std::string& name, int lanes, const std::function<Slots(int)>& in, uint64_t on = ~uint64_t{0}) {
  static FakeMachine machine;
  std::vector<Slots> inputs;
  for (int l = 0; l < lanes; ++l) inputs.push_back(in(l));
  Outcome outcome{std::vector<uint64_t>(lanes, 77), absl::nullopt};
  std::vector<Lane> all(lanes);
  for (int l = 0; l < lanes; ++l)
    all[l] = on >> l & 1 ? Lane{l, inputs[l].data(), &outcome.results[l]} : Lane{l, nullptr, nullptr};
  auto instruction = FindInstruction("spirv:" + name);
  EXPECT_TRUE(instruction.ok()) << instruction.status();
  if (!instruction.ok()) return outcome;
  EXPECT_TRUE(instruction->is_collective);
  EXPECT_EQ(instruction->order_slot, static_cast<int>(inputs[0].size()));
  outcome.fault = instruction->run({machine, nullptr, all});
  return outcome;
}

TEST(SpirvInstruction, ShufflesReadOtherLanes) {
  for (const int lanes : {16, 32}) {
    const auto own_and = [](uint64_t second) { return [second](int l) { return Slots{uint64_t(100 + l), second}; }; };
    const Outcome flipped = Execute("sub_group_shuffle_xor pvc 1x32 : 1x32 1x32", lanes, own_and(5));
    EXPECT_FALSE(flipped.fault.has_value());
    for (int l = 0; l < lanes; ++l) EXPECT_EQ(flipped.results[l], 100u + (l ^ 5));
    const Outcome turned = Execute("sub_group_shuffle pvc 1x32 : 1x32 1x32", lanes, [&](int l) {
      return Slots{uint64_t(100 + l), uint64_t((l + 3) % lanes)};
    });
    EXPECT_FALSE(turned.fault.has_value());
    for (int l = 0; l < lanes; ++l) EXPECT_EQ(turned.results[l], 100u + (l + 3) % lanes);
  }
}

TEST(SpirvInstruction, ALaneThatTakesNoPartMustNotBeRead) {
  const auto in = [](int l) { return Slots{uint64_t(l), 1}; };
  const Outcome outcome = Execute("sub_group_shuffle_xor pvc 1x32 : 1x32 1x32", 16, in, 0xfffd);
  ASSERT_TRUE(outcome.fault.has_value());
  EXPECT_THAT(*outcome.fault, HasSubstr("lane 0 reads lane 1"));
  EXPECT_FALSE(Execute("sub_group_shuffle_xor pvc 1x32 : 1x32 1x32", 16, in, 0xfffc).fault.has_value());
  const Outcome outside = Execute("sub_group_shuffle pvc 1x32 : 1x32 1x32", 16, [](int l) {
    return Slots{uint64_t(l), 16};
  });
  ASSERT_TRUE(outside.fault.has_value());
  EXPECT_THAT(*outside.fault, HasSubstr("reads lane 16"));
}

TEST(SpirvInstruction, ReductionsAreOfAllLanes) {
  // -8 … 7
  const auto one = [](int l) { return Slots{static_cast<uint32_t>(l - 8)}; };
  const auto three = [](int l) { return Slots{3, 0, static_cast<uint32_t>(l - 8)}; };
  const struct {
    const char* name;
    bool is_signed;
    uint32_t total;
  } kRows[] = {{"sub_group_reduce_add", false, static_cast<uint32_t>(-8)},
               {"sub_group_reduce_max", false, 0xffffffff},
               {"sub_group_reduce_min", false, 0},
               {"__spirv_GroupSMax", true, 7},
               {"__spirv_GroupSMin", true, static_cast<uint32_t>(-8)}};
  for (const auto& row : kRows) {
    const std::string name =
        std::string(row.name) + (row.is_signed ? " pvc 1x32 : 1x32 1x32 1x32" : " pvc 1x32 : 1x32");
    const Outcome outcome = row.is_signed ? Execute(name, 16, three) : Execute(name, 16, one);
    EXPECT_FALSE(outcome.fault.has_value()) << row.name;
    for (const uint64_t result : outcome.results) EXPECT_EQ(result, row.total) << row.name;
  }
  const Outcome partial = Execute("sub_group_reduce_add pvc 1x32 : 1x32", 16, one, 0x7fff);
  ASSERT_TRUE(partial.fault.has_value());
  EXPECT_THAT(*partial.fault, HasSubstr("lane 15 does not take part"));
  const Outcome scan = Execute("__spirv_GroupSMax pvc 1x32 : 1x32 1x32 1x32", 16, [](int l) {
    return Slots{3, 1, uint64_t(l)};
  });
  EXPECT_TRUE(scan.fault.has_value());
}

// Integers, so that every sum is exact: A[m][k] = m + k - 9, B[k][n] = k - 2 n, C[m][n] = m - n.
TEST(SpirvInstruction, ProductsPlaceElementsAsTheExtensionSays) {
  struct Kind {
    const char* name;
    int bits, depth;
    uint64_t (*encode)(int value);
    bool is_float;
  };
  // Of tf32 the bits that do not count are set.
  const Kind kKinds[] = {
      {"intel_sub_group_tf32_tf32_matrix_mad_k8", 32, 8, [](int value) { return BitsOfFloat(value) | 0x1fff; }, true},
      {"intel_sub_group_f16_f16_matrix_mad_k16", 16, 16,
       [](int value) {
         return AmdBitsOf(value, AmdOperand{0, 1, 16, false});
       },
       true},
      {"intel_sub_group_bf16_bf16_matrix_mad_k16", 16, 16, [](int value) { return BitsOfFloat(value) >> 16; }, true},
      {"intel_sub_group_i8_i8_matrix_mad_k32", 8, 32, [](int value) { return uint64_t(value & 0xff); }, false}};
  const auto a = [](int m, int k) { return m + k - 9; };
  const auto b = [](int k, int n) { return k - 2 * n; };
  const auto sum_bits = [](int value, bool is_float) {
    return is_float ? BitsOfFloat(static_cast<float>(value)) : static_cast<uint32_t>(value);
  };
  for (int turn = 0; turn < 32; ++turn) {
    const Kind& kind = kKinds[turn % 4];
    const int rows = 8 >> turn / 4 % 4, lane_count = turn < 16 ? 16 : 8;
    const bool is_tf32 = kind.bits == 32;
    if (is_tf32 && lane_count == 8) continue;
    SCOPED_TRACE(absl::StrCat(kind.name, " ", rows, " ", lane_count));
    const int word = is_tf32 ? 32 : 256 / lane_count;          // bits, of a
    const int words = is_tf32 ? std::max(1, rows / 2) : rows;  // of a, in a lane
    auto instruction = FindInstruction(
        absl::StrCat("spirv:", kind.name, " pvc ", rows, "x32 : ", words, "x", word, " 8x32 ", rows, "x32"));
    ASSERT_TRUE(instruction.ok()) << instruction.status();
    std::vector<Slots> in(lane_count, Slots(words + 8 + rows, 0)), out(lane_count, Slots(rows, 0));
    const int in_a = word / kind.bits, in_word = 32 / kind.bits;
    for (int m = 0; m < rows; ++m)
      for (int k = 0; k < kind.depth; ++k) {
        Slots& lane = in[is_tf32 ? m % 2 * 8 + k : k / in_a];
        lane[is_tf32 ? m / 2 : m] |= kind.encode(a(m, k)) << (k % in_a * kind.bits);
      }
    for (int n = 0; n < lane_count; ++n) {
      for (int m = 0; m < rows; ++m) in[n][words + 8 + m] = sum_bits(m - n, kind.is_float);
      for (int k = 0; k < kind.depth; ++k)
        in[n][words + k / in_word] |= kind.encode(b(k, n)) << (k % in_word * kind.bits);
    }
    std::vector<Lane> lanes;
    for (int n = 0; n < lane_count; ++n) lanes.push_back({n, in[n].data(), out[n].data()});
    FakeMachine machine;
    const Fault fault = instruction->run({machine, nullptr, lanes});
    ASSERT_FALSE(fault.has_value()) << *fault;
    for (int n = 0; n < lane_count; ++n) {
      for (int m = 0; m < rows; ++m) {
        int expected = m - n;
        for (int k = 0; k < kind.depth; ++k) expected += a(m, k) * b(k, n);
        EXPECT_EQ(out[n][m], sum_bits(expected, kind.is_float)) << m << " " << n;
      }
    }
    lanes[7].in = nullptr;
    EXPECT_TRUE(instruction->run({machine, nullptr, lanes}).has_value()) << "a lane takes no part";
    lanes.resize(4);
    EXPECT_TRUE(instruction->run({machine, nullptr, lanes}).has_value()) << "the sub-group is of another size";
  }
}

TEST(SpirvInstruction, NamesWhatItLacks) {
  for (const char* name : {"sub_group_any pvc 1x32 : 1x32", "sub_group_shuffle pvc 1x64 : 1x64 1x32", "nonsense"})
    EXPECT_EQ(FindSpirv(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
}

}  // namespace
}  // namespace tritond::workers::emulated
