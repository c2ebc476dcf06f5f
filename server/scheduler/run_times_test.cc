// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/run_times.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

TEST(RunTimes, ItsMeanFollowsTheLatestJobs) {
  RunTimes times;
  EXPECT_EQ(times.mean(), absl::Seconds(1));
  for (int i = 0; i < 100; ++i) times.Record(absl::Seconds(20));
  EXPECT_GT(times.mean(), absl::Seconds(19));
  for (int i = 0; i < 10; ++i) times.Record(absl::Seconds(2));
  EXPECT_LT(times.mean(), absl::Seconds(10));
}

TEST(RunTimes, TheSlowestButOneInAHundredOfTheLatest) {
  RunTimes times;
  EXPECT_EQ(times.Slowest(), std::nullopt);
  for (int i = 1; i <= 100; ++i) times.Record(absl::Seconds(i));
  EXPECT_EQ(times.Slowest(), absl::Seconds(99));
  for (int i = 0; i < 200; ++i) times.Record(absl::Seconds(1));
  EXPECT_EQ(times.Slowest(), absl::Seconds(1));
}

}  // namespace
}  // namespace tritond::server
