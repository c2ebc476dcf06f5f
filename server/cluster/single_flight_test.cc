// SPDX-License-Identifier: Apache-2.0
// Two daemons' schedulers and an engine, all in one thread and with time that the test moves.
#include "server/cluster/single_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

#include "server/scheduler/scheduler.h"
#include "tests/support/fake_cluster.h"

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Text final : Payload {
  explicit Text(std::string value) : text(std::move(value)) {}
  std::string text;
};

// A daemon with one worker, which does what the test says.
class Daemon final : public Executor, public SingleFlight::Host {
 public:
  Daemon(const std::string& name, tests::FakeTime& time, tests::FakeLeases& leases)
      : scheduler(
            {}, [&time] { return time.Now(); }, *this),
        claims_(time, *this),
        leases_(leases),
        flights(ConfigOf(name), leases, {time, claims_, time, time}, *this) {
    scheduler.SetPeers(&flights);
    WorkerOffer offer;
    offer.build_id = "build";
    offer.targets["cuda:90"] = true;
    scheduler.WorkerAttached("worker", offer);
  }

  Scheduler::WaiterId Submit(const std::string& key, bool refresh = false,
                             absl::Time deadline = absl::InfiniteFuture()) {
    JobSpec spec;
    spec.key = key;
    spec.needs = {"cuda:90", "build", true};
    spec.refresh = refresh;
    return scheduler.Submit(spec, deadline, nullptr, [this](const Outcome& outcome, bool) {
      if (outcome.elsewhere) ++followed;
      if (outcome.stored) ++stored;
      answers.push_back(outcome.status.ok() ? static_cast<const Text&>(*outcome.value).text
                                            : std::string(outcome.status.message()));
    });
  }
  void Succeed(const std::string& key, const std::string& text) {
    flights.Publish(
        key, [this] { return upload; }, cache::Blob(text));
    End(text);
  }
  void Fail(const std::string& key, const std::string& error) {
    flights.PublishError(key, error);
    Outcome outcome;
    outcome.status = absl::InvalidArgumentError(error);
    Finish(outcome);
  }
  // Without a word to the cluster, as after a crash of a worker for the last time.
  void End(const std::string& text) {
    Outcome outcome;
    outcome.value = std::make_shared<Text>(text);
    Finish(outcome);
  }
  // The job that would be offered first, as the peers know it.
  std::optional<uint64_t> Offerable() {
    OfferFilter one;
    one.most = [](const Requirement&) { return size_t{1}; };
    one.choose = [](uint64_t, const JobSpec&) { return OfferFilter::Choice::kOffer; };
    const std::vector<Scheduler::WaitingJob> next = scheduler.NextWaiting(absl::ZeroDuration(), one);
    return next.empty() ? std::nullopt : std::make_optional(next[0].id);
  }
  void Extend(const std::string&, uint64_t, absl::Time) override {}
  void Start(const std::string&, uint64_t lease, const JobSpec& job, absl::Time) override {
    running = lease;
    started.push_back(job.key);
  }
  void Cancel(const std::string&, uint64_t) override { ++cancelled; }

  std::optional<Outcome> Fetch(const std::string& key) override {
    if (!readable) return std::nullopt;
    Outcome outcome;
    outcome.value = std::make_shared<Text>(leases_.ValueOf(*cache::Digest::FromHex(key)));
    return outcome;
  }
  std::optional<Outcome> ReadError(const std::string&, const std::string&, const std::string& error) override {
    if (error == "forged") return std::nullopt;
    Outcome outcome;
    outcome.status = absl::InvalidArgumentError(error);
    return outcome;
  }
  void Decide(uint64_t job, Verdict verdict) override { scheduler.Decide(job, std::move(verdict)); }
  void OnSettled(uint64_t, bool elsewhere) override {
    ++settled;
    taken += elsewhere;
  }
  void OnRenewed(const std::string&, bool wanted) override { heard.push_back(wanted); }

  // Counts the tasks for which a worker or a lease waits.
  class Claims final : public TaskTimer {
   public:
    Claims(tests::FakeTime& time, Daemon& daemon) : time_(time), daemon_(daemon) {}
    void RunAfter(absl::Duration delay, std::function<void()> task) override {
      ++daemon_.first;
      time_.RunAfter(delay, std::move(task));
    }

   private:
    tests::FakeTime& time_;
    Daemon& daemon_;
  };

