// SPDX-License-Identifier: Apache-2.0
// AMD's instructions other than matrix products, each written down once more by its formula for a whole wave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "workers/device/emulated/amdgcn_test_wave.h"

namespace tritond::workers::emulated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// "update.dpp" with a control, masks and bound_ctrl; lanes hold 1000 + l as `old` and l.
std::vector<Slots> RunDpp(const std::string& arch, int lanes, uint64_t control, uint64_t row_mask = 15,
                          uint64_t bank_mask = 15, uint64_t bound = 0, uint64_t on = ~uint64_t{0}) {
  WaveOptions options;
  options.on = on;
  return RunWave(
      "update.dpp " + arch + " 1x32 : 1x32 1x32 1x32 1x32 1x32 1x1", lanes,
      [&](int l) { return Slots{uint64_t(1000 + l), uint64_t(l), control, row_mask, bank_mask, bound}; }, options);
}

TEST(AmdgcnLanes, DppMovesWithinRows) {
  struct Row {
    const char* arch;
    uint64_t control;
    int lane, source;  // -1: old; -2: zero
    uint64_t bound = 0;
  };
  const Row kRows[] = {
      {"gfx942", 0xb1, 4, 5},    {"gfx942", 0x1b, 4, 7},       {"gfx942", 0x101, 3, 4},   {"gfx942", 0x101, 15, -1},
      {"gfx942", 0x113, 20, 17}, {"gfx942", 0x101, 15, -2, 1}, {"gfx942", 0x113, 17, -1}, {"gfx942", 0x121, 16, 31},
      {"gfx942", 0x140, 1, 14},  {"gfx942", 0x141, 1, 6},      {"gfx942", 0x142, 20, 15}, {"gfx942", 0x142, 3, -1},
      {"gfx942", 0x143, 40, 31}, {"gfx942", 0x143, 31, -1},    {"gfx942", 0x15c, 17, 28}, {"gfx942", 0x130, 15, 16},
      {"gfx942", 0x130, 63, -1}, {"gfx942", 0x134, 63, 0},     {"gfx942", 0x138, 16, 15}, {"gfx942", 0x13c, 0, 63},
      {"gfx942", 0x128, 3, 11},  {"gfx942", 0x4e, 5, 7},
  };
  for (const Row& row : kRows) {
    const auto out = RunDpp(row.arch, 64, row.control, 15, 15, row.bound);
    const uint64_t expected = row.source == -1 ? 1000 + row.lane : row.source == -2 ? 0 : row.source;
    EXPECT_EQ(out[row.lane][0], expected) << std::hex << row.control << std::dec << " " << row.lane;
  }
  EXPECT_EQ(RunDpp("gfx1100", 32, 0x161)[17][0], 16u);
  EXPECT_EQ(RunDpp("gfx1100", 32, 0x15c)[17][0], 28u);
}

TEST(AmdgcnLanes, DppKeepsOldWhereMasksAreOff) {
  const auto rows = RunDpp("gfx942", 64, 0xb1, 2, 15, 1);
  EXPECT_EQ(rows[0][0], 1000u);
  EXPECT_EQ(rows[16][0], 17u);
  EXPECT_EQ(rows[32][0], 1032u);
  const auto banks = RunDpp("gfx942", 64, 0xb1, 15, 5, 1);
  EXPECT_EQ(banks[0][0], 1u);
  EXPECT_EQ(banks[4][0], 1004u);
  EXPECT_EQ(banks[8][0], 9u);
}

// A lane that is off is no source.
TEST(AmdgcnLanes, DppOfLanesThatAreOff) {
  const auto out = RunDpp("gfx942", 64, 0xb1, 15, 15, 0, ~uint64_t{2});
  EXPECT_EQ(out[0][0], 1000u);
  EXPECT_EQ(out[2][0], 3u);
  EXPECT_EQ(RunDpp("gfx942", 64, 0xb1, 15, 15, 1, ~uint64_t{2})[0][0], 0u);
}

TEST(AmdgcnLanes, DppControlsAreOfTheirGeneration) {
  for (auto [arch, control] : {std::make_pair("gfx1100", 0x142), {"gfx1201", 0x130}, {"gfx942", 0x161}}) {
    WaveOptions options;
    Fault fault;
    options.fault = &fault;
    RunWave(
        std::string("update.dpp ") + arch + " 1x32 : 1x32 1x32 1x32 1x32 1x32 1x1", 32,
        [c = control](int) { return Slots{0, 0, uint64_t(c), 15, 15, 0}; }, options);
    EXPECT_TRUE(fault.has_value()) << arch << " " << control;
  }
}

