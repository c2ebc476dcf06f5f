// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/job_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace tritond::server {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

class JobQueueTest : public testing::Test {
 protected:
  void Push(uint64_t id, JobClass job_class, const std::string& tenant, const std::string& target = "cuda:90") {
    queue_.Push({id, {target, "b", false}, job_class, tenant, kStart, false, {}});
  }
  std::vector<uint64_t> PopAll(absl::Time now = kStart) {
    std::vector<uint64_t> order;
    while (auto id = queue_.Pop([](const Requirement&) { return true; }, now)) order.push_back(*id);
    return order;
  }
  JobQueue queue_{absl::Seconds(30)};
};

TEST_F(JobQueueTest, ServesTheMoreUrgentClassFirst) {
  Push(1, JobClass::kPrebuild, "a");
  Push(2, JobClass::kAutotune, "a");
  Push(3, JobClass::kInteractive, "a");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{3, 2, 1}));
}

TEST_F(JobQueueTest, ServesOneTenantInOrderOfArrival) {
  for (uint64_t id : {1, 2, 3}) Push(id, JobClass::kPrebuild, "a");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST_F(JobQueueTest, AlternatesBetweenTenantsHoweverManyJobsOneHas) {
  for (uint64_t id : {1, 2, 3, 4}) Push(id, JobClass::kPrebuild, "greedy");
  for (uint64_t id : {5, 6}) Push(id, JobClass::kPrebuild, "modest");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 5, 2, 6, 3, 4}));
}

TEST_F(JobQueueTest, AnOldBacklogChangesNothingBetweenTenantsAndClasses) {
  for (uint64_t id : {1, 2, 3, 4}) Push(id, JobClass::kPrebuild, "greedy");
  const absl::Time later = kStart + absl::Minutes(10);
  queue_.Push({5, {"cuda:90", "b", false}, JobClass::kPrebuild, "modest", later, false, {}});
  queue_.Push({6, {"cuda:90", "b", false}, JobClass::kInteractive, "human", later, false, {}});
  EXPECT_EQ(PopAll(later), (std::vector<uint64_t>{6, 1, 5, 2, 3, 4}));
}

TEST_F(JobQueueTest, AJobThatSeveralTenantsWaitForComesAtTheFirstOnesTurn) {
  for (uint64_t id : {1, 2, 3, 4, 5, 6}) Push(id, JobClass::kPrebuild, "greedy");
  Push(7, JobClass::kPrebuild, "modest");
  queue_.Join(5, "modest");
  queue_.Join(5, "modest");
  queue_.Join(6, "third");
  queue_.Join(3, "greedy");  // Its own already.
  // Of the three first turns each tenant has one; what was the modest one's is its own then.
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 5, 6, 2, 7, 3, 4}));
}

TEST_F(JobQueueTest, AJobThatATenantNoLongerWaitsForLeavesItsLine) {
  for (uint64_t id : {1, 2, 3, 4}) Push(id, JobClass::kPrebuild, "greedy");
  Push(5, JobClass::kPrebuild, "modest");
  queue_.Join(4, "modest");
  queue_.Join(4, "third");
  queue_.Quit(4, "modest");
  queue_.Quit(4, "third");
  queue_.Quit(4, "nobody");
  queue_.Quit(9, "modest");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 5, 2, 3, 4}));
  EXPECT_EQ(queue_.CountOf("modest"), 0u);
}

TEST_F(JobQueueTest, AJobThatComesBackStandsInEveryLineAgain) {
  for (uint64_t id : {1, 2, 3}) Push(id, JobClass::kPrebuild, "greedy");
  queue_.Push({4, {"cuda:90", "b", false}, JobClass::kPrebuild, "greedy", kStart, false, {"modest"}});
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 4, 2, 3}));
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(JobQueueTest, AStarvingClassGetsEveryEighthStart) {
  for (uint64_t id = 1; id <= 3; ++id) Push(id, JobClass::kPrebuild, "a");
  for (uint64_t id = 101; id <= 120; ++id) Push(id, JobClass::kInteractive, "b");
  std::vector<uint64_t> order = PopAll(kStart + absl::Seconds(29));
  EXPECT_EQ(order[20], 1u) << "nobody is patient for less";
  for (uint64_t id = 1; id <= 3; ++id) Push(id, JobClass::kPrebuild, "a");
  for (uint64_t id = 101; id <= 120; ++id) Push(id, JobClass::kInteractive, "b");
  order = PopAll(kStart + absl::Seconds(30));
  EXPECT_EQ(order[7], 1u);
  EXPECT_EQ(order[15], 2u);
  EXPECT_EQ(order[22], 3u);
}

