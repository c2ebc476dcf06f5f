// SPDX-License-Identifier: Apache-2.0
// The layouts of AMD's instructions, each written down once more by its formula for a whole wave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "workers/device/emulated/fake_machine.h"
#include "workers/device/emulated/instruction.h"
#include "workers/device/emulated/narrow_float.h"

namespace tritond::workers::emulated {
namespace {

using Slots = std::vector<uint64_t>;

std::vector<Slots> RunWave(const std::string& name, int lanes, const std::function<Slots(int)>& in,
                           Fault* fault = nullptr, FakeMachine* machine = nullptr) {
  FakeMachine own;
  std::vector<Slots> inputs, outputs(lanes, Slots(16, 0));
  for (int l = 0; l < lanes; ++l) inputs.push_back(in(l));
  std::vector<Lane> all;
  for (int l = 0; l < lanes; ++l) all.push_back({l, inputs[l].data(), outputs[l].data()});
  auto instruction = FindInstruction("amdgcn:" + name);
  EXPECT_TRUE(instruction.ok()) << instruction.status();
  if (!instruction.ok()) return outputs;
  const Fault found = instruction->run({machine ? *machine : own, nullptr, all});
  if (fault) {
    *fault = found;
  } else {
    EXPECT_FALSE(found.has_value()) << *found;
  }
  return outputs;
}

uint64_t F32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

int A(int m, int k) { return (m * 7 + k * 3) % 11 - 5; }
int B(int k, int n) { return (k * 5 + n * 2) % 9 - 4; }

float Sum(int m, int n, int depth) {
  float sum = 100;
  for (int k = 0; k < depth; ++k) sum += A(m, k) * B(k, n);
  return sum;
}

Slots Operands(int row, const std::vector<int>& ks, int results) {
  Slots in;
  for (int k : ks) in.push_back(Encode(A(row, k), kF16));
  for (int k : ks) in.push_back(Encode(B(k, row), kF16));
  for (int r = 0; r < results; ++r) in.push_back(F32(100));
  return in;
}

TEST(Amdgcn, MfmaMultipliesTilesOf32) {
  for (int depth : {8, 16}) {
    const int kb = depth / 2;
    const auto out = RunWave(depth == 8 ? "mfma.f32.32x32x8f16" : "mfma.f32.32x32x16.f16", 64, [&](int l) {
      std::vector<int> ks;
      for (int j = 0; j < kb; ++j) ks.push_back(kb * (l / 32) + j);
      return Operands(l % 32, ks, 16);
    });
    for (int l = 0; l < 64; ++l)
      for (int r = 0; r < 16; ++r)
        EXPECT_EQ(out[l][r], F32(Sum(8 * (r / 4) + 4 * (l / 32) + r % 4, l % 32, depth))) << l << " " << r;
  }
}

TEST(Amdgcn, WmmaRepeatsLanesOnGfx11) {
  std::vector<int> ks(16);
  for (int k = 0; k < 16; ++k) ks[k] = k;
  const auto out = RunWave("wmma.f32.16x16x16.f16.v8f32.v16f16", 32, [&](int l) { return Operands(l % 16, ks, 8); });
  for (int l = 0; l < 32; ++l)
    for (int r = 0; r < 8; ++r) EXPECT_EQ(out[l][r], F32(Sum(2 * r + l / 16, l % 16, 16))) << l << " " << r;
}

TEST(Amdgcn, WmmaSplitsKOnGfx12) {
  const auto out = RunWave("wmma.f32.16x16x16.f16.v8f32.v8f16", 32, [](int l) {
    std::vector<int> ks;
    for (int j = 0; j < 8; ++j) ks.push_back(8 * (l / 16) + j);
    return Operands(l % 16, ks, 8);
  });
  for (int l = 0; l < 32; ++l)
    for (int r = 0; r < 8; ++r) EXPECT_EQ(out[l][r], F32(Sum(8 * (l / 16) + r, l % 16, 16))) << l << " " << r;
}

TEST(Amdgcn, ProductsAreForOneSizeOfWave) {
  Fault fault;
  RunWave(
      "mfma.f32.32x32x8f16", 32, [](int) { return Slots(24); }, &fault);
  EXPECT_TRUE(fault.has_value());
}

TEST(Amdgcn, TransposedReadsExchangeElementsOf16Lanes) {
  FakeMachine machine;
  for (uint16_t i = 0; i < 256; ++i) std::memcpy(&machine.memory[2 * i], &i, 2);
  const auto out = RunWave(
      "ds.read.tr16.b64.v4f16", 64, [](int l) { return Slots{uint64_t(8 * l)}; }, nullptr, &machine);
  for (int l = 0; l < 64; ++l)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(out[l][j], uint64_t(4 * (l / 16 * 16 + 4 * j + l % 16 / 4) + l % 4)) << l << " " << j;
}

TEST(Amdgcn, DppMovesWithinRows) {
  struct Row {
    int control;
    int lane, source;  // -1: old; -2: zero
    int bound = 0;
  };
  const Row kRows[] = {
      {0xb1, 4, 5},    {0x1b, 4, 7},    {0x101, 3, 4},   {0x101, 15, -1}, {0x101, 15, -2, 1}, {0x113, 20, 17},
      {0x113, 17, -1}, {0x121, 16, 31}, {0x140, 1, 14},  {0x141, 1, 6},   {0x142, 20, 15},    {0x142, 3, -1},
      {0x143, 40, 31}, {0x143, 31, -1}, {0x15c, 17, 28}, {0x161, 17, 16},
  };
  for (const Row& row : kRows) {
    const auto out = RunWave("update.dpp", 64, [&](int l) {
      return Slots{uint64_t(1000 + l), uint64_t(l), uint64_t(row.control), 15, 15, uint64_t(row.bound)};
    });
    const uint64_t expected = row.source == -1 ? 1000 + row.lane : row.source == -2 ? 0 : row.source;
    EXPECT_EQ(out[row.lane][0], expected) << std::hex << row.control << std::dec << " " << row.lane;
  }
  const auto masked = RunWave("update.dpp", 64, [](int l) { return Slots{7, uint64_t(l), 0x161, 2, 15, 1}; });
  EXPECT_EQ(masked[0][0], 7u);
  EXPECT_EQ(masked[16][0], 17u);
}

TEST(Amdgcn, PermLaneX16TakesFromTheOtherRow) {
  const auto out =
      RunWave("permlanex16", 32, [](int l) { return Slots{0, uint64_t(l), 0x76543210, 0xfedcba98, 0, 0}; });
  for (int l = 0; l < 32; ++l) EXPECT_EQ(out[l][0], uint64_t(l ^ 16));
}

TEST(Amdgcn, BuffersCheckEachWord) {
  uint32_t memory[4] = {1, 2, 3, 4};
  const uint64_t base = reinterpret_cast<uint64_t>(memory);
  const auto loaded = RunWave("raw.ptr.buffer.load.v2i32", 1, [&](int) { return Slots{base, 12, 8}; });
  EXPECT_EQ(loaded[0][0], 3u);
  EXPECT_EQ(loaded[0][1], 0u);
  RunWave("raw.ptr.buffer.store.v2i32", 1, [&](int) { return Slots{base, 12, 8, 30, 40}; });
  EXPECT_EQ(memory[2], 30u);
  EXPECT_EQ(memory[3], 4u);
}

TEST(Amdgcn, NamesWhatItDoesNotKnow) {
  const auto found = FindInstruction("amdgcn:mfma.f64.16x16x4f64 1");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(std::string(found.status().message()), testing::HasSubstr("mfma.f64.16x16x4f64"));
}

}  // namespace
}  // namespace tritond::workers::emulated