TEST(AmdgcnLanes, PermLanesSelectByNibbles) {
  const auto other = RunWave("permlanex16 gfx1100 1x32 : 1x32 1x32 1x32 1x32 1x1 1x1", 32,
                             [](int l) { return Slots{0, uint64_t(l), 0x76543210, 0xfedcba98, 0, 0}; });
  for (int l = 0; l < 32; ++l) EXPECT_EQ(other[l][0], uint64_t(l ^ 16));
  const auto same = RunWave("permlane16 gfx1100 1x32 : 1x32 1x32 1x32 1x32 1x1 1x1", 32,
                            [](int l) { return Slots{0, uint64_t(l), 0x89abcdef, 0x01234567, 0, 0}; });
  for (int l = 0; l < 32; ++l) EXPECT_EQ(same[l][0], uint64_t(l ^ 15));
  const auto own = RunWave("permlane16.var gfx1201 1x32 : 1x32 1x32 1x32 1x1 1x1", 32, [](int l) {
    return Slots{0, uint64_t(l), uint64_t(l * 3 % 16), 0, 0};
  });
  for (int l = 0; l < 32; ++l) EXPECT_EQ(own[l][0], uint64_t(l / 16 * 16 + l * 3 % 16));
}

TEST(AmdgcnLanes, SwapsChangeHalvesAndRows) {
  for (int size : {16, 32}) {
    const auto out =
        RunWave("permlane" + std::to_string(size) + ".swap gfx950 1x32 1x32 : 1x32 1x32 1x1 1x1", 64, [](int l) {
          return Slots{uint64_t(l), uint64_t(100 + l), 0, 0};
        });
    for (int l = 0; l < 64; ++l) {
      EXPECT_EQ(out[l][0], uint64_t(l & size ? 100 + l - size : l)) << l;
      EXPECT_EQ(out[l][1], uint64_t(l & size ? 100 + l : l + size)) << l;
    }
  }
}

TEST(AmdgcnLanes, PermutesByAddress) {
  const auto pulled = RunWave("ds.bpermute gfx942 1x32 : 1x32 1x32", 64, [](int l) {
    return Slots{uint64_t(4 * ((l * 5 + 1) % 64)), uint64_t(l)};
  });
  for (int l = 0; l < 64; ++l) EXPECT_EQ(pulled[l][0], uint64_t((l * 5 + 1) % 64));
  const auto pushed = RunWave("ds.permute gfx942 1x32 : 1x32 1x32", 64, [](int l) {
    return Slots{uint64_t(4 * (l / 2)), uint64_t(100 + l)};
  });
  for (int l = 0; l < 64; ++l) EXPECT_EQ(pushed[l][0], l < 32 ? uint64_t(100 + 2 * l + 1) : 0);
}

TEST(AmdgcnLanes, SwizzlesByBitsAndQuads) {
  struct Row {
    uint64_t pattern;
    int lane, source;
  };
  for (const Row& row : {Row{0x041f, 5, 4}, {0x401f, 33, 49}, {0x0010, 21, 16}, {0x0101, 7, 9}, {0x801b, 6, 5}}) {
    const auto out = RunWave("ds.swizzle gfx942 1x32 : 1x32 1x32", 64, [&](int l) {
      return Slots{uint64_t(l), row.pattern};
    });
    EXPECT_EQ(out[row.lane][0], uint64_t(row.source)) << std::hex << row.pattern;
  }
}

TEST(AmdgcnLanes, BroadcastsOfOneLane) {
  WaveOptions upper;
  upper.on = 0xffffff00;
  const auto first = RunWave(
      "readfirstlane gfx942 1x32 : 1x32", 64, [](int l) { return Slots{uint64_t(l)}; }, upper);
  EXPECT_EQ(first[8][0], 8u);
  EXPECT_EQ(first[31][0], 8u);
  const auto one = RunWave("readlane gfx942 1x32 : 1x32 1x32", 64, [](int l) { return Slots{uint64_t(l), 40}; });
  EXPECT_EQ(one[3][0], 40u);
  const auto written = RunWave("writelane gfx942 1x32 : 1x32 1x32 1x32", 64, [](int l) {
    return Slots{7, 9, uint64_t(l)};
  });
  EXPECT_EQ(written[9][0], 7u);
  EXPECT_EQ(written[10][0], 10u);
  const auto reduced = RunWave("wave.reduce.max gfx942 1x32 : 1x32 1x32", 64, [](int l) {
    return Slots{uint64_t(uint32_t(l * 7 % 64 - 40)), 0};
  });
  EXPECT_EQ(reduced[5][0], 23u);
}