TEST_F(JobQueueTest, TwoClassesThatStarveShareThatStart) {
  for (uint64_t id = 1; id <= 10; ++id) Push(id, JobClass::kPrebuild, "a");
  for (uint64_t id = 11; id <= 20; ++id) Push(id, JobClass::kAutotune, "a");
  for (uint64_t id = 101; id <= 180; ++id) Push(id, JobClass::kInteractive, "b");
  std::vector<uint64_t> order = PopAll(kStart + absl::Minutes(1));
  order.resize(80);
  EXPECT_EQ(std::count_if(order.begin(), order.end(), [](uint64_t id) { return id <= 10; }), 4);
  EXPECT_EQ(std::count_if(order.begin(), order.end(), [](uint64_t id) { return id > 10 && id <= 20; }), 4);
}

// Two workers take turns, so that every 8th start is always the same one's.
TEST_F(JobQueueTest, AClassStarvesOnNoKindOfWorker) {
  Push(1, JobClass::kPrebuild, "a", "cuda:90");
  Push(2, JobClass::kPrebuild, "a", "hip:gfx942");
  for (uint64_t id = 101; id <= 200; ++id) {
    Push(id, JobClass::kInteractive, "b", id % 2 == 0 ? "cuda:90" : "hip:gfx942");
  }
  std::vector<uint64_t> order;
  for (int i = 0; i < 20; ++i) {
    const std::string mine = i % 2 == 0 ? "cuda:90" : "hip:gfx942";
    const auto id =
        queue_.Pop([&](const Requirement& needs) { return needs.target == mine; }, kStart + absl::Minutes(1));
    order.push_back(*id);
  }
  EXPECT_EQ(std::count(order.begin(), order.end(), 1u), 1);
  EXPECT_EQ(std::count(order.begin(), order.end(), 2u), 1);
}

TEST_F(JobQueueTest, EverNewTenantsDoNotKeepAnOldOneOut) {
  for (uint64_t id = 1; id <= 100; ++id) Push(id, JobClass::kInteractive, "old");
  int old_starts = 0;
  for (uint64_t id = 1001; id <= 2000; ++id) {
    Push(id, JobClass::kInteractive, "new" + std::to_string(id));
    old_starts += *queue_.Pop([](const Requirement&) { return true; }, kStart) <= 100;
  }
  EXPECT_GE(old_starts, 1000 / 70);
}

TEST_F(JobQueueTest, ATenantThatComesBackAtOnceIsNoNewcomer) {
  for (uint64_t id : {1, 2, 3}) Push(id, JobClass::kInteractive, "backlog");
  Push(4, JobClass::kInteractive, "again");
  std::vector<uint64_t> order;
  for (uint64_t id : {5, 6, 7, 8, 9}) {
    const auto next = queue_.Pop([](const Requirement&) { return true; }, kStart);
    order.push_back(*next);
    if (*next >= 4) Push(id, JobClass::kInteractive, "again");
  }
  EXPECT_EQ(order, (std::vector<uint64_t>{1, 4, 2, 6, 3}));
}

TEST_F(JobQueueTest, ATenantsTurnCountsForAllItsNeeds) {
  for (uint64_t id : {1, 2}) Push(id, JobClass::kInteractive, "a", "cuda:80");
  for (uint64_t id : {3, 4}) Push(id, JobClass::kInteractive, "a", "cuda:90");
  Push(5, JobClass::kInteractive, "b", "cuda:90");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 5, 2, 3, 4}));
}

TEST_F(JobQueueTest, AJobThatCannotRunHereDoesNotBlockOthers) {
  Push(1, JobClass::kInteractive, "a", "hip:gfx942");
  Push(2, JobClass::kPrebuild, "a", "cuda:90");
  auto can_run = [](const Requirement& needs) { return needs.target == "cuda:90"; };
  EXPECT_EQ(queue_.Pop(can_run, kStart), 2u);
  EXPECT_EQ(queue_.Pop(can_run, kStart), std::nullopt);
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(JobQueueTest, AReturningJobStandsWhereItStood) {
  for (uint64_t id : {1, 2, 3}) Push(id, JobClass::kPrebuild, "a");
  EXPECT_EQ(queue_.Pop([](const Requirement&) { return true; }, kStart), 1u);
  Push(1, JobClass::kPrebuild, "a");
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST_F(JobQueueTest, RemoveTakesOutAndCountsFollow) {
  Push(1, JobClass::kPrebuild, "a");
  Push(2, JobClass::kInteractive, "a");
  EXPECT_EQ(queue_.CountOf(JobClass::kPrebuild), 1u);
  EXPECT_EQ(queue_.OldestOf(JobClass::kPrebuild), kStart);
  EXPECT_TRUE(queue_.Remove(1));
  EXPECT_FALSE(queue_.Remove(1));
  EXPECT_EQ(queue_.CountOf(JobClass::kPrebuild), 0u);
  EXPECT_EQ(queue_.OldestOf(JobClass::kPrebuild), absl::InfiniteFuture());
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{2}));
}

