// SPDX-License-Identifier: Apache-2.0
#include "server/compile/text_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>

#include "absl/synchronization/notification.h"
#include "server/errors/error_details.h"

namespace tritond::server {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kSmall = TextPool::kSmallBytes;
constexpr uint64_t kLarge = TextPool::kSmallBytes + 1;

// A task that goes on when it is told to.
struct Authorizer {
  absl::Notification begun, go_on;
  TextPool::Task Task() {
    return [this](const absl::Status&) {
      begun.Notify();
      go_on.WaitForNotification();
    };
  }
};

// What became of tasks, in order.
class Seen {
 public:
  TextPool::Task Task(std::string name) {
    return [this, name = std::move(name)](const absl::Status& status) {
      absl::MutexLock lock(&mu_);
      names_.push_back(status.ok() ? name : absl::StrCat(name, " ", ReasonName(ReasonOf(status))));
    };
  }
  std::vector<std::string> Await(size_t count) {
    absl::MutexLock lock(&mu_);
    const auto enough = [&] { return names_.size() >= count; };
    mu_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(30));
    return names_;
  }

 private:
  absl::Mutex mu_;
  std::vector<std::string> names_;
};

TEST(TextPool, SmallTextsDoNotWaitForLargeOnes) {
  Authorizer large;
  Seen seen;
  TextPool pool({1, 0});
  pool.Run("flood", kLarge, large.Task());
  large.begun.WaitForNotification();
  pool.Run("flood", kLarge, seen.Task("large"));
  pool.Run("other", kSmall, seen.Task("small"));
  EXPECT_THAT(seen.Await(1), ElementsAre("small"));
  large.go_on.Notify();
  EXPECT_THAT(seen.Await(2), ElementsAre("small", "large"));
}

TEST(TextPool, CallersTakeTurns) {
  Authorizer first;
  Seen seen;
  TextPool pool({1, 0});
  pool.Run("flood", kSmall, first.Task());
  first.begun.WaitForNotification();
  for (int i = 0; i < 3; ++i) pool.Run("flood", kSmall, seen.Task("flood"));
  pool.Run("other", kSmall, seen.Task("other"));
  first.go_on.Notify();
  EXPECT_EQ(seen.Await(4).front(), "other");
}

TEST(TextPool, TextsWithoutBytesCostTurnsToo) {
  Authorizer first;
  Seen seen;
  TextPool pool({1, 0});
  pool.Run("flood", 0, first.Task());
  first.begun.WaitForNotification();
  for (int i = 0; i < 50; ++i) pool.Run("flood", 0, seen.Task("flood"));
  pool.Run("other", 0, seen.Task("other"));
  first.go_on.Notify();
  EXPECT_EQ(seen.Await(51).front(), "other");
}

TEST(TextPool, ATextThatIsDroppedIsNeverRead) {
  Authorizer first;
  Seen seen;
  TextPool pool({1, 0});
  const TextPool::Ticket running = pool.Run("a", kSmall, first.Task());
  first.begun.WaitForNotification();
  EXPECT_FALSE(pool.Drop(running)) << "it is being read";
  auto bytes = std::make_shared<int>();
  const TextPool::Ticket ticket = pool.Run("a", kSmall, [bytes](const absl::Status&) { FAIL() << "it was dropped"; });
  EXPECT_EQ(bytes.use_count(), 2);
  EXPECT_TRUE(pool.Drop(ticket));
  EXPECT_EQ(bytes.use_count(), 1) << "its memory goes at once";
  EXPECT_FALSE(pool.Drop(ticket));
  pool.Run("a", kSmall, seen.Task("next"));
  first.go_on.Notify();
  EXPECT_THAT(seen.Await(1), ElementsAre("next"));
}

