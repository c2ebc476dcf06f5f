// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/timed_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/synchronization/notification.h"

namespace tritond::server {
namespace {

TEST(TimedThreads, RunsTasksInTheOrderOfTheirTimes) {
  absl::Mutex mu;
  std::vector<int> order;
  absl::Notification all_there, done;
  TimedThreads threads(1);
  threads.RunAfter(-absl::Hours(3), [&] { all_there.WaitForNotification(); });  // However slow this thread is.
  const auto add = [&](int number) {
    absl::MutexLock lock(&mu);
    order.push_back(number);
  };
  threads.RunAfter(absl::Milliseconds(20), [&] {
    add(3);
    done.Notify();
  });
  threads.RunAfter(-absl::Hours(1), [&] { add(2); });
  threads.RunAfter(-absl::Hours(2), [&] { add(1); });
  all_there.Notify();
  done.WaitForNotification();
  absl::MutexLock lock(&mu);
  EXPECT_THAT(order, testing::ElementsAre(1, 2, 3));
}

TEST(TimedThreads, ATaskThatBlocksDoesNotHoldUpOthers) {
  absl::Notification second;
  TimedThreads threads(2);  // Ends before what its tasks use.
  threads.RunAfter(absl::ZeroDuration(), [&] { second.WaitForNotification(); });
  threads.RunAfter(absl::ZeroDuration(), [&] { second.Notify(); });
  EXPECT_TRUE(second.WaitForNotificationWithTimeout(absl::Seconds(60)));
  if (!second.HasBeenNotified()) second.Notify();
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
