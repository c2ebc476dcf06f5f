// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/word_moves.h"

#include "compiler/layout/conversion.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using testing::ElementsAre;

LinearLayout Registers(int32_t size, absl::string_view out) { return LinearLayout::Identity1D(size, "register", out); }
LinearLayout Lanes(int32_t size, absl::string_view out) { return LinearLayout::Identity1D(size, "lane", out); }

TEST(WordMoves, PairsAndRowsMoveTogether) {
  // What accumulators are to operands of 8 bits: pairs of columns, then four of them.
  const LinearLayout src =
      Registers(2, "dim1") * Lanes(4, "dim1") * Registers(4, "dim1") * Lanes(8, "dim0") * Registers(2, "dim0");
  const LinearLayout dst =
      Registers(4, "dim1") * Lanes(4, "dim1") * Registers(2, "dim1") * Lanes(8, "dim0") * Registers(2, "dim0");
  const WordMoves words = FindWordMoves(src, dst, 4);
  EXPECT_THAT(words.src_registers, ElementsAre(ElementsAre(0, 1, 4, 5), ElementsAre(2, 3, 6, 7),
                                               ElementsAre(8, 9, 12, 13), ElementsAre(10, 11, 14, 15)));
  ASSERT_EQ(words.dst_registers.size(), 4);
  const auto plan = PlanConversion(words.src, words.dst);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kind, ConversionPlan::Kind::kShuffle);
  EXPECT_EQ(plan->src_register.size(), 4);
  // Each element is where the layouts say, whatever the word: 16 registers, 32 lanes.
  for (size_t word = 0; word < words.dst_registers.size(); ++word)
    for (int lane = 0; lane < 32; ++lane) {
      int from = plan->src_register[word], source_lane = plan->src_lane[word];
      for (const auto& bit : plan->select_bits)
        if (__builtin_popcount(lane & bit.lane_mask) % 2) from ^= bit.register_xor;
      for (int i = 0; i < 5; ++i) source_lane ^= lane >> i & 1 ? plan->lane_from_lane[i] : 0;
      for (int element = 0; element < 4; ++element)
        EXPECT_EQ(src.Apply({words.src_registers[from][element], source_lane}),
                  dst.TransposeOuts(src.OutNames()).Apply({words.dst_registers[word][element], lane}));
    }
}

TEST(WordMoves, OneElementWhereLanesShareIt) {
  const LinearLayout src = Registers(2, "dim0") * Lanes(32, "dim0");
  const LinearLayout dst = Lanes(2, "dim0") * Registers(2, "dim0") * Lanes(16, "dim0");
  const WordMoves words = FindWordMoves(src, dst, 4);
  EXPECT_THAT(words.src_registers, ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(words.dst_registers, ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(WordMoves, NoMoreThanAsked) {
  const LinearLayout src = Registers(8, "dim0") * Lanes(4, "dim0") * Lanes(8, "dim1");
  const LinearLayout dst = Registers(8, "dim0") * Lanes(8, "dim1") * Lanes(4, "dim0");
  EXPECT_EQ(FindWordMoves(src, dst, 4).src_registers.size(), 2);
  EXPECT_EQ(FindWordMoves(src, dst, 2).src_registers.size(), 4);
  EXPECT_EQ(FindWordMoves(src, dst, 1).src_registers.size(), 8);
}

}  // namespace
}  // namespace tritond::compiler