TEST(TextPool, MemoryIsBoundedForAllAndForOneCaller) {
  Authorizer first;
  Seen seen;
  TextPool pool({1, 4 * kLarge});
  pool.Run("a", kLarge, first.Task());
  first.begun.WaitForNotification();
  EXPECT_EQ(pool.waiting_bytes(), 0u) << "accounted for elsewhere";
  const auto take = [&](const std::string& caller) {
    return pool.TryRun(caller, kLarge, seen.Task(caller)).has_value();
  };
  EXPECT_TRUE(take("a"));
  EXPECT_TRUE(take("a"));
  EXPECT_FALSE(take("a")) << "half is for others";
  EXPECT_TRUE(take("b"));
  const std::optional<TextPool::Ticket> last = pool.TryRun("c", kLarge, seen.Task("c"));
  EXPECT_TRUE(last.has_value());
  EXPECT_FALSE(take("d"));
  EXPECT_EQ(pool.waiting_bytes(), 4 * kLarge);
  EXPECT_TRUE(pool.Drop(*last));
  EXPECT_TRUE(take("d"));
  first.go_on.Notify();
  EXPECT_EQ(seen.Await(4).size(), 4u);
  EXPECT_EQ(pool.waiting_bytes(), 0u);
  EXPECT_EQ(pool.waiting(), 0u);
}

TEST(TextPool, TheLargestTextIsTakenWhenNothingWaits) {
  Seen seen;
  TextPool pool({1, 10});
  EXPECT_TRUE(pool.TryRun("a", kLarge, seen.Task("a")).has_value());
  EXPECT_THAT(seen.Await(1), ElementsAre("a"));
}

TEST(TextPool, AtTheEndWhatWaitsHearsWhy) {
  Authorizer first, large;
  Seen seen;
  TextPool pool({1, 0});
  pool.Run("a", kSmall, first.Task());
  pool.Run("a", kLarge, large.Task());
  first.begun.WaitForNotification();
  large.begun.WaitForNotification();
  pool.Run("a", kSmall, seen.Task("waits"));
  pool.Run("a", kLarge, seen.Task("waits too"));
  pool.Refuse();
  EXPECT_EQ(pool.waiting(), 0u) << "nobody waits for what is being read";
  pool.Run("a", kSmall, seen.Task("comes later"));
  first.go_on.Notify();
  large.go_on.Notify();
  EXPECT_THAT(seen.Await(3), ElementsAre("waits DRAINING", "waits too DRAINING", "comes later DRAINING"));
}

TEST(TextPool, AfterStopNothingIsCalled) {
  Seen seen;
  TextPool pool({2, 0});
  pool.Stop();
  pool.Run("a", kSmall, seen.Task("a"));
  EXPECT_EQ(pool.waiting(), 0u);
  pool.Stop();
}

TEST(TextPool, TextsGiveWayToAllElse) {
  TextPool pool({1, 0});
  for (const uint64_t bytes : {kSmall, kLarge}) {
    absl::Notification done;
    int priority = -1;
    pool.Run("a", bytes, [&](const absl::Status&) {
      priority = getpriority(PRIO_PROCESS, 0);
      done.Notify();
    });
    done.WaitForNotification();
    const int own = getpriority(PRIO_PROCESS, 0);
    EXPECT_EQ(priority, std::min(own + 5, 19)) << bytes;
  }
}

TEST(TextTurn, LeavingBeforeThePlaceIsKnownGivesItBack) {
  Authorizer first;
  TextPool pool({1, 0});
  pool.Run("a", kSmall, first.Task());
  first.begun.WaitForNotification();
  TextTurn turn(pool);
  EXPECT_FALSE(turn.left());
  EXPECT_FALSE(turn.Leave()) << "there is nothing to give back yet";
  EXPECT_TRUE(turn.left());
  EXPECT_TRUE(turn.Hold(pool.Run("a", kSmall, [](const absl::Status&) { FAIL(); })));
  EXPECT_FALSE(turn.Leave()) << "it has been given back";
  first.go_on.Notify();
}

TEST(TextTurn, LeavingGivesThePlaceBackUnlessItsTurnHasCome) {
  Authorizer first;
  TextPool pool({1, 0});
  TextTurn running(pool), waiting(pool);
  EXPECT_FALSE(running.Hold(pool.Run("a", kSmall, first.Task())));
  first.begun.WaitForNotification();
  EXPECT_FALSE(waiting.Hold(pool.Run("a", kSmall, [](const absl::Status&) { FAIL(); })));
  EXPECT_TRUE(waiting.Leave());
  EXPECT_FALSE(running.Leave());
  first.go_on.Notify();
}

}  // namespace
}  // namespace tritond::server
