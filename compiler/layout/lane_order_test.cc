// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/lane_order.h"

#include "compiler/layout/layout_algebra.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

LinearLayout Offsets(int vec, int lanes, int warps, int registers) {
  return LinearLayout::Identity1D(vec, "register", "offset") * LinearLayout::Identity1D(lanes, "lane", "offset") *
         LinearLayout::Identity1D(warps, "warp", "offset") * LinearLayout::Identity1D(registers, "register", "offset");
}

// 16 rows of 64 columns, whose groups of 8 columns are permuted by the row.
LinearLayout SwizzledMemory() {
  InDimBases offset{"offset", {}};
  for (int column = 1; column < 64; column *= 2) offset.bases.push_back({0, column});
  for (int row = 1; row < 16; row *= 2) offset.bases.push_back({row, row < 8 ? 8 * row : 0});
  return *LinearLayout::FromBases({offset}, {{"dim0", 16}, {"dim1", 64}});
}

TEST(LaneOrder, LanesSideBySideAreInOrder) {
  EXPECT_TRUE(HasLanesInOrder(Offsets(8, 32, 4, 2), 8));
  EXPECT_TRUE(HasLanesInOrder(Offsets(1, 64, 1, 1), 1));
}

TEST(LaneOrder, GroupsOfOtherSizesAreNot) {
  EXPECT_FALSE(HasLanesInOrder(Offsets(8, 32, 4, 2), 4));
  EXPECT_FALSE(HasLanesInOrder(Offsets(8, 32, 4, 2), 16));
  EXPECT_FALSE(HasLanesInOrder(Offsets(1, 32, 4, 1), 2));
}

TEST(LaneOrder, LanesThatSwapAreNot) {
  auto swapped = LinearLayout::FromBases({{"register", {}}, {"lane", {{2}, {1}}}}, {{"offset", 4}});
  ASSERT_TRUE(swapped.ok());
  EXPECT_FALSE(HasLanesInOrder(*swapped, 1));
}

TEST(LaneOrder, AnotherWarpMayNotPermuteLanes) {
  auto permuted =
      LinearLayout::FromBases({{"register", {}}, {"lane", {{1}, {2}}}, {"warp", {{4 ^ 1}}}}, {{"offset", 8}});
  ASSERT_TRUE(permuted.ok());
  EXPECT_FALSE(HasLanesInOrder(*permuted, 1));
}

TEST(LaneOrder, TheLayoutFollowsASwizzledMemory) {
  const LinearLayout memory = SwizzledMemory();
  for (int vec : {2, 8}) {
    auto layout = LayoutInLaneOrder(memory, vec, 32, 4);
    ASSERT_TRUE(layout.has_value());
    EXPECT_EQ(layout->InSize("register"), 1024 / (32 * 4));
    auto to_offset = InvertAndCompose(*layout, memory);
    ASSERT_TRUE(to_offset.ok()) << to_offset.status();
    EXPECT_TRUE(HasLanesInOrder(*to_offset, vec));
    EXPECT_EQ(to_offset->NumConsecutive("register", "offset"), vec);
  }
}

TEST(LaneOrder, TooFewElementsHaveNoLayout) {
  EXPECT_FALSE(LayoutInLaneOrder(SwizzledMemory(), 16, 32, 4).has_value());
}

}  // namespace
}  // namespace tritond::compiler
