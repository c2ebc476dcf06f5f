// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/scheduler/recording_executor.h"

namespace tritond::server {
namespace {

struct Seen {
  int calls = 0;
  Outcome outcome;
  bool joined = false;
};

class SchedulerTest : public testing::Test {
 protected:
  SchedulerTest()
      : scheduler_(
            Config(), [this] { return now_; }, executor_) {}

  static SchedulerConfig Config() {
    SchedulerConfig config;
    config.max_queued = 3;
    return config;
  }
  void Attach(const std::string& worker, const std::string& build = "b1", bool binary = true) {
    scheduler_.WorkerAttached(worker, {worker, build, {{"cuda:90", binary}}, 1});
  }
  static JobSpec Spec(const std::string& key, const std::string& tenant = "t", bool binary = true) {
    JobSpec spec;
    spec.key = key;
    spec.tenant = tenant;
    spec.needs = {"cuda:90", "b1", binary};
    return spec;
  }
  Scheduler::WaiterId Submit(JobSpec spec, Seen* seen, absl::Time deadline = absl::InfiniteFuture(),
                             Scheduler::Recheck recheck = nullptr) {
    return scheduler_.Submit(std::move(spec), deadline, std::move(recheck),
                             [seen](const Outcome& outcome, bool joined) {
                               ++seen->calls;
                               seen->outcome = outcome;
                               seen->joined = joined;
                             });
  }
  void FinishLast() { scheduler_.Finish(executor_.started.back().lease, Outcome{}); }
  void FinishWith(absl::Status status, uint64_t lease) {
    Outcome outcome;
    outcome.status = std::move(status);
    scheduler_.Finish(lease, outcome);
  }
  Loss Crash() { return {Loss::Kind::kCrashed, "signal 6 (Aborted)", {executor_.started.back().lease}}; }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  RecordingExecutor executor_;
  Scheduler scheduler_;
};

TEST_F(SchedulerTest, SecondCallerJoinsTheFirstOnesJob) {
  Attach("w1");
  Seen first, second;
  Submit(Spec("k"), &first);
  Submit(Spec("k"), &second);
  ASSERT_EQ(executor_.started.size(), 1u);
  FinishLast();
  EXPECT_EQ(first.calls, 1);
  EXPECT_FALSE(first.joined);
  EXPECT_EQ(second.calls, 1);
  EXPECT_TRUE(second.joined);
  EXPECT_EQ(second.outcome.worker, "w1");
}

TEST_F(SchedulerTest, AFinishedKeyIsANewJobNextTime) {
  Attach("w1");
  Seen first, second;
  Submit(Spec("k"), &first);
  FinishLast();
  Submit(Spec("k"), &second);
  EXPECT_EQ(executor_.started.size(), 2u);
  EXPECT_EQ(second.calls, 0);
}

TEST_F(SchedulerTest, TheRecheckAnswersWithoutAWorker) {
  Attach("w1");
  Seen seen;
  Submit(Spec("k"), &seen, absl::InfiniteFuture(), [] { return std::optional<Outcome>(Outcome{}); });
  EXPECT_EQ(seen.calls, 1);
  EXPECT_TRUE(seen.outcome.stored);
  EXPECT_TRUE(executor_.started.empty());
}

TEST_F(SchedulerTest, JobsWaitForAFitWorker) {
  Attach("other-build", "b2");
  Attach("no-assembler", "b1", /*binary=*/false);
  Seen binary, text;
  Submit(Spec("k1"), &binary);
  EXPECT_TRUE(executor_.started.empty());
  Submit(Spec("k2", "t", /*binary=*/false), &text);
  ASSERT_EQ(executor_.started.size(), 1u);
  EXPECT_EQ(executor_.started[0].worker, "no-assembler");
  Attach("fit");
  ASSERT_EQ(executor_.started.size(), 2u);
  EXPECT_EQ(executor_.started[1].worker, "fit");
}

TEST_F(SchedulerTest, WhenTheLastWaiterLeavesAQueuedJobIsDropped) {
  Seen first, second;
  const auto a = Submit(Spec("k"), &first);
  const auto b = Submit(Spec("k"), &second);
  EXPECT_TRUE(scheduler_.Leave(a));
  EXPECT_EQ(scheduler_.GetStats().classes[0].queued, 1u);
  EXPECT_TRUE(scheduler_.Leave(b));
  EXPECT_EQ(scheduler_.GetStats().classes[0].queued, 0u);
  EXPECT_FALSE(scheduler_.Leave(b));
  EXPECT_EQ(first.calls + second.calls, 0);
}

TEST_F(SchedulerTest, WhenTheLastWaiterLeavesARunningJobIsCancelledAndTheNextCallerStartsAnew) {
  Attach("w1");
  Seen first, second;
  const auto waiter = Submit(Spec("k"), &first);
  const uint64_t lease = executor_.started[0].lease;
  scheduler_.Leave(waiter);
  EXPECT_EQ(executor_.cancelled, std::vector<uint64_t>{lease});
  Submit(Spec("k"), &second);
  EXPECT_EQ(executor_.started.size(), 1u);  // The slot is still taken.
  scheduler_.Finish(lease, Outcome{});
  EXPECT_EQ(executor_.started.size(), 2u);
  EXPECT_EQ(second.calls, 0);
}

TEST_F(SchedulerTest, AJobThatIsNearlyDoneIsNotCancelled) {
  Attach("w1");
  Seen first, second;
  const auto waiter = Submit(Spec("k"), &first);
  scheduler_.NearlyDone(executor_.started[0].lease);
  scheduler_.Leave(waiter);
  EXPECT_TRUE(executor_.cancelled.empty());
  Submit(Spec("k"), &second);
  EXPECT_TRUE(scheduler_.Holds(executor_.started[0].lease));
  FinishLast();
  EXPECT_TRUE(second.joined);
  EXPECT_EQ(executor_.started.size(), 1u);
}

TEST_F(SchedulerTest, AJobThatIsNearlyDoneForTooLongIsCancelled) {
  Attach("w1");
  Seen first, second;
  const auto waiter = Submit(Spec("k"), &first);
  const uint64_t lease = executor_.started[0].lease;
  scheduler_.NearlyDone(lease);
  now_ += absl::Minutes(1);
  scheduler_.Leave(waiter);
  now_ += Config().last_stage_grace - absl::Milliseconds(1);
  scheduler_.Tick();
  EXPECT_TRUE(executor_.cancelled.empty());
  now_ += absl::Milliseconds(1);
  scheduler_.Tick();
  scheduler_.Tick();
  EXPECT_EQ(executor_.cancelled, std::vector<uint64_t>{lease});
  EXPECT_FALSE(scheduler_.Holds(lease));
  Submit(Spec("k"), &second);
  EXPECT_FALSE(second.joined);
}

TEST_F(SchedulerTest, ACallerThatJoinsANearlyDoneJobKeepsIt) {
  Attach("w1");
  Seen first, second;
  const auto waiter = Submit(Spec("k"), &first);
  scheduler_.NearlyDone(executor_.started[0].lease);
  scheduler_.Leave(waiter);
  now_ += absl::Seconds(1);
  Submit(Spec("k"), &second);
  now_ += absl::Minutes(1);
  scheduler_.Tick();
  EXPECT_TRUE(executor_.cancelled.empty());
  FinishLast();
  EXPECT_EQ(second.calls, 1);
}

TEST_F(SchedulerTest, AJobWhoseNearlyDoneRunIsLostIsCancelledLikeAnyOther) {
  Attach("w1");
  Seen seen;
  const auto waiter = Submit(Spec("k"), &seen);
  scheduler_.NearlyDone(executor_.started[0].lease);
  scheduler_.WorkerLost("w1", Loss{});
  Attach("w2");
  ASSERT_EQ(executor_.started.size(), 2u);
  scheduler_.Leave(waiter);
  EXPECT_EQ(executor_.cancelled, std::vector<uint64_t>{executor_.started[1].lease});
}

TEST_F(SchedulerTest, AWorkerHearsOfTheLatestDeadlineOfThoseWhoWait) {
  Attach("w1");
  Seen seen[4];
  Submit(Spec("other"), &seen[0]);
  Submit(Spec("k"), &seen[1], now_ + absl::Seconds(5));
  Submit(Spec("k"), &seen[2], now_ + absl::Seconds(9));
  FinishLast();
  ASSERT_EQ(executor_.started.size(), 2u);
  EXPECT_EQ(executor_.started[0].deadline, absl::InfiniteFuture());
  EXPECT_EQ(executor_.started[1].deadline, now_ + absl::Seconds(9));
  Submit(Spec("k"), &seen[3], now_ + absl::Seconds(7));
  EXPECT_TRUE(executor_.extended.empty()) << "nobody waits for longer than before";
  Submit(Spec("k"), &seen[3], now_ + absl::Seconds(11));
  ASSERT_EQ(executor_.extended.size(), 1u);
  EXPECT_EQ(executor_.extended[0].lease, executor_.started[1].lease);
  EXPECT_EQ(executor_.extended[0].deadline, now_ + absl::Seconds(11));
}

TEST_F(SchedulerTest, AJobThatItsWorkerGaveUpBeginsAgainForThoseWhoCameLater) {
  Attach("w1");
  Seen first, second;
  Submit(Spec("k"), &first, now_ + absl::Seconds(5));
  const uint64_t lease = executor_.started[0].lease;
  Submit(Spec("k"), &second, now_ + absl::Minutes(1));
  now_ += absl::Seconds(5);
  scheduler_.Tick();
  EXPECT_EQ(first.outcome.reason, Reason::kDeadline);
  scheduler_.RunStopped(lease, "no time");
  ASSERT_EQ(executor_.started.size(), 2u);
  EXPECT_EQ(executor_.started[1].deadline, now_ + absl::Seconds(55));
  EXPECT_EQ(second.calls, 0);
  FinishLast();
  EXPECT_TRUE(second.outcome.status.ok());
  EXPECT_EQ(second.outcome.attempts, 2);
}

TEST_F(SchedulerTest, AWorkerThatAlwaysGivesUpIsNotAskedForEver) {
  Attach("w1");
  Seen seen;
  Submit(Spec("k"), &seen);
  for (int i = 0; i < 10 && seen.calls == 0; ++i) scheduler_.RunStopped(executor_.started.back().lease, "no time");
  EXPECT_EQ(seen.outcome.reason, Reason::kWorkerLost);
  EXPECT_EQ(executor_.started.size(), 4u);
}

TEST_F(SchedulerTest, AWorkerThatGivesUpAJobWithoutCallersIsFree) {
  Attach("w1");
  Seen first, second;
  const auto waiter = Submit(Spec("k"), &first);
  scheduler_.Leave(waiter);
  Submit(Spec("l"), &second);
  scheduler_.RunStopped(executor_.started[0].lease, "cancelled");
  EXPECT_EQ(executor_.started.size(), 2u);
  EXPECT_EQ(executor_.started.back().key, "l");
}

TEST_F(SchedulerTest, ALostWorkersJobRunsElsewhereAndItsOldLeaseIsDead) {
  Attach("w1");
  Attach("w2");
  Seen seen;
  Submit(Spec("k"), &seen);
  const RecordingExecutor::Order first = executor_.started[0];
  scheduler_.WorkerLost(first.worker, {Loss::Kind::kDisconnected, "stream ended", {}});
  ASSERT_EQ(executor_.started.size(), 2u);
  EXPECT_NE(executor_.started[1].worker, first.worker);
  Outcome late;
  late.status = absl::InternalError("late");
  scheduler_.Finish(first.lease, late);
  EXPECT_EQ(seen.calls, 0);
  FinishLast();
  EXPECT_TRUE(seen.outcome.status.ok());
  EXPECT_EQ(seen.outcome.attempts, 2);
}

TEST_F(SchedulerTest, LosingWorkerAfterWorkerEndsInUnavailable) {
  Seen seen;
  Submit(Spec("k"), &seen);
  for (int i = 0; i < 4; ++i) {
    Attach("w");
    EXPECT_EQ(seen.calls, 0);
    scheduler_.WorkerLost("w", {Loss::Kind::kDisconnected, "stream ended", {}});
  }
  ASSERT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.outcome.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(seen.outcome.reason, Reason::kWorkerLost);
  EXPECT_GT(seen.outcome.retry_delay, absl::ZeroDuration());
}

TEST_F(SchedulerTest, AnInternalErrorIsTriedOnceMoreOnAnotherWorker) {
  Attach("w1");
  Seen first, second, other;
  Submit(Spec("k"), &first);
  Submit(Spec("k"), &second);
  const std::string flaky = executor_.started[0].worker;
  Attach("w2");
  Submit(Spec("other"), &other);  // Keeps the other worker busy.
  FinishWith(absl::InternalError("flake"), executor_.started[0].lease);
  EXPECT_EQ(first.calls + second.calls, 0);
  EXPECT_EQ(executor_.started.size(), 2u) << "not on the worker that has failed";
  FinishLast();
  ASSERT_EQ(executor_.started.size(), 3u);
  EXPECT_NE(executor_.started[2].worker, flaky);
  FinishLast();
  EXPECT_TRUE(first.outcome.status.ok());
  EXPECT_TRUE(second.outcome.status.ok());
  EXPECT_EQ(first.outcome.attempts, 2);
  EXPECT_EQ(scheduler_.GetStats().flaked, 1u);
}

TEST_F(SchedulerTest, AWorkerThatFailedOnceIsAvoidedByThatJobAlone) {
  Attach("w1");
  Seen flaky, next;
  Submit(Spec("flaky"), &flaky);
  Attach("w2");
  Seen keeps_busy;
  Submit(Spec("keeps the other busy"), &keeps_busy);
  FinishWith(absl::InternalError("flake"), executor_.started[0].lease);
  Submit(Spec("next"), &next);
  ASSERT_EQ(executor_.started.size(), 3u);
  EXPECT_EQ(executor_.started[2].key, "next");
  EXPECT_EQ(executor_.started[2].worker, "w1");
}

TEST_F(SchedulerTest, AnInternalErrorOfTwoWorkersIsAnswered) {
  Attach("w1");
  Attach("w2");
  Seen seen;
  Submit(Spec("k"), &seen);
  FinishWith(absl::InternalError("first"), executor_.started.back().lease);
  ASSERT_EQ(executor_.started.size(), 2u);
  EXPECT_NE(executor_.started[0].worker, executor_.started[1].worker);
  FinishWith(absl::InternalError("second"), executor_.started.back().lease);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.outcome.status.message(), "second");
  EXPECT_EQ(executor_.started.size(), 2u);
}

TEST_F(SchedulerTest, AnInternalErrorIsTriedAgainOnTheOnlyWorkerThereIs) {
  Attach("w1");
  Attach("w2");
  Seen seen;
  Submit(Spec("k"), &seen);
  const std::string flaky = executor_.started[0].worker;
  scheduler_.WorkerLost(flaky == "w1" ? "w2" : "w1", {Loss::Kind::kDisconnected, "gone", {}});
  FinishWith(absl::InternalError("flake"), executor_.started.back().lease);
  ASSERT_EQ(executor_.started.size(), 2u);
  EXPECT_EQ(executor_.started[1].worker, flaky);
}

TEST_F(SchedulerTest, ErrorsOfTheInputAreAnsweredAtOnce) {
  Attach("w1");
  Attach("w2");
  for (const absl::Status& status : {absl::InvalidArgumentError("x"), absl::UnimplementedError("x"),
                                     absl::ResourceExhaustedError("x"), absl::FailedPreconditionError("x")}) {
    Seen seen;
    const size_t before = executor_.started.size();
    Submit(Spec("k"), &seen);
    FinishWith(status, executor_.started.back().lease);
    EXPECT_EQ(seen.outcome.status, status);
    EXPECT_EQ(executor_.started.size(), before + 1);
  }
}

TEST_F(SchedulerTest, AnInternalErrorOfOneOfTwoRunsLeavesTheOther) {
  Attach("w1");
  Attach("w2");
  Attach("w3");
  Seen seen;
  Submit(Spec("k"), &seen);
  now_ += absl::Minutes(5);
  scheduler_.Tick();
  ASSERT_EQ(executor_.started.size(), 2u);
  FinishWith(absl::InternalError("flake"), executor_.started[0].lease);
  EXPECT_EQ(seen.calls, 0);
  EXPECT_EQ(executor_.started.size(), 2u);
  FinishLast();
  EXPECT_TRUE(seen.outcome.status.ok());
}

TEST_F(SchedulerTest, AKeyThatKillsWorkersIsQuarantinedWithItsReports) {
  Attach("w1");
  Attach("w2");
  Seen first, second;
  Submit(Spec("k"), &first);
  scheduler_.WorkerLost(executor_.started[0].worker, Crash());
  EXPECT_EQ(first.calls, 0);
  scheduler_.WorkerLost(executor_.started[1].worker, Crash());
  ASSERT_EQ(first.calls, 1);
  EXPECT_EQ(first.outcome.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(first.outcome.quarantined);
  EXPECT_EQ(first.outcome.reports.size(), 2u);
  Attach("w3");
  Submit(Spec("k"), &second);
  EXPECT_EQ(second.outcome.reason, Reason::kQuarantined);
  EXPECT_EQ(executor_.started.size(), 2u);
  EXPECT_EQ(scheduler_.Quarantined().size(), 1u);
  EXPECT_TRUE(scheduler_.Release("k"));
  Submit(Spec("k"), &second);
  EXPECT_EQ(executor_.started.size(), 3u);
}

TEST_F(SchedulerTest, AJobThatHadNotBegunIsNotBlamedForACrash) {
  Seen seen;
  Submit(Spec("k"), &seen);
  for (int i = 0; i < 3; ++i) {
    Attach("w");
    scheduler_.WorkerLost("w", {Loss::Kind::kCrashed, "exit 1", {}});
  }
  EXPECT_EQ(seen.calls, 0);
  EXPECT_TRUE(scheduler_.Quarantined().empty());
}

TEST_F(SchedulerTest, AJobThatOverrunsItsLimitFailsAtOnceAndCountsAsAKill) {
  Attach("w1");
  Seen seen;
  Submit(Spec("k"), &seen);
  Loss loss = Crash();
  loss.kind = Loss::Kind::kTimeLimit;
  scheduler_.WorkerLost("w1", loss);
  EXPECT_EQ(seen.outcome.status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(seen.outcome.reason, Reason::kTimeLimit);
  Attach("w2");
  Submit(Spec("k"), &seen);
  scheduler_.WorkerLost("w2", {Loss::Kind::kTimeLimit, "overran", {executor_.started.back().lease}});
  Submit(Spec("k"), &seen);
  EXPECT_EQ(seen.outcome.reason, Reason::kQuarantined);
}

TEST_F(SchedulerTest, AFullQueueRefusesWithADelay) {
  Seen queued[3], refused, joined;
  for (int i = 0; i < 3; ++i) Submit(Spec("k" + std::to_string(i)), &queued[i]);
  EXPECT_EQ(Submit(Spec("k3"), &refused), 0u);
  EXPECT_EQ(refused.outcome.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.outcome.reason, Reason::kQueueFull);
  EXPECT_GT(refused.outcome.retry_delay, absl::ZeroDuration());
  EXPECT_EQ(scheduler_.GetStats().rejected, 1u);
  Submit(Spec("k0"), &joined);  // Joining costs nothing.
  EXPECT_EQ(joined.calls, 0);
}

TEST_F(SchedulerTest, AJobWithoutMemoryJoinsOrIsRefusedWithADelay) {
  Attach("w1");
  Seen first, joined, refused;
  Submit(Spec("k"), &first);
  JobSpec same = Spec("k"), other = Spec("other");
  same.may_queue = other.may_queue = false;
  Submit(same, &joined);
  Submit(other, &refused);
  ASSERT_EQ(refused.calls, 1);
  EXPECT_TRUE(absl::IsResourceExhausted(refused.outcome.status));
  EXPECT_EQ(refused.outcome.reason, Reason::kMemoryFull);
  EXPECT_GT(refused.outcome.retry_delay, absl::ZeroDuration());
  FinishLast();
  EXPECT_EQ(first.calls, 1);
  EXPECT_TRUE(joined.joined);
}

TEST_F(SchedulerTest, ADeadlineEndsTheWaitOfItsCallerOnly) {
  Attach("w1");
  Seen hasty, patient;
  Submit(Spec("k"), &hasty, now_ + absl::Seconds(5));
  Submit(Spec("k"), &patient);
  now_ += absl::Seconds(4);
  scheduler_.Tick();
  EXPECT_EQ(hasty.calls, 0);
  now_ += absl::Seconds(1);
  scheduler_.Tick();
  EXPECT_EQ(hasty.calls, 1);
  EXPECT_EQ(hasty.outcome.status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(hasty.outcome.reason, Reason::kDeadline);
  EXPECT_TRUE(executor_.cancelled.empty());
  FinishLast();
  EXPECT_EQ(hasty.calls, 1);
  EXPECT_TRUE(patient.outcome.status.ok());
}

TEST_F(SchedulerTest, CallersThatJoinOrLeaveDoNotProlongTheWaitForAWorker) {
  Seen seen[3];
  JobSpec spec = Spec("k");
  spec.job_class = JobClass::kPrebuild;
  spec.tenant = "a";
  const auto maker = Submit(spec, &seen[0]);
  spec.tenant = "b";
  Submit(spec, &seen[1]);
  scheduler_.Tick();
  now_ += absl::Seconds(20);
  spec.job_class = JobClass::kInteractive;
  Submit(spec, &seen[2]);
  scheduler_.Leave(maker);
  scheduler_.Tick();
  now_ += absl::Seconds(11);
  scheduler_.Tick();
  EXPECT_EQ(seen[1].outcome.reason, Reason::kNoWorker);
  EXPECT_EQ(seen[2].outcome.reason, Reason::kNoWorker);
}

TEST_F(SchedulerTest, JobsThatNoWorkerCanRunFailAfterAWhile) {
  Seen seen;
  Submit(Spec("k"), &seen);
  scheduler_.Tick();
  now_ += absl::Seconds(29);
  scheduler_.Tick();
  EXPECT_EQ(seen.calls, 0);
  now_ += absl::Seconds(1);
  scheduler_.Tick();
  EXPECT_EQ(seen.outcome.reason, Reason::kNoWorker);
}

TEST_F(SchedulerTest, EachJobWaitsAsLongForAWorker) {
  Seen first, second;
  Submit(Spec("k1"), &first);
  scheduler_.Tick();
  now_ += absl::Seconds(20);
  Submit(Spec("k2"), &second);
  now_ += absl::Seconds(10);
  scheduler_.Tick();
  EXPECT_EQ(first.outcome.reason, Reason::kNoWorker);
  EXPECT_EQ(second.calls, 0);
  now_ += absl::Seconds(20);
  scheduler_.Tick();
  EXPECT_EQ(second.outcome.reason, Reason::kNoWorker);
}

TEST_F(SchedulerTest, DrainingRefusesNewJobsAndFinishesTheOldOnes) {
  Attach("w1");
  Seen old_job, queued, refused;
  Submit(Spec("k1"), &old_job);
  Submit(Spec("k2"), &queued);
  scheduler_.SetDraining(true);
  size_t left = 99;
  scheduler_.WhenIdle(absl::InfiniteFuture(), [&](size_t n) { left = n; });
  Submit(Spec("k3"), &refused);
  EXPECT_EQ(refused.outcome.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(refused.outcome.reason, Reason::kDraining);
  FinishLast();
  EXPECT_EQ(left, 99u);
  FinishLast();
  EXPECT_EQ(left, 0u);
  EXPECT_TRUE(queued.outcome.status.ok());
}

TEST_F(SchedulerTest, WhenIdleGivesUpAtItsDeadline) {
  Seen seen;
  Submit(Spec("k"), &seen);
  size_t left = 99;
  scheduler_.WhenIdle(now_ + absl::Seconds(1), [&](size_t n) { left = n; });
  now_ += absl::Seconds(2);
  scheduler_.Tick();
  EXPECT_EQ(left, 1u);
}

TEST_F(SchedulerTest, AJobThatIsGivenUpIsAnsweredSoThatCallersAskElsewhere) {
  Attach("w1");
  Seen running, queued;
  Submit(Spec("k1"), &running);
  Submit(Spec("k2"), &queued);
  scheduler_.SetDraining(true);
  scheduler_.AbandonAll();
  for (const Seen* seen : {&running, &queued}) {
    EXPECT_EQ(seen->calls, 1);
    EXPECT_EQ(seen->outcome.status.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(seen->outcome.reason, Reason::kDraining);
    EXPECT_GT(seen->outcome.retry_delay, absl::ZeroDuration());
  }
  EXPECT_EQ(executor_.cancelled.size(), 1u);
}

TEST_F(SchedulerTest, AMoreUrgentCallerHurriesTheJobThatItJoins) {
  JobSpec slow = Spec("slow"), other = Spec("other");
  slow.job_class = other.job_class = JobClass::kPrebuild;
  Seen a, b, c;
  Submit(other, &a);
  Submit(slow, &b);
  Submit(Spec("slow"), &c);
  Attach("w1");
  EXPECT_EQ(executor_.started[0].key, "slow");
}

TEST_F(SchedulerTest, ARetiredWorkerGetsNoNewJobs) {
  Attach("w1");
  scheduler_.RetireWorker("w1");
  Seen seen;
  Submit(Spec("k"), &seen);
  EXPECT_TRUE(executor_.started.empty());
}

// Lets every job be queued, and never says whether it may run.
class SlowPeers final : public Peers {
 public:
  explicit SlowPeers(Scheduler* scheduler) : scheduler_(scheduler) {}
  void Look(uint64_t job, const JobSpec&) override { looked.push_back(job); }
  void Claim(uint64_t, const JobSpec&) override { ++claims; }
  void Ended(uint64_t) override {}
  void QueueAll() {
    for (uint64_t job : looked) scheduler_->Decide(job, {});
  }
  std::vector<uint64_t> looked;
  int claims = 0;

 private:
  Scheduler* const scheduler_;
};

TEST_F(SchedulerTest, AJobThatARetiredWorkerWasKeptForBeginsElsewhere) {
  SlowPeers peers(&scheduler_);
  scheduler_.SetPeers(&peers);
  Attach("w1");
  Seen seen;
  Submit(Spec("k"), &seen);
  peers.QueueAll();
  EXPECT_EQ(peers.claims, 1);
  scheduler_.RetireWorker("w1");
  Verdict leave;
  leave.kind = Verdict::Kind::kRun;
  scheduler_.Decide(peers.looked[0], leave);
  EXPECT_TRUE(executor_.started.empty());
  Attach("w2");
  ASSERT_EQ(executor_.started.size(), 1u);
  EXPECT_EQ(executor_.started[0].worker, "w2");
}

TEST_F(SchedulerTest, ATenantsPartOfTheQueueIsBounded) {
  SchedulerConfig config;
  config.max_queued_per_tenant = 2;
  Scheduler scheduler(
      config, [this] { return now_; }, executor_);
  std::vector<Reason> reasons;
  const auto submit = [&](const std::string& key, const std::string& tenant) {
    scheduler.Submit(Spec(key, tenant), absl::InfiniteFuture(), nullptr,
                     [&](const Outcome& outcome, bool) { reasons.push_back(outcome.reason); });
  };
  for (const char* key : {"k1", "k2", "k3"}) submit(key, "greedy");
  EXPECT_EQ(reasons, std::vector<Reason>{Reason::kTenantQueueFull});
  submit("k4", "modest");
  EXPECT_EQ(reasons.size(), 1u);
  scheduler.WorkerAttached("w1", {"w1", "b1", {{"cuda:90", true}}, 1});  // Takes one out of the queue.
  submit("k5", "greedy");
  EXPECT_EQ(reasons.size(), 1u);
}

TEST_F(SchedulerTest, TheListenerHearsOfEachEndBeforeTheWaitersDo) {
  std::vector<FinishedJob> ends;
  Seen a, b, c;
  scheduler_.ListenToEnds([&](const FinishedJob& job, const Outcome& outcome) {
    EXPECT_EQ(outcome.job, job.id);
    EXPECT_EQ(a.calls + b.calls, 2 * static_cast<int>(ends.size()));
    ends.push_back(job);
  });
  Attach("w1");
  JobSpec first = Spec("k1");
  first.id = "first";
  Submit(first, &a);
  Submit(Spec("k1"), &b);  // Joins, and goes by the first one's id.
  Submit(Spec("k2"), &c);
  now_ += absl::Seconds(2);
  FinishLast();
  now_ += absl::Seconds(3);
  FinishLast();
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].id, "first");
  EXPECT_EQ(ends[0].callers, 2u);
  EXPECT_EQ(b.outcome.job, "first");
  EXPECT_EQ(ends[1].key, "k2");
  EXPECT_EQ(ends[1].queue_time, absl::Seconds(2));
  EXPECT_EQ(ends[1].run_time, absl::Seconds(3));
  EXPECT_EQ(ends[1].attempts, 1);
}

TEST_F(SchedulerTest, TheListenerHearsOfAJobThatEverybodyLeft) {
  std::vector<FinishedJob> ends;
  scheduler_.ListenToEnds([&](const FinishedJob& job, const Outcome&) { ends.push_back(job); });
  Seen seen;
  scheduler_.Leave(Submit(Spec("k"), &seen));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(absl::IsCancelled(ends[0].status));
  EXPECT_EQ(ends[0].attempts, 0);
}

// Every job is another daemon's.
class FollowingPeers final : public Peers {
 public:
  void Look(uint64_t job, const JobSpec&) override { jobs.push_back(job); }
  void Claim(uint64_t, const JobSpec&) override {}
  void Ended(uint64_t) override {}
  std::vector<uint64_t> jobs;
};

TEST_F(SchedulerTest, TheListenerHearsOfAJobThatAnotherDaemonRan) {
  FollowingPeers peers;
  scheduler_.SetPeers(&peers);
  std::vector<FinishedJob> ends;
  scheduler_.ListenToEnds([&](const FinishedJob& job, const Outcome& outcome) {
    EXPECT_TRUE(outcome.elsewhere);
    ends.push_back(job);
  });
  Seen seen, found;
  Submit(Spec("k"), &seen);
  Submit(Spec("found"), &found);
  ASSERT_EQ(peers.jobs.size(), 2u);
  now_ += absl::Seconds(2);
  Verdict verdict;
  verdict.kind = Verdict::Kind::kOutcome;
  verdict.outcome.elsewhere = true;
  scheduler_.Decide(peers.jobs[0], verdict);
  verdict.outcome.elsewhere = false;
  verdict.outcome.stored = true;
  scheduler_.Decide(peers.jobs[1], verdict);  // A hit: not a job that ended.
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(found.calls, 1);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].key, "k");
  EXPECT_EQ(ends[0].queue_time, absl::Seconds(2));
  EXPECT_EQ(ends[0].run_time, absl::ZeroDuration());
  EXPECT_EQ(ends[0].attempts, 0);
}

TEST_F(SchedulerTest, TheListenerDoesNotHearOfWhatTheRecheckFound) {
  int ends = 0;
  scheduler_.ListenToEnds([&](const FinishedJob&, const Outcome&) { ++ends; });
  Seen seen;
  Submit(Spec("k"), &seen, absl::InfiniteFuture(), [] { return Outcome(); });
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(ends, 0);
}

TEST_F(SchedulerTest, OpenJobsAreFoundByTheirIdAndCountedByTenant) {
  Attach("w1");
  Seen a, b;
  JobSpec running = Spec("k1", "blue"), queued = Spec("k2", "red");
  running.id = "one";
  queued.id = "two";
  Submit(running, &a);
  Submit(queued, &b);
  scheduler_.Reached(executor_.started.back().lease, "ttgir");
  const Scheduler::Stats stats = scheduler_.GetStats();
  EXPECT_EQ(stats.tenants.at("blue").running, 1u);
  EXPECT_EQ(stats.tenants.at("red").queued, 1u);
  EXPECT_EQ(stats.running.at("w1")[0].stage, "ttgir");
  EXPECT_EQ(scheduler_.FindOpen("one")->worker, "w1");
  EXPECT_EQ(scheduler_.FindOpen("two")->started, absl::InfiniteFuture());
  FinishLast();
  EXPECT_FALSE(scheduler_.FindOpen("one").has_value());
}

}  // namespace
}  // namespace tritond::server
