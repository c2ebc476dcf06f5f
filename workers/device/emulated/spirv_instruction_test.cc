// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/spirv_instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

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
    const auto own_and = [](uint64_t second) {
      return [second](int l) { return Slots{uint64_t(100 + l), second}; };
    };
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
  const Outcome outside =
      Execute("sub_group_shuffle pvc 1x32 : 1x32 1x32", 16, [](int l) { return Slots{uint64_t(l), 16}; });
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
    const std::string name = std::string(row.name) + (row.is_signed ? " pvc 1x32 : 1x32 1x32 1x32" : " pvc 1x32 : 1x32");
    const Outcome outcome = row.is_signed ? Execute(name, 16, three) : Execute(name, 16, one);
    EXPECT_FALSE(outcome.fault.has_value()) << row.name;
    for (const uint64_t result : outcome.results) EXPECT_EQ(result, row.total) << row.name;
  }
  const Outcome partial = Execute("sub_group_reduce_add pvc 1x32 : 1x32", 16, one, 0x7fff);
  ASSERT_TRUE(partial.fault.has_value());
  EXPECT_THAT(*partial.fault, HasSubstr("lane 15 does not take part"));
  const Outcome scan =
      Execute("__spirv_GroupSMax pvc 1x32 : 1x32 1x32 1x32", 16, [](int l) { return Slots{3, 1, uint64_t(l)}; });
  EXPECT_TRUE(scan.fault.has_value());
}

TEST(SpirvInstruction, NamesWhatItLacks) {
  for (const char* name : {"sub_group_any pvc 1x32 : 1x32", "sub_group_shuffle pvc 1x64 : 1x64 1x32", "nonsense"})
    EXPECT_EQ(FindSpirv(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
}

}  // namespace
}  // namespace tritond::workers::emulated