  Scheduler scheduler;
  Claims claims_;
  tests::FakeLeases& leases_;
  SingleFlight flights;
  std::vector<std::string> started, answers;
  uint64_t running = 0;
  int followed = 0, stored = 0, cancelled = 0;
  bool readable = true;
  absl::Status upload;
  int settled = 0, taken = 0;
  std::vector<bool> heard;
  int first = 0;  // tasks that were to be run first

 private:
  static SingleFlight::Config ConfigOf(const std::string& name) {
    SingleFlight::Config config;
    config.owner = name;
    return config;
  }
  void Finish(const Outcome& outcome) { scheduler.Finish(std::exchange(running, 0), outcome); }
};

class SingleFlightTest : public testing::Test {
 protected:
  // What is due now, and what that brings.
  void Settle() { time.Pass(absl::ZeroDuration()); }

  tests::FakeTime time;
  tests::FakeLeases leases{time};
  Daemon a{"a", time, leases}, b{"b", time, leases};
  const cache::Digest digest = cache::Digest::Of("kernel");
  const std::string key = digest.ToHex();
};

TEST_F(SingleFlightTest, OneDaemonRunsTheJobAndTheOtherGetsItsResult) {
  a.Submit(key);
  b.Submit(key);
  Settle();
  EXPECT_THAT(a.started, ElementsAre(key));
  EXPECT_THAT(b.started, IsEmpty());
  time.Pass(absl::Seconds(20));  // Far longer than a lease: it is renewed.
  EXPECT_THAT(b.started, IsEmpty());
  a.Succeed(key, "result");
  time.Pass(absl::Milliseconds(100));
  EXPECT_THAT(a.answers, ElementsAre("result"));
  EXPECT_THAT(b.answers, ElementsAre("result"));
  EXPECT_EQ(b.followed, 1);
  EXPECT_EQ(a.flights.GetStats().held, 0u);
  EXPECT_EQ(b.flights.GetStats().following, 0u);
}

TEST_F(SingleFlightTest, AJobWithAWorkerAndALeaseRunsFirst) {
  a.Submit(key);
  b.Submit(key);
  Settle();
  EXPECT_EQ(a.first, 2);  // the claim, and the next renewal
  const int claims_of_b = b.first;
  time.Pass(absl::Seconds(20));
  EXPECT_GE(a.first, 10);
  EXPECT_EQ(b.first, claims_of_b) << "who follows only looks";
}

TEST_F(SingleFlightTest, AFollowerHoldsNoWorker) {
  a.Submit(key);
  b.Submit(key);
  Settle();
  const std::string other = cache::Digest::Of("other").ToHex();
  b.Submit(other);
  Settle();
  EXPECT_THAT(b.started, ElementsAre(other));
}

TEST_F(SingleFlightTest, AStoredResultIsAHit) {
  a.Submit(key);
  Settle();
  a.Succeed(key, "result");
  Settle();
  b.Submit(key);
  Settle();
  EXPECT_THAT(b.answers, ElementsAre("result"));
  EXPECT_EQ(b.stored, 1);
}

TEST_F(SingleFlightTest, ADeterministicErrorReachesFollowersAndIsForgottenLater) {
  a.Submit(key);
  b.Submit(key);
  Settle();
  a.Fail(key, "wrong");
  time.Pass(absl::Milliseconds(100));
  EXPECT_THAT(b.answers, ElementsAre("wrong"));
  EXPECT_THAT(b.started, IsEmpty());
  time.Pass(absl::Seconds(61));
  b.Submit(key);
  Settle();
  EXPECT_THAT(b.started, ElementsAre(key));
}

TEST_F(SingleFlightTest, AnEndThatIsNotSharedLetsTheFollowerRunIt) {
  a.Submit(key);
  b.Submit(key);
  Settle();
  a.End("gone");
  time.Pass(absl::Milliseconds(100));
  EXPECT_THAT(b.started, ElementsAre(key));
}

TEST_F(SingleFlightTest, AFailureThatOneJobIsToldEndsThatOneAndNoLaterOne) {
  a.Submit(key);
  Settle();
  const std::set<std::string> before = leases.owners;
  b.Submit(key);
  Settle();
  std::vector<std::string> asker;
  std::set_difference(leases.owners.begin(), leases.owners.end(), before.begin(), before.end(),
                      std::back_inserter(asker));
  ASSERT_EQ(asker.size(), 1u);
  bool told = false;
  a.flights.Tell(key, asker[0], "crashed", [&](bool written) { told = written; });
  a.End("gone");
  time.Pass(absl::Milliseconds(100));
  EXPECT_TRUE(told);
  EXPECT_THAT(b.answers, ElementsAre("crashed"));
  EXPECT_THAT(b.started, IsEmpty());
  b.Submit(key);
  Settle();
  EXPECT_THAT(b.started, ElementsAre(key));
}

