// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/remote_waiters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RemoteWaitersTest : public testing::Test, public RemoteWaiters::Host {
 protected:
  uint64_t JoinJob(const std::string& key, absl::Time deadline, std::function<void()> ended) override {
    joined_.push_back(key);
    deadlines_[100] = deadline;
    ended_ = std::move(ended);
    return in_flight_ ? 100 : 0;
  }
  bool LeaveJob(uint64_t waiter) override {
    left_.push_back(waiter);
    return waits_;
  }
  void ExtendWait(uint64_t waiter, absl::Time deadline) override { deadlines_[waiter] = deadline; }
  uint64_t Take(const std::string& key, uint64_t waiter) {
    const uint64_t id = remote_->Begin(key, [this] { ++settled_; });
    remote_->Waits(key, id, waiter);
    return id;
  }
  void Hear(const std::string& key, bool wanted, int times = 1) {
    for (int i = 0; i < times; ++i) {
      remote_->Heard(key, wanted);
      now_ += config_.lease / 4;
    }
  }

  RemoteWaiters::Config config_;
  absl::Time now_ = absl::FromUnixSeconds(1000);
  bool waits_ = true;
  std::vector<uint64_t> left_;
  std::map<uint64_t, absl::Time> deadlines_;
  int settled_ = 0;
  bool in_flight_ = true;
  std::vector<std::string> joined_;
  std::function<void()> ended_;
  std::unique_ptr<RemoteWaiters> remote_ = std::make_unique<RemoteWaiters>(
      config_, [this] { return now_; }, *this);
};

TEST_F(RemoteWaitersTest, OneThatIsWantedIsKeptAndItsTimeDoesNotRunOut) {
  Take("key", 7);
  Hear("key", true, 100);
  EXPECT_THAT(left_, IsEmpty());
  EXPECT_EQ(deadlines_[7], now_ - config_.lease / 4 + 2 * config_.lease);
}

TEST_F(RemoteWaitersTest, AJobWithoutCallersIsLeft) {
  Take("key", 7);
  Hear("key", true);
  Hear("key", false);
  EXPECT_THAT(left_, IsEmpty());  // Others may be about to say that they wait.
  Hear("key", false, 10);
  EXPECT_THAT(left_, ElementsAre(7));
  EXPECT_EQ(settled_, 1);
}

TEST_F(RemoteWaitersTest, ASilenceThatIsBrokenCountsForNothing) {
  Take("key", 7);
  for (int i = 0; i < 10; ++i) {
    Hear("key", true);
    Hear("key", false);
  }
  EXPECT_THAT(left_, IsEmpty());
}

TEST_F(RemoteWaitersTest, TheOfferingDaemonHasTimeToFindThatTheJobRuns) {
  Take("key", 7);
  Hear("key", false, 7);
  EXPECT_THAT(left_, IsEmpty());
  Hear("key", false, 2);
  EXPECT_THAT(left_, ElementsAre(7));  // Who offered it is lost.
}

TEST_F(RemoteWaitersTest, AllThatWereTakenUnderOneKeyAreLeft) {
  Take("key", 7);
  Take("key", 8);
  Take("other", 9);
  Hear("key", true);
  Hear("key", false, 2);
  EXPECT_THAT(left_, ElementsAre(7, 8));
  EXPECT_EQ(settled_, 2);
}

TEST_F(RemoteWaitersTest, OneThatHasEndedIsLeftAlone) {
  remote_->Ended("key", Take("key", 7));
  Hear("key", false, 10);
  EXPECT_THAT(left_, IsEmpty());
}

TEST_F(RemoteWaitersTest, OnesOwnJobThatOthersFollowHasOneWaiterForThem) {
  Hear("key", false, 10);
  EXPECT_THAT(joined_, IsEmpty());
  Hear("key", true, 10);
  EXPECT_THAT(joined_, ElementsAre("key"));
  EXPECT_EQ(deadlines_[100], now_ - config_.lease / 4 + 2 * config_.lease);
  Hear("key", false, 2);
  EXPECT_THAT(left_, ElementsAre(100));
  Hear("key", true);
  EXPECT_THAT(joined_, ElementsAre("key", "key"));
  ended_();
  Hear("key", false, 10);
  EXPECT_THAT(left_, ElementsAre(100));
}

TEST_F(RemoteWaitersTest, AJobThatEndsBeforeItIsJoinedHasNone) {
  in_flight_ = false;
  Hear("key", true);
  Hear("key", false, 10);
  EXPECT_THAT(left_, IsEmpty());
  EXPECT_EQ(deadlines_.size(), 1u);
}

TEST_F(RemoteWaitersTest, OneThatEndsAsItIsLeftIsSettledByItsOutcome) {
  Take("key", 7);
  waits_ = false;
  Hear("key", true);
  Hear("key", false, 2);
  EXPECT_EQ(settled_, 0);
}

}  // namespace
}  // namespace tritond::server
