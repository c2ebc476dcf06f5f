// SPDX-License-Identifier: Apache-2.0
#include "server/app/idle_watch.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

absl::Time At(int seconds) { return kStart + absl::Seconds(seconds); }

TEST(IdleWatch, ADaemonWithoutRequestsIsIdleAfterTheLimit) {
  IdleWatch watch(absl::Seconds(10), kStart);
  EXPECT_FALSE(watch.Observe(0, false, At(9)));
  EXPECT_TRUE(watch.Observe(0, false, At(10)));
}

TEST(IdleWatch, ARequestBeginsTheTimeAnew) {
  IdleWatch watch(absl::Seconds(10), kStart);
  EXPECT_FALSE(watch.Observe(1, false, At(9)));
  EXPECT_FALSE(watch.Observe(1, false, At(18)));
  EXPECT_TRUE(watch.Observe(1, false, At(19)));
}

TEST(IdleWatch, WorkIsNotIdleness) {
  IdleWatch watch(absl::Seconds(10), kStart);
  EXPECT_FALSE(watch.Observe(0, true, At(20)));
  EXPECT_FALSE(watch.Observe(0, false, At(29)));
  EXPECT_TRUE(watch.Observe(0, false, At(30)));
}

TEST(IdleWatch, ADaemonWithoutALimitIsNeverIdle) {
  IdleWatch watch(absl::ZeroDuration(), kStart);
  EXPECT_FALSE(watch.Observe(0, false, At(1000000)));
}

}  // namespace
}  // namespace tritond::server