TEST_F(SingleFlightTest, AFollowerThatIsQueuedAgainStillHearsHowItEnded) {
  leases.Take(digest, absl::Seconds(5));
  b.Submit(key);
  Settle();
  ASSERT_EQ(b.flights.GetStats().following, 1u);
  EXPECT_EQ(b.taken, 1);  // It is not on offer any more.
  b.scheduler.WorkerLost("worker", {});
  time.Pass(absl::Milliseconds(5200));
  EXPECT_EQ(b.flights.GetStats().following, 0u);
  EXPECT_EQ(b.settled, 1);
  ASSERT_EQ(leases.owners.size(), 1u);
  a.flights.Tell(key, *leases.owners.begin(), "crashed", [](bool) {});
  time.Pass(absl::Milliseconds(100));
  EXPECT_THAT(b.answers, ElementsAre("crashed"));
}

TEST_F(SingleFlightTest, AForgedFailureIsNoOutcome) {
  ASSERT_TRUE(leases.PublishError({digest, "thief", 0}, "forged", absl::Hours(1)).ok());
  b.Submit(key);
  Settle();
  EXPECT_THAT(b.started, ElementsAre(key));
  EXPECT_THAT(b.answers, IsEmpty());
}

TEST_F(SingleFlightTest, AForgedFailureThatOneJobIsToldOnlyDelaysIt) {
  leases.Take(digest, absl::Seconds(5));
  b.Submit(key);
  Settle();
  ASSERT_EQ(leases.owners.size(), 1u);
  ASSERT_EQ(leases.Tell(digest, *leases.owners.begin(), "forged", absl::InfiniteDuration()), absl::OkStatus());
  time.Pass(absl::Minutes(16));
  EXPECT_THAT(b.started, ElementsAre(key));
  EXPECT_THAT(b.answers, IsEmpty());
}

TEST_F(SingleFlightTest, AnAbandonedLeaseIsNotFollowedForEver) {
  leases.Take(digest, absl::InfiniteDuration());
  b.Submit(key);
  time.Pass(absl::Minutes(14));
  EXPECT_THAT(b.started, IsEmpty());
  time.Pass(absl::Minutes(2));
  EXPECT_THAT(b.started, ElementsAre(key));
  EXPECT_EQ(b.flights.GetStats().alone, 1u);
}

TEST_F(SingleFlightTest, AQueuedJobIsLookedAtOnceEachTimeItIsWatched) {
  b.scheduler.WorkerLost("worker", {});
  b.Submit(key);
  Settle();
  const uint64_t job = *b.Offerable();
  const int asked = leases.asked;
  for (int i = 0; i < 5; ++i) b.flights.Watch(job);
  time.Pass(absl::Seconds(10));
  EXPECT_EQ(leases.asked, asked + 1);
  b.flights.Watch(job);
  time.Pass(absl::Seconds(10));
  EXPECT_EQ(leases.asked, asked + 2);
}

TEST_F(SingleFlightTest, TheHolderOfALeaseHearsWhetherOthersWait) {
  a.Submit(key);
  Settle();
  time.Pass(absl::Seconds(3));
  EXPECT_THAT(a.heard, ElementsAre(false, false));
  const Scheduler::WaiterId waiter = b.Submit(key);
  time.Pass(absl::Seconds(30));
  a.heard.erase(a.heard.begin(), a.heard.begin() + 2);
  EXPECT_THAT(a.heard, testing::AllOf(testing::Each(true), testing::SizeIs(testing::Ge(20))));
  b.scheduler.Leave(waiter);
  a.heard.clear();
  time.Pass(absl::Seconds(3));
  EXPECT_THAT(a.heard, testing::Each(false));
}

TEST_F(SingleFlightTest, AFollowerThatIsLostWithoutAWordIsForgotten) {
  a.Submit(key);
  Settle();
  ASSERT_TRUE(leases.Ask(digest, "lost", absl::Seconds(5), {/*take=*/false, false, /*follow=*/true}).ok());
  time.Pass(absl::Seconds(9));
  EXPECT_TRUE(a.heard.back());
  time.Pass(absl::Seconds(3));
  EXPECT_FALSE(a.heard.back());
}

