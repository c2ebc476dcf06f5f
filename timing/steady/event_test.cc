// SPDX-License-Identifier: Apache-2.0
#include "timing/steady/event.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "timing/steady/steady_time.h"

namespace tritond::timing {
namespace {

TEST(Event, AWaitEndsWithItsLimit) {
  Event event;
  const absl::Time start = SteadyNow();
  EXPECT_FALSE(event.WaitFor(absl::Milliseconds(30)));
  EXPECT_GE(SteadyNow() - start, absl::Milliseconds(30));
}

TEST(Event, AnEarlierSetIsTakenOnce) {
  Event event;
  event.Set();
  event.Set();
  EXPECT_TRUE(event.WaitFor(absl::InfiniteDuration()));
  EXPECT_FALSE(event.WaitFor(absl::ZeroDuration()));
  EXPECT_FALSE(event.WaitFor(-absl::InfiniteDuration()));
}

TEST(Event, EndsTheWaitOfAnotherThread) {
  Event event;
  bool set = false;
  std::thread waiter([&] { set = event.WaitFor(absl::InfiniteDuration()); });
  event.Set();
  waiter.join();
  EXPECT_TRUE(set);
}

TEST(Event, EachSetEndsOneWait) {
  Event event, ended;
  std::atomic<int> ends{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back([&] {
      EXPECT_TRUE(event.WaitFor(absl::InfiniteDuration()));
      ++ends;
      ended.Set();
    });
  }
  for (int i = 1; i <= 3; ++i) {
    event.Set();
    EXPECT_TRUE(ended.WaitFor(absl::Seconds(30)));
    EXPECT_EQ(ends, i);
  }
  for (std::thread& waiter : waiters) waiter.join();
}

}  // namespace
}  // namespace tritond::timing
