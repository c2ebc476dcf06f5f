// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/timed_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/synchronization/notification.h"

namespace tritond::server {
namespace {

TEST(TimedThreads, RunsTasksInTheOrderOfTheirTimes) {
  TimedThreads threads(1);
  absl::Mutex mu;
  std::vector<int> order;
  absl::Notification done;
  const auto add = [&](int number) {
    absl::MutexLock lock(&mu);
    order.push_back(number);
  };
  threads.RunAfter(absl::Milliseconds(20), [&] {
    add(3);
    done.Notify();
  });
  threads.RunAfter(absl::Milliseconds(10), [&] { add(2); });
  threads.RunAfter(absl::ZeroDuration(), [&] { add(1); });
  done.WaitForNotification();
  absl::MutexLock lock(&mu);
  EXPECT_THAT(order, testing::ElementsAre(1, 2, 3));
}

TEST(TimedThreads, ATaskThatBlocksDoesNotHoldUpOthers) {
  TimedThreads threads(2);
  absl::Notification second;
  threads.RunAfter(absl::ZeroDuration(), [&] { second.WaitForNotification(); });
  threads.RunAfter(absl::ZeroDuration(), [&] { second.Notify(); });
  second.WaitForNotification();
}

TEST(TimedThreads, StopRunsWhatIsDueAndDropsTheRest) {
  TimedThreads threads(1);
  bool due = false, later = false;
  absl::Notification begun, go_on;
  threads.RunAfter(absl::ZeroDuration(), [&] {
    begun.Notify();
    go_on.WaitForNotification();
  });
  threads.RunAfter(absl::ZeroDuration(), [&] { due = true; });
  threads.RunAfter(absl::Hours(1), [&] { later = true; });
  begun.WaitForNotification();
  go_on.Notify();
  threads.Stop();
  EXPECT_TRUE(due);
  EXPECT_FALSE(later);
}

}  // namespace
}  // namespace tritond::server