TEST_F(SingleFlightTest, ANoticeThatDoesNotArriveIsReported) {
  leases.away = true;
  bool told = true;
  a.flights.Tell(key, "b/1", "crashed", [&](bool written) { told = written; });
  Settle();
  EXPECT_FALSE(told);
  told = true;
  a.flights.Publish(
      key, [] { return absl::OkStatus(); }, cache::Blob("result"), [&](bool written) { told = written; });
  Settle();
  EXPECT_FALSE(told);
}

TEST_F(SingleFlightTest, AJobInTheQueueFindsAResultThatIsMadeWholeAgain) {
  ASSERT_TRUE(*leases.Publish({digest, "somebody", 0}, cache::Blob("whole")));
  b.readable = false;
  b.scheduler.WorkerLost("worker", {});
  b.Submit(key);
  Settle();
  const auto watch = [&](absl::Duration duration) {
    for (const absl::Time end = time.Now() + duration; time.Now() < end; time.Pass(absl::Milliseconds(50)))
      if (const auto job = b.Offerable()) b.flights.Watch(*job);
  };
  watch(absl::Seconds(10));
  EXPECT_THAT(b.answers, IsEmpty());
  b.readable = true;
  watch(absl::Seconds(2));
  EXPECT_THAT(b.answers, ElementsAre("whole"));
}

TEST_F(SingleFlightTest, AFollowerTakesOverWhenTheLeaseRunsOut) {
  leases.Take(digest, absl::Seconds(5));
  a.Submit(key);
  b.Submit(key);
  time.Pass(absl::Milliseconds(4900));
  EXPECT_THAT(a.started, IsEmpty());
  time.Pass(absl::Milliseconds(200));
  EXPECT_EQ(a.started.size() + b.started.size(), 1u);
  Daemon& leader = a.started.empty() ? b : a;
  leader.Succeed(key, "result");
  time.Pass(absl::Milliseconds(200));
  EXPECT_THAT(a.answers, ElementsAre("result"));
  EXPECT_THAT(b.answers, ElementsAre("result"));
}

TEST_F(SingleFlightTest, ADaemonThatLeavesFreesItsLeasesAtOnce) {
  const Scheduler::WaiterId waiter = a.Submit(key);
  b.Submit(key);
  Settle();
  EXPECT_TRUE(a.scheduler.Leave(waiter));
  EXPECT_EQ(a.cancelled, 1);
  time.Pass(absl::Milliseconds(100));
  EXPECT_THAT(b.started, ElementsAre(key));
}

TEST_F(SingleFlightTest, AFollowersDeadlineAndCancellationCount) {
  a.Submit(key);
  b.Submit(key, false, time.Now() + absl::Seconds(1));
  const Scheduler::WaiterId waiter = b.Submit(key);
  time.Pass(absl::Seconds(2));
  b.scheduler.Tick();
  EXPECT_THAT(b.answers, ElementsAre("the deadline passed while another daemon compiled"));
  EXPECT_TRUE(b.scheduler.Leave(waiter));
  EXPECT_EQ(b.flights.GetStats().following, 0u);
  const int asked = leases.asked;
  time.Pass(absl::Seconds(2));
  EXPECT_EQ(leases.asked, asked);  // Nobody polls for nobody.
}

TEST_F(SingleFlightTest, WithoutTheEngineEachDaemonRunsTheJob) {
  leases.away = true;
  a.Submit(key);
  b.Submit(key);
  Settle();
  EXPECT_THAT(a.started, ElementsAre(key));
  EXPECT_THAT(b.started, ElementsAre(key));
  EXPECT_EQ(a.flights.GetStats().alone, 1u);
  a.Succeed(key, "result");
  Settle();
  EXPECT_THAT(a.answers, ElementsAre("result"));
}

TEST_F(SingleFlightTest, AFollowerGoesOnAloneWhenTheEngineGoesAway) {
  a.Submit(key);
  b.Submit(key);
  Settle();
  leases.away = true;
  time.Pass(absl::Milliseconds(200));
  EXPECT_THAT(b.started, ElementsAre(key));
}

TEST_F(SingleFlightTest, AnEngineThatTakesTooLongIsNotWaitedFor) {
  a.Submit(key);
  leases.before_answer = [this] {
    time.Pass(absl::Seconds(3));  // The look stalls.
    EXPECT_THAT(a.started, ElementsAre(key));
  };
  Settle();
  EXPECT_THAT(a.started, ElementsAre(key));
}

