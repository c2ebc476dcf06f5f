// SPDX-License-Identifier: Apache-2.0
// One worker, compiles of one second, and callers who come and wait: how many starts a job waits for.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "server/scheduler/scheduler.h"

namespace tritond::server {
namespace {

class SchedulerFairnessTest : public testing::Test, public Executor {
 protected:
  SchedulerFairnessTest()
      : scheduler_(
            Config(), [this] { return now_; }, *this) {
    scheduler_.WorkerAttached("w", {"w", "b", {{"t", true}}, 1});
  }
  static SchedulerConfig Config() {
    SchedulerConfig config;
    config.hedge_after = absl::InfiniteDuration();
    return config;
  }

  void Start(const std::string&, uint64_t lease, const JobSpec& job, absl::Time) override {
    lease_ = lease;
    start_of_[job.key] = static_cast<int>(start_of_.size());
  }
  void Extend(const std::string&, uint64_t, absl::Time) override {}
  void Cancel(const std::string&, uint64_t) override {}

  void Submit(const std::string& key, const std::string& tenant, JobClass job_class) {
    JobSpec spec;
    spec.key = key;
    spec.tenant = tenant;
    spec.job_class = job_class;
    spec.needs = {"t", "b", true};
    came_at_.emplace(key, static_cast<int>(start_of_.size()));
    waiter_ = scheduler_.Submit(spec, absl::InfiniteFuture(), nullptr, [](const Outcome&, bool) {});
  }
  void Submit(const std::string& prefix, int count, const std::string& tenant, JobClass job_class) {
    for (int i = 0; i < count; ++i) Submit(prefix + std::to_string(i), tenant, job_class);
  }
  void RunFor(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now_ += absl::Seconds(1);
      scheduler_.Finish(lease_, Outcome{});
      scheduler_.Tick();
    }
  }
  bool Started(const std::string& key) const { return start_of_.count(key) > 0; }
  // The starts of others between its arrival and its own.
  int StartsBefore(const std::string& key) const { return start_of_.at(key) - came_at_.at(key); }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  Scheduler scheduler_;
  uint64_t lease_ = 0;
  Scheduler::WaiterId waiter_ = 0;  // of the latest call
  std::map<std::string, int> start_of_, came_at_;
};

TEST_F(SchedulerFairnessTest, ANewcomerPassesTenMinutesOfAnothersBacklog) {
  Submit("flood", 1300, "flood", JobClass::kPrebuild);
  RunFor(600);
  Submit("human", "human", JobClass::kInteractive);
  Submit("prebuild", "human", JobClass::kPrebuild);
  RunFor(10);
  EXPECT_LE(StartsBefore("human"), 1);
  EXPECT_LE(StartsBefore("prebuild"), 2);
}

TEST_F(SchedulerFairnessTest, ANewcomerPassesTheOldBacklogOfManyTenantsInItsClass) {
  for (int tenant = 0; tenant < 20; ++tenant) {
    Submit("flood" + std::to_string(tenant) + "/", 100, "flood" + std::to_string(tenant), JobClass::kInteractive);
  }
  Submit("old", 100, "flood0", JobClass::kPrebuild);
  RunFor(600);
  Submit("human", "human", JobClass::kInteractive);
  RunFor(5);
  EXPECT_LE(StartsBefore("human"), 2);
}

TEST_F(SchedulerFairnessTest, TenantsShareAnOldBacklogFairly) {
  Submit("greedy", 500, "greedy", JobClass::kPrebuild);
  RunFor(120);
  Submit("modest", 50, "modest", JobClass::kPrebuild);
  RunFor(102);
  EXPECT_TRUE(Started("modest49"));
  EXPECT_FALSE(Started("greedy180"));
}

TEST_F(SchedulerFairnessTest, NeitherAClassNorATenantStarvesWhileUrgentWorkIsEndless) {
  Submit("urgent", 100, "urgent", JobClass::kInteractive);
  Submit("flood", 500, "flood", JobClass::kPrebuild);
  Submit("tune", "human", JobClass::kAutotune);
  Submit("prebuild", "human", JobClass::kPrebuild);
  for (int i = 0; i < 100; ++i) {
    RunFor(1);
    Submit("more" + std::to_string(i), "urgent", JobClass::kInteractive);
  }
  // Patience of 30 s, and then 16 starts for each of the two classes that starve.
  EXPECT_LE(StartsBefore("tune"), 30 + 16);
  EXPECT_LE(StartsBefore("prebuild"), 30 + 3 * 16);
  const auto urgent = std::count_if(start_of_.begin(), start_of_.end(), [](const auto& start) {
    return start.first.rfind("urgent", 0) == 0 || start.first.rfind("more", 0) == 0;
  });
  EXPECT_GE(urgent, 100 * 7 / 8);
}

TEST_F(SchedulerFairnessTest, ACallerThatJoinsABacklogWaitsNoLongerThanForItsOwnJob) {
  Submit("flood", 500, "flood", JobClass::kPrebuild);
  RunFor(60);
  for (const char* key : {"flood400", "flood450", "flood490"}) Submit(key, "modest", JobClass::kPrebuild);
  scheduler_.Leave(waiter_);  // Of flood490.
  RunFor(10);
  EXPECT_TRUE(Started("flood400"));
  EXPECT_TRUE(Started("flood450"));
  EXPECT_FALSE(Started("flood490"));
  RunFor(430);
  EXPECT_EQ(start_of_.size(), 500u);
}

TEST_F(SchedulerFairnessTest, AJobThatItsFirstTenantLeavesCountsForTheNext) {
  Submit("running", "a", JobClass::kPrebuild);
  std::vector<Scheduler::WaiterId> of_a;
  for (int i = 0; i < 3; ++i) {
    Submit("x" + std::to_string(i), "a", JobClass::kPrebuild);
    of_a.push_back(waiter_);
    Submit("x" + std::to_string(i), "b", JobClass::kPrebuild);
  }
  EXPECT_EQ(scheduler_.GetStats().tenants["a"].queued, 3u);
  for (const Scheduler::WaiterId waiter : of_a) EXPECT_TRUE(scheduler_.Leave(waiter));
  EXPECT_EQ(scheduler_.GetStats().tenants["a"].queued, 0u);
  EXPECT_EQ(scheduler_.GetStats().tenants["b"].queued, 3u);
  RunFor(3);
  EXPECT_TRUE(Started("x2"));
}

TEST_F(SchedulerFairnessTest, AJobJoinedBeforeItsClassRoseStaysInEveryQueue) {
  Submit("flood", 200, "flood", JobClass::kPrebuild);
  Submit("urgent", 200, "flood", JobClass::kInteractive);
  Submit("flood150", "modest", JobClass::kPrebuild);
  Submit("flood150", "third", JobClass::kInteractive);
  RunFor(5);
  EXPECT_TRUE(Started("flood150"));
}

TEST_F(SchedulerFairnessTest, OneTenantsJobsOfAClassStartInOrderOfArrival) {
  Submit("a", 90, "a", JobClass::kPrebuild);
  Submit("b", 90, "b", JobClass::kPrebuild);
  RunFor(200);
  for (int i = 1; i < 90; ++i) {
    EXPECT_LT(start_of_.at("a" + std::to_string(i - 1)), start_of_.at("a" + std::to_string(i)));
    EXPECT_LT(start_of_.at("b" + std::to_string(i - 1)), start_of_.at("b" + std::to_string(i)));
  }
}

}  // namespace
}  // namespace tritond::server
