// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/lane_reduction.h"

#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

TEST(LaneReduction, OneResultIsExchangedByAButterfly) {
  for (int bits = 0; bits <= 5; ++bits) EXPECT_EQ(PlanLaneReduction(1, bits, 1, 1).shared_bits, 0);
  EXPECT_EQ(PlanLaneReduction(1, 5, 1, 1).slots, 25);
}

TEST(LaneReduction, ManyResultsOfAWholeWarpAreShared) {
  EXPECT_EQ(PlanLaneReduction(4, 5, 1, 1).shared_bits, 2);
  EXPECT_EQ(PlanLaneReduction(32, 5, 1, 1).shared_bits, 3);
  EXPECT_LT(PlanLaneReduction(32, 5, 1, 1).slots, 0.6 * 32 * 25);
}

TEST(LaneReduction, FewLanesOrTargetsThatCannotShareNothing) {
  EXPECT_EQ(PlanLaneReduction(2, 2, 1, 1).shared_bits, 0);
  EXPECT_EQ(PlanLaneReduction(8, 1, 1, 1).shared_bits, 0);
  EXPECT_EQ(PlanLaneReduction(32, 5, 1, 1, /*may_share=*/false).shared_bits, 0);
  EXPECT_EQ(PlanLaneReduction(32, 5, 1, 1, /*may_share=*/false).slots, 32 * 25);
}

// Longer combinations are worth more sharing.
TEST(LaneReduction, NeverTakesMoreThanAButterfly) {
  for (int results = 1; results <= 64; results *= 2)
    for (int bits = 0; bits <= 6; ++bits)
      for (int words = 1; words <= 2; ++words)
        for (int combine = 1; combine <= 16; combine *= 4) {
          const LaneReduction plan = PlanLaneReduction(results, bits, words, combine);
          EXPECT_LE(plan.slots, results * bits * (4 * words + combine));
          EXPECT_LE(1 << plan.shared_bits, results);
          EXPECT_LE(plan.shared_bits, bits);
        }
}

}  // namespace
}  // namespace tritond::compiler
