// SPDX-License-Identifier: Apache-2.0
// Which waiting jobs a scheduler shows to those who offer them to other daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/scheduler/scheduler.h"

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Choice = OfferFilter::Choice;

class NoExecutor final : public Executor {
 public:
  void Start(const std::string&, uint64_t, const JobSpec&, absl::Time) override {}
  void Extend(const std::string&, uint64_t, absl::Time) override {}
  void Cancel(const std::string&, uint64_t) override {}
};

class Peered final : public Peers {
 public:
  void Look(uint64_t job, const JobSpec&) override { jobs.push_back(job); }
  void Claim(uint64_t, const JobSpec&) override {}
  void Ended(uint64_t) override {}
  std::vector<uint64_t> jobs;
};

class SchedulerOffersTest : public testing::Test {
 protected:
  SchedulerOffersTest()
      : scheduler_(
            SchedulerConfig(), [this] { return now_; }, executor_) {
    scheduler_.SetPeers(&peers_);
    filter_.most = [](const Requirement&) { return size_t{100}; };
    filter_.choose = [this](uint64_t, const JobSpec& spec) {
      ++asked_;
      return spec.bytes > 10 ? Choice::kNever : Choice::kOffer;
    };
  }

  static JobSpec Spec(const std::string& key, JobClass job_class = JobClass::kInteractive, size_t bytes = 1) {
    JobSpec spec;
    spec.key = key;
    spec.needs = {"cuda:90", "b1", true};
    spec.job_class = job_class;
    spec.bytes = bytes;
    return spec;
  }
  // Puts the job into the queue.
  void Queue(JobSpec spec) {
    scheduler_.Submit(std::move(spec), absl::InfiniteFuture(), nullptr, [](const Outcome&, bool) {});
    scheduler_.Decide(peers_.jobs.back(), Verdict{});
  }
  std::vector<std::string> List(absl::Duration at_least = absl::ZeroDuration()) {
    std::vector<std::string> keys;
    for (const auto& job : scheduler_.NextWaiting(at_least, filter_)) keys.push_back(job.spec.key);
    return keys;
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  NoExecutor executor_;
  Peered peers_;
  Scheduler scheduler_;
  OfferFilter filter_;
  int asked_ = 0;
};

TEST_F(SchedulerOffersTest, SmallJobsAfterManyLargeOnesAreShown) {
  for (int i = 0; i < 500; ++i) Queue(Spec(absl::StrCat("large ", i), JobClass::kInteractive, 11));
  for (int i = 0; i < 4; ++i) Queue(Spec(absl::StrCat("small ", i)));
  EXPECT_THAT(List(), ElementsAre("small 0", "small 1", "small 2", "small 3"));
  EXPECT_EQ(asked_, 504);
  EXPECT_THAT(List(), SizeIs(4));
  EXPECT_EQ(asked_, 508);  // What is never to be offered is not asked about again.
}

TEST_F(SchedulerOffersTest, MoreUrgentClassesComeFirstThenTheOldest) {
  Queue(Spec("prebuild", JobClass::kPrebuild));
  Queue(Spec("first"));
  Queue(Spec("autotune", JobClass::kAutotune));
  Queue(Spec("second"));
  EXPECT_THAT(List(), ElementsAre("first", "second", "autotune", "prebuild"));
  filter_.most = [](const Requirement&) { return size_t{2}; };
  EXPECT_THAT(List(), ElementsAre("first", "second"));
}

TEST_F(SchedulerOffersTest, TenantsTakeTurnsAlsoInWhatOthersTake) {
  filter_.most = [](const Requirement&) { return size_t{4}; };
  for (int i = 0; i < 200; ++i) {
    JobSpec spec = Spec(absl::StrCat("greedy ", i));
    spec.tenant = "greedy";
    Queue(spec);
  }
  for (int i = 0; i < 3; ++i) {
    JobSpec spec = Spec(absl::StrCat("modest ", i));
    spec.tenant = "modest";
    Queue(spec);
  }
  EXPECT_THAT(List(), ElementsAre("greedy 0", "modest 0", "greedy 1", "modest 1"));
  Verdict taken;
  taken.kind = Verdict::Kind::kFollow;
  scheduler_.Decide(peers_.jobs[0], taken);
  EXPECT_THAT(List(), ElementsAre("modest 0", "greedy 1", "modest 1", "greedy 2"));
}

TEST_F(SchedulerOffersTest, EveryKindHasAMostOfItsOwn) {
  for (int i = 0; i < 200; ++i) {
    JobSpec spec = Spec(absl::StrCat("unserved ", i));
    spec.needs.target = "cuda:80";
    Queue(spec);
  }
  Queue(Spec("served"));
  filter_.most = [](const Requirement& needs) { return size_t{needs.target == "cuda:80" ? 0u : 64u}; };
  EXPECT_THAT(List(), ElementsAre("served"));
  EXPECT_EQ(asked_, 1);
}

TEST_F(SchedulerOffersTest, AJobOnItsWayToTheQueueHasASlot) {
  scheduler_.WorkerAttached("w1", {"w1", "b1", {{"cuda:90", true}}, 2});
  EXPECT_EQ(scheduler_.IdleSlots().at(Spec("").needs), 2);
  scheduler_.Submit(Spec("looked for"), absl::InfiniteFuture(), nullptr, [](const Outcome&, bool) {});
  EXPECT_EQ(scheduler_.IdleSlots().at(Spec("").needs), 1);
  Verdict elsewhere;
  elsewhere.kind = Verdict::Kind::kFollow;
  scheduler_.Decide(peers_.jobs[0], elsewhere);
  EXPECT_EQ(scheduler_.IdleSlots().at(Spec("").needs), 2);
  const Scheduler::WaiterId gone =
      scheduler_.Submit(Spec("left"), absl::InfiniteFuture(), nullptr, [](const Outcome&, bool) {});
  EXPECT_EQ(scheduler_.IdleSlots().at(Spec("").needs), 1);
  scheduler_.Leave(gone);
  EXPECT_EQ(scheduler_.IdleSlots().at(Spec("").needs), 2);
}

TEST_F(SchedulerOffersTest, TheTimeThatAnotherDaemonCompilesIsNotQueueTime) {
  Outcome seen;
  scheduler_.Submit(Spec("job"), absl::InfiniteFuture(), nullptr,
                    [&](const Outcome& outcome, bool) { seen = outcome; });
  now_ += absl::Seconds(1);
  Verdict verdict;
  verdict.kind = Verdict::Kind::kFollow;
  scheduler_.Decide(peers_.jobs[0], verdict);
  now_ += absl::Seconds(10);
  verdict.kind = Verdict::Kind::kOutcome;
  scheduler_.Decide(peers_.jobs[0], verdict);
  EXPECT_EQ(seen.queue_time, absl::Seconds(1));
}

TEST_F(SchedulerOffersTest, ABacklogThatOthersWorkOffIsNotStranded) {
  std::vector<Reason> reasons;
  for (int i = 0; i < 10; ++i) {
    scheduler_.Submit(Spec(absl::StrCat(i)), absl::InfiniteFuture(), nullptr,
                      [&](const Outcome& outcome, bool) { reasons.push_back(outcome.reason); });
    scheduler_.Decide(peers_.jobs.back(), Verdict{});
  }
  Verdict taken;
  taken.kind = Verdict::Kind::kFollow;
  for (int i = 0; i < 9; ++i) {
    for (int second = 0; second < 20; ++second) {
      now_ += absl::Seconds(1);
      scheduler_.Tick();
    }
    EXPECT_THAT(reasons, IsEmpty());
    scheduler_.Decide(peers_.jobs[i], taken);
  }
  for (int second = 0; second < 40; ++second) {
    now_ += absl::Seconds(1);
    scheduler_.Tick();
  }
  EXPECT_THAT(reasons, ElementsAre(Reason::kNoWorker));  // The last one, to which nobody has come.
}

TEST_F(SchedulerOffersTest, OthersJoinAJobInItsTenantsName) {
  JobSpec spec = Spec("job");
  spec.tenant = "tenant";
  const Scheduler::WaiterId own = scheduler_.Submit(spec, absl::InfiniteFuture(), nullptr, [](const Outcome&, bool) {});
  scheduler_.Decide(peers_.jobs.back(), Verdict{});
  int ended = 0;
  EXPECT_EQ(scheduler_.Join("none", absl::InfiniteFuture(), [](const Outcome&, bool) {}), 0u);
  EXPECT_NE(scheduler_.Join("job", absl::InfiniteFuture(), [&](const Outcome&, bool) { ++ended; }), 0u);
  scheduler_.Leave(own);
  EXPECT_EQ(scheduler_.GetStats().tenants.at("tenant").queued, 1u);
  Verdict over;
  over.kind = Verdict::Kind::kOutcome;
  scheduler_.Decide(peers_.jobs.back(), over);
  EXPECT_EQ(ended, 1);
}

TEST_F(SchedulerOffersTest, AWaiterThatIsExtendedGivesUpLater) {
  int gave_up = 0;
  const Scheduler::WaiterId waiter =
      scheduler_.Submit(Spec("job"), now_ + absl::Seconds(1), nullptr, [&](const Outcome&, bool) { ++gave_up; });
  scheduler_.Extend(waiter, now_ + absl::Seconds(5));
  now_ += absl::Seconds(2);
  scheduler_.Tick();
  EXPECT_EQ(gave_up, 0);
  now_ += absl::Seconds(4);
  scheduler_.Tick();
  EXPECT_EQ(gave_up, 1);
  scheduler_.Extend(waiter, now_ + absl::Seconds(5));
}

TEST_F(SchedulerOffersTest, OnlyJobsThatHaveWaitedAndMayBeOfferedAreShown) {
  JobSpec own = Spec("not offerable"), refresh = Spec("refresh");
  own.offerable = false;
  Queue(own);
  refresh.refresh = true;
  scheduler_.Submit(refresh, absl::InfiniteFuture(), nullptr, [](const Outcome&, bool) {});
  Queue(Spec("waits"));
  EXPECT_THAT(List(absl::Seconds(1)), IsEmpty());
  now_ += absl::Seconds(1);
  EXPECT_THAT(List(absl::Seconds(1)), ElementsAre("waits"));
}

TEST_F(SchedulerOffersTest, BegunAndEndedJobsAreNotShown) {
  Queue(Spec("begun"));
  Queue(Spec("over"));
  Queue(Spec("waits"));
  Verdict over;
  over.kind = Verdict::Kind::kOutcome;
  scheduler_.Decide(peers_.jobs[1], over);
  scheduler_.WorkerAttached("w1", {"w1", "b1", {{"cuda:90", true}}, 1});
  EXPECT_THAT(List(), ElementsAre("waits"));
}

}  // namespace
}  // namespace tritond::server