TEST(AmdgcnLanes, LanesThatAreOffCannotBeRead) {
  WaveOptions some;
  some.on = 0xff;
  Fault fault;
  some.fault = &fault;
  RunWave(
      "readlane gfx942 1x32 : 1x32 1x32", 64,
      [](int l) {
        return Slots{uint64_t(l), 40};
      },
      some);
  EXPECT_TRUE(fault.has_value());
}

TEST(AmdgcnLanes, BallotsHaveABitOfEachLane) {
  const auto all = RunWave("ballot gfx942 1x64 : 1x1", 64, [](int l) { return Slots{uint64_t(l % 3 == 0)}; });
  uint64_t expected = 0;
  for (int l = 0; l < 64; l += 3) expected |= uint64_t{1} << l;
  EXPECT_EQ(all[1][0], expected);
  WaveOptions some;
  some.on = 0xf0;
  EXPECT_EQ(RunWave(
                "ballot gfx1100 1x32 : 1x1", 32, [](int) { return Slots{1}; }, some)[4][0],
            0xf0u);
  // Half of the lanes would be lost.
  WaveOptions wide;
  Fault fault;
  wide.fault = &fault;
  RunWave(
      "ballot gfx942 1x32 : 1x1", 64, [](int) { return Slots{1}; }, wide);
  EXPECT_TRUE(fault.has_value());
}

TEST(AmdgcnShared, TransposedReadsExchangeElementsOf16Lanes) {
  FakeMachine machine;
  WaveOptions options;
  options.machine = &machine;
  for (uint16_t i = 0; i < 256; ++i) std::memcpy(&machine.memory[2 * i], &i, 2);
  const auto words = RunWave(
      "ds.read.tr16.b64 gfx950 4x16 : 1x64", 64, [](int l) { return Slots{uint64_t(8 * l)}; }, options);
  for (int l = 0; l < 64; ++l)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(words[l][j], uint64_t(4 * (l / 16 * 16 + 4 * j + l % 16 / 4) + l % 4)) << l << " " << j;
  for (int i = 0; i < 512; ++i) machine.memory[i] = static_cast<char>(i % 128);
  const auto bytes = RunWave(
      "ds.read.tr8.b64 gfx950 2x32 : 1x64", 64, [](int l) { return Slots{uint64_t(8 * l)}; }, options);
  for (int l = 0; l < 64; ++l)
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(bytes[l][j / 4] >> (8 * (j % 4)) & 0xff, uint64_t(16 * j + l % 16)) << l << " " << j;
}

TEST(AmdgcnShared, SplitBarriersHaveTwoHalvesInTheirOrder) {
  FakeMachine machine;
  WaveOptions options;
  Fault fault;
  options.machine = &machine;
  options.fault = &fault;
  const auto run = [&](const char* name) {
    RunWave(
        std::string(name) + " gfx1201 : 1x32", 1, [](int) { return Slots{0xffffffff}; }, options);
    return !fault.has_value();
  };
  EXPECT_FALSE(run("s.barrier.wait"));
  EXPECT_TRUE(run("s.barrier.signal"));
  EXPECT_FALSE(run("s.barrier.signal"));
  EXPECT_TRUE(run("s.barrier.wait"));
  EXPECT_FALSE(run("s.barrier.wait"));
}

TEST(AmdgcnCopies, LanesFollowTheFirstOne) {
  FakeMachine machine;
  WaveOptions options;
  options.machine = &machine;
  options.on = ~uint64_t{2};
  RunWave(
      "global.load.lds gfx950 : 1x64 1x64 1x32 1x32 1x32", 64,
      [](int l) {
        return Slots{uint64_t(0x10000 + 100 * l), 512, 16, 32, 0};
      },
      options);
  ASSERT_EQ(machine.pending.size(), 63u);
  EXPECT_EQ(machine.pending[1].thread, 2);
  EXPECT_EQ(machine.pending[1].to, 512u + 32 + 2 * 16);
  EXPECT_EQ(machine.pending[1].from, 0x10000u + 200 + 32);
  EXPECT_EQ(machine.pending[1].bytes, 16u);
  // Instructions count for lanes that are off, too.
  EXPECT_EQ(machine.groups.size(), 64u);
}