class JobQueueNextTest : public JobQueueTest {
 protected:
  void Offer(uint64_t id, JobClass job_class, const std::string& tenant, std::set<std::string> joined = {}) {
    queue_.Push({id, kNeeds, job_class, tenant, kStart + absl::Milliseconds(id), true, std::move(joined)});
  }
  std::vector<uint64_t> Next(size_t count, absl::Time before = absl::InfiniteFuture()) {
    return queue_.Next(kNeeds, count, before, later_, [this](uint64_t id) { return skipped_.count(id) == 0; });
  }

  const Requirement kNeeds{"cuda:90", "b", false};
  const absl::Time later_ = kStart + absl::Minutes(10);
  std::set<uint64_t> skipped_;
};

TEST_F(JobQueueNextTest, TheNextJobsAreThoseServedNext) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    for (uint64_t id = 1; id <= 60; ++id) {
      const auto any = [&](int n) { return static_cast<int>(random() % n); };
      std::set<std::string> joined;
      if (any(4) == 0) joined.insert("joined");
      Offer(id, static_cast<JobClass>(any(3)), std::string(1, static_cast<char>('a' + any(1 + round % 5))), joined);
      if (any(3) == 0) queue_.Pop([](const Requirement&) { return true; }, later_);
    }
    const std::vector<uint64_t> next = Next(1000);
    EXPECT_EQ(Next(7), std::vector<uint64_t>(next.begin(), next.begin() + 7));
    EXPECT_EQ(PopAll(later_), next);
  }
}

TEST_F(JobQueueNextTest, AJobThatBeganElsewhereCountsAsServed) {
  for (uint64_t id : {1, 2, 3, 4}) Offer(id, JobClass::kPrebuild, "greedy");
  for (uint64_t id : {5, 6}) Offer(id, JobClass::kPrebuild, "modest");
  EXPECT_EQ(Next(2), (std::vector<uint64_t>{1, 5}));
  EXPECT_TRUE(queue_.Serve(1));
  EXPECT_FALSE(queue_.Serve(1));
  EXPECT_EQ(Next(2), (std::vector<uint64_t>{5, 2}));
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{5, 2, 6, 3, 4}));
}

TEST_F(JobQueueNextTest, ABacklogOfOneTenantHidesNoOthers) {
  for (uint64_t id = 1; id <= 500; ++id) Offer(id, JobClass::kPrebuild, "greedy");
  Offer(501, JobClass::kPrebuild, "modest");
  Offer(502, JobClass::kInteractive, "human");
  EXPECT_EQ(Next(4), (std::vector<uint64_t>{502, 1, 501, 2}));
}

TEST_F(JobQueueNextTest, JobsThatMayNotBeOfferedArePassedOver) {
  for (uint64_t id : {1, 2, 3, 4, 5}) Offer(id, JobClass::kInteractive, "a", {"b"});
  Push(6, JobClass::kInteractive, "a");
  queue_.Withhold(1);
  skipped_ = {2};
  EXPECT_EQ(Next(9), (std::vector<uint64_t>{3, 4, 5}));
  EXPECT_EQ(Next(9, kStart + absl::Milliseconds(4)), (std::vector<uint64_t>{3, 4}));
  queue_.Quit(3, "b");
  EXPECT_TRUE(queue_.Remove(4));
  EXPECT_EQ(Next(9), (std::vector<uint64_t>{3, 5}));
  queue_.Withhold(3);
  queue_.Withhold(5);
  EXPECT_TRUE(Next(9).empty());
  EXPECT_EQ(queue_.OfferableNeeds().size(), 1u);  // That of the one that is skipped.
  queue_.Withhold(2);
  EXPECT_TRUE(queue_.OfferableNeeds().empty());
  EXPECT_EQ(PopAll(), (std::vector<uint64_t>{1, 2, 3, 5, 6}));
}

}  // namespace
}  // namespace tritond::server
