// SPDX-License-Identifier: Apache-2.0
// Hedging: a job that is stuck is begun on a second worker, if one can be spared.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/scheduler/recording_executor.h"
#include "server/scheduler/scheduler.h"

namespace tritond::server {
namespace {

struct Seen {
  int calls = 0;
  Outcome outcome;
};

class SchedulerHedgingTest : public testing::Test {
 protected:
  SchedulerHedgingTest()
      : scheduler_(
            Config(), [this] { return now_; }, executor_) {}

  static SchedulerConfig Config() {
    SchedulerConfig config;
    config.max_queued = 3;
    return config;
  }
  void Attach(const std::string& worker) { scheduler_.WorkerAttached(worker, {worker, "b1", {{"cuda:90", true}}, 1}); }
  static JobSpec Spec(const std::string& key) {
    JobSpec spec;
    spec.key = key;
    spec.tenant = "t";
    spec.needs = {"cuda:90", "b1", true};
    return spec;
  }
  Scheduler::WaiterId Submit(JobSpec spec, Seen* seen) {
    return scheduler_.Submit(std::move(spec), absl::InfiniteFuture(), nullptr, [seen](const Outcome& outcome, bool) {
      ++seen->calls;
      seen->outcome = outcome;
    });
  }
  void FinishLast() { scheduler_.Finish(executor_.started.back().lease, Outcome{}); }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  RecordingExecutor executor_;
  Scheduler scheduler_;
};

TEST_F(SchedulerHedgingTest, AStuckJobIsBegunOnAnIdleWorkerAndTheFirstOutcomeCounts) {
  Attach("w1");
  Seen quick, stuck;
  Submit(Spec("quick"), &quick);
  now_ += absl::Seconds(1);
  FinishLast();
  Submit(Spec("stuck"), &stuck);
  const RecordingExecutor::Order first = executor_.started.back();
  now_ += absl::Seconds(14);
  Attach("w2");
  Attach("w3");
  scheduler_.Tick();
  EXPECT_EQ(executor_.started.size(), 2u);
  now_ += absl::Seconds(1);
  scheduler_.Tick();
  scheduler_.Tick();
  ASSERT_EQ(executor_.started.size(), 3u);
  const RecordingExecutor::Order second = executor_.started.back();
  EXPECT_EQ(second.key, "stuck");
  EXPECT_NE(second.worker, first.worker);
  scheduler_.Finish(second.lease, Outcome{});
  EXPECT_EQ(stuck.calls, 1);
  EXPECT_EQ(stuck.outcome.worker, second.worker);
  EXPECT_EQ(executor_.cancelled, std::vector<uint64_t>{first.lease});
  EXPECT_FALSE(scheduler_.Holds(first.lease));
  EXPECT_EQ(scheduler_.GetStats().hedged, 1u);
  scheduler_.Finish(first.lease, Outcome{});
  EXPECT_EQ(stuck.calls, 1);
}

TEST_F(SchedulerHedgingTest, AStuckJobNeverTakesTheLastIdleWorker) {
  Attach("w1");
  Attach("w2");
  Seen stuck, other;
  Submit(Spec("stuck"), &stuck);
  now_ += absl::Minutes(5);
  scheduler_.Tick();
  EXPECT_EQ(executor_.started.size(), 1u);
  Submit(Spec("other"), &other);  // Finds a worker.
  EXPECT_EQ(executor_.started.size(), 2u);
  Attach("w3");
  scheduler_.Tick();
  EXPECT_EQ(executor_.started.size(), 2u);
  Attach("w4");
  scheduler_.Tick();
  EXPECT_EQ(executor_.started.size(), 3u);
  EXPECT_EQ(scheduler_.GetStats().hedged, 1u);
}

TEST_F(SchedulerHedgingTest, ManyStuckJobsLeaveAWorkerForOthers) {
  for (int i = 1; i <= 6; ++i) Attach(absl::StrCat("w", i));
  Seen stuck[3], other;
  for (int i = 0; i < 3; ++i) Submit(Spec(absl::StrCat("stuck", i)), &stuck[i]);
  now_ += absl::Minutes(5);
  scheduler_.Tick();
  EXPECT_EQ(scheduler_.GetStats().hedged, 2u);
  Submit(Spec("other"), &other);
  EXPECT_EQ(executor_.started.back().key, "other");
}

TEST_F(SchedulerHedgingTest, AJobWithoutCallersIsNotHedged) {
  for (const char* worker : {"w1", "w2", "w3"}) Attach(worker);
  Seen seen;
  const auto waiter = Submit(Spec("k"), &seen);
  scheduler_.NearlyDone(executor_.started[0].lease);
  now_ += absl::Minutes(5);
  scheduler_.Leave(waiter);
  scheduler_.Tick();
  EXPECT_EQ(executor_.started.size(), 1u);
}

TEST_F(SchedulerHedgingTest, AHedgedJobOutlivesTheLossOfOneOfItsWorkers) {
  Attach("w1");
  Attach("w2");
  Attach("w3");
  Seen seen;
  Submit(Spec("k"), &seen);
  now_ += absl::Minutes(5);
  scheduler_.Tick();
  ASSERT_EQ(executor_.started.size(), 2u);
  scheduler_.WorkerLost(executor_.started[0].worker, {Loss::Kind::kTimeLimit, "overran", {executor_.started[0].lease}});
  EXPECT_EQ(seen.calls, 0);
  EXPECT_EQ(executor_.started.size(), 2u);
  FinishLast();
  EXPECT_TRUE(seen.outcome.status.ok());
}

TEST_F(SchedulerHedgingTest, NoJobIsHedgedWhileOthersWaitForTheWorker) {
  Attach("w1");
  Seen stuck, a, b;
  Submit(Spec("stuck"), &stuck);
  Submit(Spec("a"), &a);
  now_ += absl::Minutes(5);
  Attach("w2");
  Submit(Spec("b"), &b);
  scheduler_.Tick();
  ASSERT_EQ(executor_.started.size(), 2u);
  EXPECT_EQ(executor_.started[1].key, "a");
}

}  // namespace
}  // namespace tritond::server