TEST(AmdgcnCopies, BuffersGiveZerosBeyondTheirEnd) {
  FakeMachine machine;
  WaveOptions options;
  options.machine = &machine;
  RunWave(
      "raw.ptr.buffer.load.lds gfx950 : 2x64 1x64 1x32 1x32 1x32 1x32 1x32", 64,
      [](int l) { return Slots{0x1000, 24, 512, 16, uint64_t(16 * l), 4, 0, 0}; }, options);
  EXPECT_EQ(machine.pending[0].from, 0x1004u);
  EXPECT_EQ(machine.pending[0].read, 16u);
  EXPECT_EQ(machine.pending[1].read, 8u);
  EXPECT_EQ(machine.pending[2].read, 0u);
}

TEST(AmdgcnCopies, WaitsCountLoads) {
  struct Row {
    const char* name;
    uint64_t immediate;
    int left;  // -1: no wait
  };
  for (const Row& row : {Row{"s.waitcnt gfx942", 0x0f72, 2},
                         {"s.waitcnt gfx942", 0xcf7f, -1},
                         {"s.waitcnt gfx942", 0x4f70, 16},
                         {"s.waitcnt gfx1100", 3 << 10, 3},
                         {"s.waitcnt gfx1100", 63 << 10, -1},
                         {"s.wait.asynccnt gfx1250", 5, 5}}) {
    FakeMachine machine;
    WaveOptions options;
    options.machine = &machine;
    RunWave(
        std::string(row.name) + " : 1x32", 1, [&](int) { return Slots{row.immediate}; }, options);
    if (row.left < 0) {
      EXPECT_TRUE(machine.waits.empty()) << row.name;
    } else {
      EXPECT_THAT(machine.waits, ElementsAre(row.left)) << row.name;
    }
  }
}

// A descriptor's flags: words of 32 bits.
constexpr uint64_t kWords = uint64_t{7 << 12 | 4 << 15} << 32;

TEST(AmdgcnBuffers, CheckEachWord) {
  uint32_t memory[4] = {1, 2, 3, 4};
  const uint64_t base = reinterpret_cast<uint64_t>(memory);
  const auto loaded = RunWave("raw.ptr.buffer.load gfx942 2x32 : 2x64 1x32 1x32 1x32", 1, [&](int) {
    return Slots{base, 12 | kWords, 8, 0, 0};
  });
  EXPECT_THAT(Slots(loaded[0].begin(), loaded[0].begin() + 2), ElementsAre(3, 0));
  const auto halves = RunWave("raw.ptr.buffer.load gfx942 4x16 : 4x32 1x32 1x32 1x32", 1,
                              [&](int) { return Slots{base & 0xffffffff, base >> 32, 12, kWords >> 32, 4, 0, 0}; });
  EXPECT_THAT(Slots(halves[0].begin(), halves[0].begin() + 4), ElementsAre(2, 0, 3, 0));
  RunWave("raw.ptr.buffer.store gfx942 : 2x32 2x64 1x32 1x32 1x32", 1,
          [&](int) { return Slots{30, 40, base, 12 | kWords, 4, 4, 0}; });
  // The scalar offset moves the address, and the range does not count it.
  EXPECT_EQ(memory[2], 30u);
  EXPECT_EQ(memory[3], 40u);
  RunWave("raw.ptr.buffer.store gfx942 : 1x32 2x64 1x32 1x32 1x32", 1,
          [&](int) { return Slots{50, base, 12 | kWords, 0x80000000, 0, 0}; });
  EXPECT_THAT(memory, ElementsAre(1, 2, 30, 40));
}

