// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/sample_statistics.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

TEST(SampleStatistics, TheMedianOfAnEvenNumberLiesBetweenTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(Median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(Median({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(Median({7}), 7);
}

TEST(SampleStatistics, QuantilesAreInterpolated) {
  EXPECT_DOUBLE_EQ(Quantile({10, 20, 30, 40, 50}, 0.25), 20);
  EXPECT_DOUBLE_EQ(Quantile({50, 40, 30, 20, 10}, 0.1), 14);
  EXPECT_DOUBLE_EQ(Quantile({1, 2}, 1), 2);
  EXPECT_DOUBLE_EQ(Quantile({1, 2}, 0), 1);
}

TEST(SampleStatistics, AnOutlierMovesNeitherMedianNorSpread) {
  EXPECT_DOUBLE_EQ(Median({1, 2, 3, 4, 1000}), 3);
  EXPECT_DOUBLE_EQ(InterquartileRange({1, 2, 3, 4, 1000}), 2);
}

}  // namespace
}  // namespace tritond::server
