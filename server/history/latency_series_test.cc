// SPDX-License-Identifier: Apache-2.0
#include "server/history/latency_series.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

class LatencySeriesTest : public testing::Test {
 protected:
  absl::Time now_ = absl::FromUnixSeconds(1000);
  LatencySeries series_{[this] { return now_; }, absl::Seconds(10), 6};
};

TEST_F(LatencySeriesTest, HasAPointForEachIntervalUpToNow) {
  const auto points = series_.Points();
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points.front().start, absl::FromUnixSeconds(950));
  EXPECT_EQ(points.back().start, absl::FromUnixSeconds(1000));
  EXPECT_EQ(points.back().count, 0u);
  EXPECT_EQ(points.back().p50, absl::ZeroDuration());
}

TEST_F(LatencySeriesTest, TellsMedianAndTailToATenth) {
  for (int i = 0; i < 90; ++i) series_.Record(absl::Milliseconds(3));
  for (int i = 0; i < 10; ++i) series_.Record(absl::Seconds(2));
  const LatencySeries::Point point = series_.Points().back();
  EXPECT_EQ(point.count, 100u);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(point.p50), 3, 0.3);
  EXPECT_NEAR(absl::ToDoubleSeconds(point.p95), 2, 0.2);
}

TEST_F(LatencySeriesTest, ExtremesCountAtTheEndsOfTheScale) {
  series_.Record(absl::Nanoseconds(5));
  EXPECT_NEAR(absl::ToDoubleMicroseconds(series_.Points().back().p95), 1, 0.1);
  now_ += absl::Seconds(10);
  series_.Record(absl::Hours(5));
  EXPECT_NEAR(absl::ToDoubleSeconds(series_.Points().back().p95), 123, 13);
}

TEST_F(LatencySeriesTest, ForgetsWhatIsOlderThanItsIntervals) {
  series_.Record(absl::Seconds(1));
  now_ += absl::Seconds(50);
  EXPECT_EQ(series_.Points().front().count, 1u);
  now_ += absl::Seconds(10);
  for (const auto& point : series_.Points()) EXPECT_EQ(point.count, 0u);
  series_.Record(absl::Seconds(1));
  EXPECT_EQ(series_.Points().back().count, 1u);
}

}  // namespace
}  // namespace tritond::server