TEST(AmdgcnBuffers, AtomicsGiveWhatWasThere) {
  struct Row {
    const char* op;
    const char* type;
    uint64_t before, data, after;
  };
  const Row kRows[] = {
      {"swap", "1x32", 5, 9, 9},
      {"add", "1x32", 0xffffffff, 2, 1},
      {"sub", "1x64", 1, 2, ~uint64_t{0}},
      {"smin", "1x32", 1, 0xffffffff, 0xffffffff},
      {"umin", "1x32", 1, 0xffffffff, 1},
      {"inc", "1x32", 7, 7, 0},
      {"dec", "1x32", 0, 7, 7},
      {"fadd", "1x32", 0x3f800000, 0x40000000, 0x40400000},
      {"fmax", "1x32", 0xbf800000, 0x40000000, 0x40000000},
  };
  for (const Row& row : kRows) {
    uint64_t memory = row.before;
    const auto out =
        RunWave(std::string("raw.ptr.buffer.atomic.") + row.op + " gfx942 " + row.type + " : " + row.type +
                    " 2x64 1x32 1x32 1x32",
                1, [&](int) { return Slots{row.data, reinterpret_cast<uint64_t>(&memory), 8 | kWords, 0, 0, 0}; });
    EXPECT_EQ(memory, row.after) << row.op;
    EXPECT_EQ(out[0][0], row.before) << row.op;
  }
  uint32_t pair = 0x3c003c00;  // 1, 1 in f16
  RunWave("raw.ptr.buffer.atomic.fadd gfx942 2x16 : 2x16 2x64 1x32 1x32 1x32", 1,
          [&](int) { return Slots{0x4000, 0x3c00, reinterpret_cast<uint64_t>(&pair), 4 | kWords, 0, 0, 0}; });
  EXPECT_EQ(pair, 0x40004200u);
  uint32_t word = 5;
  const auto swap = [&](uint64_t expected) {
    RunWave("raw.ptr.buffer.atomic.cmpswap gfx942 1x32 : 1x32 1x32 2x64 1x32 1x32 1x32", 1,
            [&](int) { return Slots{8, expected, reinterpret_cast<uint64_t>(&word), 4 | kWords, 0, 0, 0}; });
    return word;
  };
  EXPECT_EQ(swap(6), 5u);
  EXPECT_EQ(swap(5), 8u);
}

TEST(AmdgcnBuffers, RefuseOtherDescriptors) {
  struct Row {
    const char* arch;
    uint64_t stride, flags;
    const char* problem;  // "": none
  };
  const Row kRows[] = {
      {"gfx942", 0, 0x27000, ""},          {"gfx942", 0, 0, "no buffer"},  {"gfx942", 0, 0x80027000, "no buffer"},
      {"gfx942", 16, 0x27000, "rows"},     {"gfx1100", 0, 0x31027000, ""}, {"gfx1100", 0, 0x21027000, "range"},
      {"gfx1201", 0, 0x01027000, "range"},
  };
  uint32_t memory = 7;
  for (const Row& row : kRows) {
    SCOPED_TRACE(absl::StrCat(row.arch, " ", row.flags));
    const Slots in = {reinterpret_cast<uint64_t>(&memory) | row.stride << 48, 4 | row.flags << 32, 0, 0, 0};
    Fault fault;
    WaveOptions options;
    options.fault = &fault;
    RunWave(
        absl::StrCat("raw.ptr.buffer.load ", row.arch, " 1x32 : 2x64 1x32 1x32 1x32"), 1, [&](int) { return in; },
        options);
    EXPECT_EQ(fault.has_value(), *row.problem != '\0');
    if (fault) EXPECT_THAT(*fault, ::testing::HasSubstr(row.problem));
  }
}

// 57 bits of address, 45 of size; the stride from bit 108 on, flags from bit 124 on.
TEST(AmdgcnBuffers, LongDescriptors) {
  uint32_t memory[4] = {1, 2, 3, 4};
  const uint64_t base = reinterpret_cast<uint64_t>(memory);
  const auto load = [&](uint64_t size, uint64_t high, uint64_t offset, Fault* fault) {
    WaveOptions options;
    options.fault = fault;
    return RunWave(
        "raw.ptr.buffer.load gfx1250 1x32 : 2x64 1x32 1x32 1x32", 1,
        [&](int) {
          return Slots{base | size << 57, size >> 7 | high, offset, 0, 0};
        },
        options)[0][0];
  };
  EXPECT_EQ(load(12, 0, 8, nullptr), 3u);
  EXPECT_EQ(load(12, 0, 12, nullptr), 0u);
  EXPECT_EQ(load(0x7fffffff, 0, 12, nullptr), 4u);
  EXPECT_EQ(load(0x7fffffff, 0, 0x80000000, nullptr), 0u);
  for (uint64_t high : {uint64_t{16} << 44, uint64_t{3} << 60}) {
    Fault fault;
    load(12, high, 0, &fault);
    EXPECT_TRUE(fault.has_value()) << high;
  }
}

