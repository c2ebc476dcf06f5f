// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/lane_reduction.h"

#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

TEST(LaneReduction, OneResultIsExchangedByAButterfly) {
  for (int bits = 0; bits <= 5; ++bits) EXPECT_EQ(PlanLaneReduction(1, bits, {}).shared_bits, 0);
  EXPECT_EQ(PlanLaneReduction(1, 5, {}).slots, 25);
}

TEST(LaneReduction, ManyResultsOfAWholeWarpAreShared) {
  EXPECT_EQ(PlanLaneReduction(4, 5, {}).shared_bits, 2);
  EXPECT_EQ(PlanLaneReduction(32, 5, {}).shared_bits, 3);
  EXPECT_LT(PlanLaneReduction(32, 5, {}).slots, 0.6 * 32 * 25);
}

TEST(LaneReduction, FewLanesOrTargetsThatCannotShareNothing) {
  EXPECT_EQ(PlanLaneReduction(2, 2, {}).shared_bits, 0);
  EXPECT_EQ(PlanLaneReduction(8, 1, {}).shared_bits, 0);
  EXPECT_EQ(PlanLaneReduction(32, 5, {.may_share = false}).shared_bits, 0);
  EXPECT_EQ(PlanLaneReduction(32, 5, {.may_share = false}).slots, 32 * 25);
}

// Three words that are combined in order, four results: a step less than all lanes do for each result.
TEST(LaneReduction, OrderedResultsAreShared) {
  const LaneWork work = {.words = 3, .combine = 13, .is_ordered = true};
  const LaneReduction plan = PlanLaneReduction(4, 5, work);
  EXPECT_EQ(plan.shared_bits, 2);
  LaneWork alone = work, apart = work;
  alone.may_share = false;
  apart.stays_apart = true;
  EXPECT_LT(plan.slots, 0.6 * PlanLaneReduction(4, 5, alone).slots);
  EXPECT_EQ(PlanLaneReduction(4, 5, apart).slots, plan.slots - 4 * 3 * 4);
}

// Longer combinations are worth more sharing.
TEST(LaneReduction, NeverTakesMoreThanAButterfly) {
  for (int results = 1; results <= 64; results *= 2)
    for (int bits = 0; bits <= 6; ++bits)
      for (int words = 1; words <= 2; ++words)
        for (int combine = 1; combine <= 16; combine *= 4) {
          const LaneReduction plan = PlanLaneReduction(
              results, bits, {.words = static_cast<double>(words), .combine = static_cast<double>(combine)});
          EXPECT_LE(plan.slots, results * bits * (4 * words + combine));
          EXPECT_LE(1 << plan.shared_bits, results);
          EXPECT_LE(plan.shared_bits, bits);
        }
}

}  // namespace
}  // namespace tritond::compiler
