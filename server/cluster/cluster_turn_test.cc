// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/cluster_turn.h"

#include <gtest/gtest.h>

#include "tests/support/fake_cluster.h"

namespace tritond::server {
namespace {

using tests::FakeLeases;
using tests::FakeTime;

class ClusterTurnTest : public testing::Test {
 protected:
  static ClusterTurn::Config ConfigOf(const std::string& owner) {
    ClusterTurn::Config config;
    config.owner = owner;
    config.lease = absl::Hours(1);
    config.first_poll = absl::Milliseconds(1);
    return config;
  }

  // What happens while the turn is waited for: one step at each look.
  class Meanwhile final : public WaitingCaller {
   public:
    explicit Meanwhile(std::vector<std::function<void()>> steps = {}) : steps_(std::move(steps)) {}
    bool IsGone() override {
      if (looks_ < steps_.size()) steps_[looks_]();
      ++looks_;
      return gone;
    }
    void OnWait(const std::string&) override { ++told; }

    bool gone = false;
    int told = 0;

   private:
    std::vector<std::function<void()>> steps_;
    size_t looks_ = 0;
  };

  const cache::Digest key_ = cache::Digest::Of("key");
  FakeTime time_;
  FakeLeases leases_{time_};
  ClusterTurn first_{ConfigOf("first"), leases_, key_}, second_{ConfigOf("second"), leases_, key_};
  Meanwhile nothing_;
};

TEST_F(ClusterTurnTest, AFreeKeyIsTheAskersAndItsValueReachesTheCluster) {
  EXPECT_EQ(*first_.Await(false, nothing_), ClusterTurn::State::kMine);
  EXPECT_TRUE(first_.Publish(cache::Blob("value")));
  EXPECT_EQ(leases_.ValueOf(key_), "value");
  EXPECT_EQ(*second_.Await(false, nothing_), ClusterTurn::State::kDone);
  EXPECT_EQ(nothing_.told, 0);
}

TEST_F(ClusterTurnTest, TheSecondWaitsForTheValueOfTheFirst) {
  EXPECT_EQ(*first_.Await(false, nothing_), ClusterTurn::State::kMine);
  const auto publish = [this] { EXPECT_TRUE(first_.Publish(cache::Blob("value"))); };
  Meanwhile meanwhile({[] {}, publish});
  EXPECT_EQ(*second_.Await(false, meanwhile), ClusterTurn::State::kDone);
  EXPECT_EQ(meanwhile.told, 1);
}

TEST_F(ClusterTurnTest, ATurnThatEndsWithoutAValueIsTheNextOnes) {
  auto holder = std::make_unique<ClusterTurn>(ConfigOf("holder"), leases_, key_);
  EXPECT_EQ(*holder->Await(false, nothing_), ClusterTurn::State::kMine);
  Meanwhile meanwhile({[&] { holder.reset(); }});
  EXPECT_EQ(*second_.Await(false, meanwhile), ClusterTurn::State::kMine);
  EXPECT_TRUE(second_.Publish(cache::Blob("value")));
}

TEST_F(ClusterTurnTest, ALostHoldersTurnRunsOut) {
  leases_.Take(key_, absl::Seconds(5));
  Meanwhile meanwhile({[this] { time_.Pass(absl::Seconds(6)); }});
  EXPECT_EQ(*second_.Await(false, meanwhile), ClusterTurn::State::kMine);
}

TEST_F(ClusterTurnTest, AWaiterWithoutCallersStopsWaiting) {
  leases_.Take(key_, absl::Hours(1));
  Meanwhile meanwhile;
  meanwhile.gone = true;
  EXPECT_TRUE(absl::IsCancelled(second_.Await(false, meanwhile).status()));
}

TEST_F(ClusterTurnTest, ARefreshReplacesTheValue) {
  EXPECT_EQ(*first_.Await(false, nothing_), ClusterTurn::State::kMine);
  EXPECT_TRUE(first_.Publish(cache::Blob("old")));
  EXPECT_EQ(*second_.Await(true, nothing_), ClusterTurn::State::kMine);
  EXPECT_TRUE(second_.Publish(cache::Blob("new")));
  EXPECT_EQ(leases_.ValueOf(key_), "new");
}

TEST_F(ClusterTurnTest, WithoutTheEngineEverybodyMakesTheValue) {
  leases_.away = true;
  EXPECT_EQ(*first_.Await(false, nothing_), ClusterTurn::State::kMine);
  EXPECT_FALSE(first_.Publish(cache::Blob("value")));
}

}  // namespace
}  // namespace tritond::server