struct ScalarRow {
  const char* name;
  Slots in, out;
};

TEST(AmdgcnScalar, ComputesWhatTheManualsSay) {
  const ScalarRow kRows[] = {
      {"exp2 gfx942 1x32 : 1x32", {F32(3)}, {F32(8)}},
      {"exp2 gfx942 1x32 : 1x32", {F32(-140)}, {F32(0)}},
      {"exp2 gfx942 1x16 : 1x16", {Encode(2, kF16)}, {Encode(4, kF16)}},
      {"log gfx942 1x32 : 1x32", {F32(8)}, {F32(3)}},
      {"rcp gfx942 1x32 : 1x32", {F32(4)}, {F32(0.25)}},
      {"rcp gfx1250 1x16b : 1x16b", {Encode(4, kBf16)}, {Encode(0.25, kBf16)}},
      {"rsq gfx942 1x64 : 1x64", {BitsOfDouble(16)}, {BitsOfDouble(0.25)}},
      {"sin gfx942 1x32 : 1x32", {F32(0.25)}, {F32(1)}},
      {"cos gfx942 1x32 : 1x32", {F32(1)}, {F32(1)}},
      {"fract gfx942 1x32 : 1x32", {F32(-0.25)}, {F32(0.75)}},
      {"fmed3 gfx942 1x32 : 1x32 1x32 1x32", {F32(5), F32(-1), F32(3)}, {F32(3)}},
      {"frexp.exp gfx942 1x32 : 1x32", {F32(12)}, {4}},
      {"frexp.mant gfx942 1x32 : 1x32", {F32(12)}, {F32(0.75)}},
      {"class gfx942 1x1 : 1x32 1x32", {F32(-0.0f), 0x20}, {1}},
      {"class gfx942 1x1 : 1x32 1x32", {F32(INFINITY), 0x204}, {1}},
      {"class gfx942 1x1 : 1x32 1x32", {F32(1), 0x2ff}, {0}},
      {"class gfx942 1x1 : 1x32 1x32", {0x7fc00000, 2}, {1}},
      // The first 53 bits of 2 / pi, and the next ones.
      {"trig.preop gfx942 1x64 : 1x64 1x32", {BitsOfDouble(1), 0}, {BitsOfDouble(0x1.45f306dc9c882p-1)}},
      {"trig.preop gfx942 1x64 : 1x64 1x32", {BitsOfDouble(1), 1}, {BitsOfDouble(0x14a7f09d5f47d4p-106)}},
      {"perm gfx942 1x32 : 1x32 1x32 1x32", {0x44332211, 0x88776655, 0x0c0d0703}, {0x00ff4488}},
      {"perm gfx942 1x32 : 1x32 1x32 1x32", {0x44332211, 0x88776655, 0x0a090800}, {0x00ff0055}},
      {"ubfe gfx942 1x32 : 1x32 1x32 1x32", {0xabcd1234, 8, 8}, {0x12}},
      {"sbfe gfx942 1x32 : 1x32 1x32 1x32", {0xabcd1234, 24, 8}, {0xffffffffffffffab}},
      {"mul.u24 gfx942 1x32 : 1x32 1x32", {0xff000003, 5}, {15}},
      {"alignbyte gfx942 1x32 : 1x32 1x32 1x32", {0x44332211, 0x88776655, 1}, {0x11887766}},
      {"fdot2 gfx942 1x32 : 2x16 2x16 1x32 1x1",
       {Encode(2, kF16), Encode(3, kF16), Encode(5, kF16), Encode(7, kF16), F32(0.5), 0},
       {F32(31.5)}},
      {"fdot2.f32.bf16 gfx1100 1x32 : 2x16b 2x16b 1x32 1x1",
       {Encode(2, kBf16), Encode(3, kBf16), Encode(5, kBf16), Encode(7, kBf16), F32(0), 0},
       {F32(31)}},
      {"sdot4 gfx942 1x32 : 1x32 1x32 1x32 1x1", {0xff020304, 0x02020202, 10, 0}, {26}},
      {"udot4 gfx942 1x32 : 1x32 1x32 1x32 1x1", {0xff000000, 0x02000000, 1, 0}, {511}},
      {"sudot4 gfx1100 1x32 : 1x1 1x32 1x1 1x32 1x32 1x1", {1, 0xff, 0, 0xff, 0, 0}, {0xffffff01}},
      {"sdot8 gfx942 1x32 : 1x32 1x32 1x32 1x1", {0xf, 0x7, 0, 0}, {0xfffffff9}},
  };
  for (const ScalarRow& row : kRows) {
    const auto out = RunWave(row.name, 1, [&](int) { return row.in; });
    EXPECT_THAT(Slots(out[0].begin(), out[0].begin() + row.out.size()), testing::ElementsAreArray(row.out)) << row.name;
  }
}

