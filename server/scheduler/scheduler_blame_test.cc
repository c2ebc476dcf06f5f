// SPDX-License-Identifier: Apache-2.0
// Workers that vanish, of which somebody says later that a job killed them.
#include <gtest/gtest.h>

#include "server/scheduler/recording_executor.h"
#include "server/scheduler/scheduler.h"

namespace tritond::server {
namespace {

struct Seen {
  int calls = 0;
  Outcome outcome;
};

class BlameTest : public testing::Test {
 protected:
  void Attach(const std::string& worker) { scheduler_.WorkerAttached(worker, {worker, "b", {{"cuda:90", true}}, 1}); }
  void Submit(const std::string& key, Seen* seen) {
    JobSpec spec;
    spec.key = key;
    spec.tenant = "t";
    spec.needs = {"cuda:90", "b", true};
    scheduler_.Submit(std::move(spec), absl::InfiniteFuture(), nullptr, [seen](const Outcome& outcome, bool) {
      ++seen->calls;
      seen->outcome = outcome;
    });
  }
  // The worker that began the latest run vanishes. Its lease.
  uint64_t LoseLatest() {
    const RecordingExecutor::Order run = executor_.started.back();
    scheduler_.WorkerLost(run.worker, {Loss::Kind::kDisconnected, "its stream ended", {run.lease}});
    return run.lease;
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  RecordingExecutor executor_;
  Scheduler scheduler_{{}, [this] { return now_; }, executor_};
};

TEST_F(BlameTest, TwoKillsQuarantineTheKeyAndEndItsJob) {
  Seen seen;
  Attach("w1");
  Submit("k", &seen);
  const uint64_t first = LoseLatest();
  Attach("w2");
  const uint64_t second = LoseLatest();
  scheduler_.Blame(first, "signal 6");
  EXPECT_EQ(seen.calls, 0);
  scheduler_.Blame(second, "signal 11");
  ASSERT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.outcome.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(seen.outcome.reason, Reason::kQuarantined);
  EXPECT_EQ(seen.outcome.reports, (std::vector<std::string>{"signal 6", "signal 11"}));
  Attach("w3");
  Submit("k", &seen);
  EXPECT_EQ(seen.outcome.reason, Reason::kQuarantined);
  EXPECT_EQ(executor_.started.size(), 2u);
}

TEST_F(BlameTest, TheRunThatHasBegunMeanwhileIsCancelledAndOthersGoOn) {
  Seen killer, other;
  Attach("w1");
  Submit("k", &killer);
  const uint64_t first = LoseLatest();
  Attach("w2");
  const uint64_t second = LoseLatest();
  Attach("w3");
  Attach("w4");
  Submit("other", &other);
  scheduler_.Blame(first, "signal 6");
  scheduler_.Blame(second, "signal 6");
  EXPECT_EQ(killer.outcome.reason, Reason::kQuarantined);
  EXPECT_EQ(executor_.cancelled, std::vector<uint64_t>{executor_.started[2].lease});
  scheduler_.Finish(executor_.started[3].lease, Outcome{});
  EXPECT_TRUE(other.outcome.status.ok());
}

TEST_F(BlameTest, KillsCountForAllCallersAndAfterTheJobHasEndedToo) {
  Seen seen;
  Submit("k", &seen);
  std::vector<uint64_t> lost;
  for (int i = 0; i < 4; ++i) {
    Attach("w");
    lost.push_back(LoseLatest());
  }
  EXPECT_EQ(seen.outcome.reason, Reason::kWorkerLost);
  scheduler_.Blame(lost[0], "signal 6");
  scheduler_.Blame(lost[1], "signal 6");
  Submit("k", &seen);
  EXPECT_EQ(seen.outcome.reason, Reason::kQuarantined);
}

TEST_F(BlameTest, ALossIsBlamedOnceAndUnknownLeasesAreIgnored) {
  Seen seen;
  Attach("w1");
  Submit("k", &seen);
  const uint64_t lease = LoseLatest();
  for (int i = 0; i < 3; ++i) scheduler_.Blame(lease, "signal 6");
  scheduler_.Blame(lease + 1000, "signal 6");
  EXPECT_EQ(seen.calls, 0);
  EXPECT_TRUE(scheduler_.Quarantined().empty());
}

TEST_F(BlameTest, AnUnexplainedLossIsBlamedOnNoJob) {
  Seen seen;
  for (int i = 0; i < 3; ++i) {
    Attach("w");
    if (i == 0) Submit("k", &seen);
    LoseLatest();
  }
  EXPECT_TRUE(scheduler_.Quarantined().empty());
}

TEST_F(BlameTest, MayOvertakeTheLoss) {
  Seen seen;
  Attach("w1");
  Submit("k", &seen);
  scheduler_.Blame(executor_.started.back().lease, "signal 6");
  LoseLatest();
  EXPECT_EQ(seen.calls, 0);
  Attach("w2");
  scheduler_.Blame(executor_.started.back().lease, "signal 6");
  EXPECT_EQ(seen.outcome.reason, Reason::kQuarantined);
  LoseLatest();
  EXPECT_EQ(seen.calls, 1);
}

}  // namespace
}  // namespace tritond::server