TEST_F(SingleFlightTest, ALeaseThatComesLateIsKeptByTheJobThatRunsAlready) {
  a.Submit(key, /*refresh=*/true);  // Does not look.
  leases.before_answer = [this] {
    time.Pass(absl::Seconds(3));  // The claim stalls.
    EXPECT_EQ(a.flights.GetStats().alone, 1u);
  };
  Settle();
  EXPECT_THAT(a.started, ElementsAre(key));
  EXPECT_EQ(a.flights.GetStats().held, 1u);
  a.Succeed(key, "result");
  Settle();
  EXPECT_EQ(a.flights.GetStats().held, 0u);
  EXPECT_EQ(leases.ValueOf(digest), "result");
}

TEST_F(SingleFlightTest, ALeaseOfAJobThatEndedMeanwhileIsGivenBack) {
  const Scheduler::WaiterId waiter = a.Submit(key, /*refresh=*/true);
  leases.before_answer = [&] { a.scheduler.Leave(waiter); };
  Settle();
  b.Submit(key);
  Settle();
  EXPECT_THAT(b.started, ElementsAre(key));
}

TEST_F(SingleFlightTest, AFencedOutResultDoesNotReplaceALaterOne) {
  a.Submit(key);
  b.Submit(key);
  Settle();
  // a is cut off from the engine for longer than its lease lasts.
  leases.away = true;
  time.Pass(absl::Milliseconds(150));
  leases.away = false;
  leases.Take(digest, absl::Seconds(5));  // Somebody has had it since.
  time.Pass(absl::Seconds(2));
  EXPECT_EQ(a.flights.GetStats().lost, 1u);
  ASSERT_TRUE(*leases.Publish({digest, "somebody", 2}, cache::Blob("later")));
  a.Succeed(key, "older");
  time.Pass(absl::Milliseconds(100));
  EXPECT_EQ(leases.ValueOf(digest), "later");
  EXPECT_THAT(a.answers, ElementsAre("older"));
}

TEST_F(SingleFlightTest, AResultThatCannotBeHadWholeIsMadeAnew) {
  ASSERT_TRUE(*leases.Publish({digest, "somebody", 0}, cache::Blob("without its artifacts")));
  a.readable = b.readable = false;
  a.Submit(key);
  b.Submit(key);
  Settle();
  EXPECT_EQ(a.started.size() + b.started.size(), 1u);
  Daemon& leader = a.started.empty() ? b : a;
  leader.Succeed(key, "whole");
  Settle();
  a.readable = b.readable = true;
  time.Pass(absl::Milliseconds(300));
  EXPECT_EQ(a.started.size() + b.started.size(), 1u);
  EXPECT_THAT(a.answers, ElementsAre("whole"));
  EXPECT_THAT(b.answers, ElementsAre("whole"));
}

TEST_F(SingleFlightTest, ARefreshRunsWhileOthersRun) {
  a.Submit(key);
  Settle();
  b.Submit(key, /*refresh=*/true);
  Settle();
  EXPECT_THAT(b.started, ElementsAre(key));
}

TEST_F(SingleFlightTest, AResultWhoseArtifactsCannotBeSharedIsNotShared) {
  a.upload = absl::ResourceExhaustedError("full");
  a.Submit(key);
  b.Submit(key);
  Settle();
  a.Succeed(key, "result");
  EXPECT_THAT(a.answers, ElementsAre("result"));
  time.Pass(absl::Milliseconds(100));
  EXPECT_THAT(b.started, ElementsAre(key));
  EXPECT_EQ(a.flights.GetStats().publish_failures, 1u);
}

TEST_F(SingleFlightTest, AWorkerThatIsLostDuringTheClaimCostsOnlyItsPlace) {
  a.Submit(key, /*refresh=*/true);
  a.scheduler.WorkerLost("worker", {});
  Settle();
  EXPECT_THAT(a.started, IsEmpty());
  WorkerOffer offer;
  offer.build_id = "build";
  offer.targets["cuda:90"] = true;
  a.scheduler.WorkerAttached("another", offer);
  Settle();
  EXPECT_THAT(a.started, ElementsAre(key));
  a.scheduler.WorkerLost("another", {});
  a.scheduler.WorkerAttached("a third", offer);
  EXPECT_THAT(a.started, ElementsAre(key, key));  // Its lease holds.
}

}  // namespace
}  // namespace tritond::server
