// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "workers/device/emulated/fake_machine.h"
#include "workers/device/emulated/spirv_instruction.h"

namespace tritond::workers::emulated {
namespace {

using testing::HasSubstr;

// A matrix of 16 rows of 128 bytes. The element of row r and column c is 256 r + c, as far as its bits go.
template <typename Element>
class Matrix {
 public:
  Matrix() : storage_(kRows * kPitch / sizeof(Element) + 64) {
    Element* first = begin();
    for (int r = 0; r < kRows; ++r)
      for (size_t c = 0; c < kPitch / sizeof(Element); ++c) first[r * kPitch / sizeof(Element) + c] = Value(r, c);
  }

  static Element Value(int row, int column) { return static_cast<Element>(256 * row + column); }
  uint64_t address() const { return (reinterpret_cast<uint64_t>(storage_.data()) + 63) / 64 * 64; }

  static constexpr int kRows = 32, kPitch = 128;

 private:
  Element* begin() { return reinterpret_cast<Element*>(address()); }
  std::vector<Element> storage_;
};

struct Read {
  std::string name;
  uint64_t base = 0, width = 128, height = 32, pitch = 128, x = 0, y = 0;
};

// The words of each lane.
std::vector<std::vector<uint64_t>> Execute(const Read& read, int words, int bits, Fault* fault, int off = -1) {
  std::vector<std::vector<uint64_t>> out(16, std::vector<uint64_t>(words));
  auto instruction = FindInstruction(absl::StrCat("spirv:intel_sub_group_2d_block_read_", read.name, " pvc ", words,
                                                  "x", bits, " : 1x64 1x32 1x32 1x32 2x32"));
  EXPECT_TRUE(instruction.ok()) << instruction.status();
  if (!instruction.ok()) return out;
  EXPECT_TRUE(instruction->is_collective);
  const std::vector<uint64_t> in = {read.base,  read.width,          read.height,
                                    read.pitch, read.x & 0xffffffff, read.y & 0xffffffff};
  std::vector<Lane> lanes;
  for (int l = 0; l < 16; ++l) lanes.push_back({l, l == off ? nullptr : in.data(), out[l].data()});
  FakeMachine machine;
  *fault = instruction->run({machine, nullptr, lanes});
  return out;
}

TEST(SpirvBlocks, PlainOnesGoWordByWordAlongTheRows) {
  const Matrix<uint16_t> halves;
  Fault fault;
  auto words = Execute({"16b_8r16x2c", halves.address(), 128, 32, 128, 4, 3}, 16, 16, &fault);
  ASSERT_FALSE(fault.has_value()) << *fault;
  for (int l = 0; l < 16; ++l)
    for (int i = 0; i < 16; ++i) EXPECT_EQ(words[l][i], halves.Value(3 + i % 8, 4 + 16 * (i / 8) + l));
  const Matrix<uint32_t> singles;
  words = Execute({"32b_8r8x1c", singles.address()}, 4, 32, &fault);
  ASSERT_FALSE(fault.has_value()) << *fault;
  for (int l = 0; l < 16; ++l)
    for (int i = 0; i < 4; ++i) EXPECT_EQ(words[l][i], singles.Value(2 * i + l / 8, l % 8));
  const Matrix<uint8_t> bytes;
  words = Execute({"8b_2r32x1c", bytes.address()}, 2, 16, &fault);
  ASSERT_FALSE(fault.has_value()) << *fault;
  for (int l = 0; l < 16; ++l)
    for (int i = 0; i < 2; ++i) EXPECT_EQ(words[l][i], bytes.Value(i, 2 * l) | bytes.Value(i, 2 * l + 1) << 8);
}

TEST(SpirvBlocks, TransformedOnesHaveNeighbouringRowsInAWord) {
  const Matrix<uint16_t> halves;
  Fault fault;
  auto words = Execute({"transform_16b_16r16x2c", halves.address()}, 16, 32, &fault);
  ASSERT_FALSE(fault.has_value()) << *fault;
  for (int l = 0; l < 16; ++l)
    for (int i = 0; i < 16; ++i) {
      const int column = i / 8 * 16 + l;
      EXPECT_EQ(words[l][i], halves.Value(i % 8 * 2, column) | uint32_t{halves.Value(i % 8 * 2 + 1, column)} << 16);
    }
}

TEST(SpirvBlocks, TransposedOnesHaveARowALane) {
  const Matrix<uint32_t> words;
  Fault fault;
  const auto read = Execute({"transpose_32b_16r8x1c", words.address(), 128, 32, 128, 2, 1}, 8, 32, &fault);
  ASSERT_FALSE(fault.has_value()) << *fault;
  for (int l = 0; l < 16; ++l)
    for (int i = 0; i < 8; ++i) EXPECT_EQ(read[l][i], words.Value(1 + l, 2 + i));
}

TEST(SpirvBlocks, ReadZerosOutside) {
  const Matrix<uint16_t> halves;
  Fault fault;
  auto words = Execute({"16b_8r16x1c", halves.address(), 64, 6, 128, 24, static_cast<uint64_t>(-2)}, 8, 16, &fault);
  ASSERT_FALSE(fault.has_value()) << *fault;
  for (int l = 0; l < 16; ++l)
    for (int i = 0; i < 8; ++i) {
      const bool inside = i >= 2 && i - 2 < 6 && 24 + l < 32;
      EXPECT_EQ(words[l][i], inside ? halves.Value(i - 2, 24 + l) : 0) << l << " " << i;
    }
}

TEST(SpirvBlocks, CheckWhatTheExtensionDemands) {
  const Matrix<uint16_t> halves;
  const uint64_t at = halves.address();
  const std::pair<Read, const char*> kFaults[] = {
      {{"16b_8r16x1c", at + 32}, "no multiple of 64"},
      {{"16b_8r16x1c", at, 60}, "a width of 60"},
      {{"16b_8r16x1c", at, 66}, "a width of 66"},
      {{"16b_8r16x1c", at, 64, 0}, "a height of 0"},
      {{"16b_8r16x1c", at, 64, 8, 72}, "a pitch of 72"},
      {{"16b_8r16x1c", at, 128, 8, 64}, "less than the width"},
      {{"16b_8r16x1c", at, 128, 8, 128, 1}, "begins at byte 2"},
  };
  for (const auto& [read, says] : kFaults) {
    Fault fault;
    Execute(read, 8, 16, &fault);
    ASSERT_TRUE(fault.has_value()) << says;
    EXPECT_THAT(*fault, HasSubstr(says));
  }
  Fault fault;
  Execute({"16b_8r16x1c", at}, 8, 16, &fault, /*off=*/5);
  ASSERT_TRUE(fault.has_value());
  EXPECT_THAT(*fault, HasSubstr("lane 5 does not take part"));
}

Fault Prefetch(const Read& read, int off = -1) {
  auto instruction = FindInstruction(
      absl::StrCat("spirv:intel_sub_group_2d_block_prefetch_", read.name, " pvc : 1x64 1x32 1x32 1x32 2x32"));
  EXPECT_TRUE(instruction.ok()) << instruction.status();
  if (!instruction.ok()) return absl::nullopt;
  const std::vector<uint64_t> in = {read.base, read.width, read.height, read.pitch, read.x, read.y};
  std::vector<Lane> lanes;
  for (int l = 0; l < 16; ++l) lanes.push_back({l, l == off ? nullptr : in.data(), nullptr});
  FakeMachine machine;
  return instruction->run({machine, nullptr, lanes});
}

TEST(SpirvBlocks, PrefetchesDemandTheSameOfTheirMatrix) {
  const Matrix<uint16_t> halves;
  const uint64_t at = halves.address();
  EXPECT_FALSE(Prefetch({"8b_16r32x2c", at}).has_value());
  EXPECT_FALSE(Prefetch({"16b_8r16x1c", at, 64, 1, 128, 32}).has_value()) << "nothing of the block is inside";
  const std::pair<Read, const char*> kFaults[] = {
      {{"8b_16r32x2c", at + 32}, "no multiple of 64"},   {{"8b_16r32x2c", at, 32}, "a width of 32"},
      {{"8b_16r32x2c", at, 64, 8, 72}, "a pitch of 72"}, {{"8b_16r32x2c", at, 128, 8, 64}, "less than the width"},
      {{"8b_16r32x2c", at, 64, 0}, "a height of 0"},     {{"8b_16r32x2c", at, 128, 8, 128, 2}, "begins at byte 2"},
  };
  for (const auto& [read, says] : kFaults) {
    Fault fault = Prefetch(read);
    ASSERT_TRUE(fault.has_value()) << says;
    EXPECT_THAT(*fault, HasSubstr(says));
  }
  Fault fault = Prefetch({"8b_16r32x2c", at}, /*off=*/5);
  ASSERT_TRUE(fault.has_value());
  EXPECT_THAT(*fault, HasSubstr("lane 5 does not take part"));
  for (const char* name : {"8b_16r16x2c", "8b_3r32x1c", "8b_16r32x4c", "transform_16b_16r16x1c"})
    EXPECT_FALSE(FindInstruction(
                     absl::StrCat("spirv:intel_sub_group_2d_block_prefetch_", name, " pvc : 1x64 1x32 1x32 1x32 2x32"))
                     .ok())
        << name;
}

TEST(SpirvBlocks, LackOtherShapes) {
  for (const char* name : {"16b_8r16x4c pvc 32x16", "16b_8r16x1c pvc 4x16", "transform_16b_16r32x1c pvc 16x32",
                           "16b_64r16x1c pvc 64x16", "16b_8r16 pvc 8x16"})
    EXPECT_FALSE(
        FindInstruction(absl::StrCat("spirv:intel_sub_group_2d_block_read_", name, " : 1x64 1x32 1x32 1x32 2x32")).ok())
        << name;
}

}  // namespace
}  // namespace tritond::workers::emulated
