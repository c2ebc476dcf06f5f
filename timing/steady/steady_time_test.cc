// SPDX-License-Identifier: Apache-2.0
#include "timing/steady/steady_time.h"

#include <gtest/gtest.h>

#include "absl/time/clock.h"

namespace tritond::timing {
namespace {

TEST(SteadyTime, GoesOn) {
  const absl::Time start = SteadyNow();
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_GE(SteadyNow() - start, absl::Milliseconds(20));
}

TEST(SteadyTime, TimesAreToldByTheWallClock) {
  const absl::Time now = SteadyNow();
  const absl::Duration off = ToWallTime(now - absl::Hours(1), now) - (absl::Now() - absl::Hours(1));
  EXPECT_LE(absl::AbsDuration(off), absl::Seconds(1));
}

TEST(SteadyTime, TheWallClocksTimesBecomeItsOwn) {
  const absl::Time now = absl::UnixEpoch() + absl::Hours(5);
  const absl::Duration off = FromWallTime(absl::Now() + absl::Minutes(2), now) - (now + absl::Minutes(2));
  EXPECT_LE(absl::AbsDuration(off), absl::Seconds(1));
}

TEST(SteadyTime, InfiniteTimesStayInfinite) {
  EXPECT_EQ(ToWallTime(absl::InfiniteFuture(), SteadyNow()), absl::InfiniteFuture());
  EXPECT_EQ(ToWallTime(absl::InfinitePast(), SteadyNow()), absl::InfinitePast());
  EXPECT_EQ(FromWallTime(absl::InfiniteFuture(), SteadyNow()), absl::InfiniteFuture());
}

}  // namespace
}  // namespace tritond::timing