TEST(AmdgcnConvert, KnowsTheFormatsOfTheDevice) {
  const ScalarRow kRows[] = {
      {"cvt.pkrtz gfx942 2x16 : 1x32 1x32", {F32(1.9999f), F32(-2)}, {0x3fff, 0xc000}},
      {"cvt.pk.i16 gfx942 2x16 : 1x32 1x32", {uint32_t(-40000), 40000}, {0x8000, 0x7fff}},
      {"cvt.pk.u16 gfx942 2x16 : 1x32 1x32", {70000, 3}, {0xffff, 3}},
      // fnuz: the bias is one more, and the code of negative zero is NaN.
      {"cvt.f32.fp8 gfx942 1x32 : 1x32 1x32", {0x38404800, 3}, {F32(0.5)}},
      {"cvt.f32.fp8 gfx950 1x32 : 1x32 1x32", {0x38404800, 3}, {F32(1)}},
      {"cvt.pk.f32.bf8 gfx1201 2x32 : 1x32 1x1", {0x3c40ffff, 1}, {F32(2), F32(1)}},
      {"cvt.pk.f32.bf8 gfx942 2x32 : 1x32 1x1", {0x3c40ffff, 1}, {F32(1), F32(0.5)}},
      {"cvt.pk.fp8.f32 gfx942 1x32 : 1x32 1x32 1x32 1x1", {F32(1), F32(0.5), 0x11112222, 0}, {0x11113840}},
      {"cvt.pk.fp8.f32 gfx950 1x32 : 1x32 1x32 1x32 1x1", {F32(1), F32(0.5), 0x11112222, 1}, {0x30382222}},
      {"cvt.pk.fp8.f32 gfx942 1x32 : 1x32 1x32 1x32 1x1", {F32(1e9), F32(-0.0f), 0, 0}, {0x0080}},
      {"cvt.scalef32.pk.f32.fp4 gfx950 2x32 : 1x32 1x32 1x32", {0x00720000, F32(4), 2}, {F32(4), F32(24)}},
      {"cvt.scalef32.pk.f16.fp8 gfx950 2x16 : 1x32 1x32 1x1",
       {0x4038ffff, F32(0.5), 1},
       {Encode(0.5, kF16), Encode(1, kF16)}},
      {"cvt.scalef32.pk.fp4.f32 gfx950 1x32 : 1x32 1x32 1x32 1x32 1x32",
       {0xffffffff, F32(4), F32(24), F32(4), 1},
       {0xffff72ff}},
      {"cvt.scalef32.pk.fp8.bf16 gfx950 2x16 : 2x16 2x16b 1x32 1x1",
       {1, 2, Encode(2, kBf16), Encode(4, kBf16), F32(2), 1},
       {1, 0x4038}},
  };
  for (const ScalarRow& row : kRows) {
    const auto out = RunWave(row.name, 1, [&](int) { return row.in; });
    EXPECT_THAT(Slots(out[0].begin(), out[0].begin() + row.out.size()), testing::ElementsAreArray(row.out)) << row.name;
  }
}

TEST(Amdgcn, NamesWhatItDoesNotKnow) {
  for (const char* name : {"mfma.f32.no.such gfx942 1x32 : 1x32", "mfma.f32.32x32x8f16 gfx1100 16x32 : 4x16 4x16 16x32",
                           "wmma.f32.16x16x16.f16 gfx942 8x32 : 16x16 16x16 8x32", "tensor.load.to.lds gfx1250 : 4x32",
                           "cvt.sr.fp8.f32 gfx942 1x32 : 1x32 1x32 1x32 1x32", "ds.read.tr16.b64 gfx942 4x16 : 1x64"}) {
    const auto found = FindInstruction(std::string("amdgcn:") + name);
    ASSERT_FALSE(found.ok()) << name;
    const std::string plain = std::string(name).substr(0, std::string(name).find(' '));
    EXPECT_THAT(std::string(found.status().message()), HasSubstr(plain));
  }
}

}  // namespace
}  // namespace tritond::workers::emulated
