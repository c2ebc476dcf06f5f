// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/work_sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "tests/support/fake_cluster.h"

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Requirement kNeeds{"cuda:90", "build {1}", true};

// What a daemon shows of its queue and its workers; the test sets it.
class Daemon final : public WorkSharing::Host, public TaskTimer {
 public:
  Daemon(tests::FakeTime& time, cache::JobStream& streams, const std::string& name = "daemon") : time_(time) {
    WorkSharing::Config config;
    config.taker = name;
    sharing = std::make_unique<WorkSharing>(
        config, [&time] { return time.Now(); }, streams, *this, *this);
    sharing->Begin();
  }
  void RunAfter(absl::Duration delay, std::function<void()> task) override {
    time_.RunAfter(delay, [this, task = std::move(task)] {
      if (!lost) task();
    });
  }
  std::map<Requirement, int> IdleSlots() override { return idle; }
  std::optional<std::string> WriteOffer(const JobSpec& spec, const std::string&) override {
    ++writes;
    if (on_write) on_write();
    if (spec.label == "unwritable") return std::nullopt;
    return spec.label;
  }
  void RunOffer(const cache::StreamEntry& entry, const Requirement& needs, std::function<void(bool)> done) override {
    EXPECT_TRUE(any_needs || !(needs < kNeeds || kNeeds < needs));
    taken.push_back(entry.body);
    if (--idle[kNeeds] == 0) idle.clear();
    finish = std::move(done);
  }
  void WatchJob(uint64_t job) override { watched.push_back(job); }
  // As the scheduler does it, with `waiting` in the order in which it would serve them.
  std::vector<Scheduler::WaitingJob> NextWaiting(absl::Duration, const OfferFilter& filter) override {
    std::map<Requirement, size_t> room;
    std::vector<Scheduler::WaitingJob> chosen;
    for (const Scheduler::WaitingJob& job : waiting) {
      const auto most = room.try_emplace(job.spec.needs, 0);
      if (most.second) most.first->second = filter.most(job.spec.needs);
      if (most.first->second == 0 || never.count(job.id) > 0) continue;
      const auto choice = filter.choose(job.id, job.spec);
      if (choice == OfferFilter::Choice::kNever) never.insert(job.id);
      if (choice != OfferFilter::Choice::kOffer) continue;
      --most.first->second;
      chosen.push_back(job);
    }
    return chosen;
  }
  void Queue(uint64_t id, const std::string& label, JobClass job_class = JobClass::kInteractive) {
    Scheduler::WaitingJob& job = waiting.emplace_back();
    job.id = id;
    job.spec.key = "key of " + label;
    job.spec.needs = kNeeds;
    job.spec.job_class = job_class;
    job.spec.label = label;
    job.spec.bytes = label.size();
    job.latest = absl::InfiniteFuture();
  }

  std::vector<Scheduler::WaitingJob> waiting;
  std::map<Requirement, int> idle;
  bool lost = false;       // it does nothing any more
  bool any_needs = false;  // offers of other needs may come
  std::vector<std::string> taken;
  std::vector<uint64_t> watched;
  std::set<uint64_t> never;
  int writes = 0;
  std::function<void()> on_write;
  std::function<void(bool)> finish;
  std::unique_ptr<WorkSharing> sharing;

 private:
  tests::FakeTime& time_;
};

class WorkSharingTest : public testing::Test {
 protected:
  static constexpr absl::Duration kRound = absl::Milliseconds(120);
  const OfferWindow::Config kWindow;

  tests::FakeTime time;
  tests::FakeStreams streams{time};
  Daemon busy{time, streams, "busy"}, idle{time, streams, "idle"};
};

TEST_F(WorkSharingTest, AnIdleDaemonTakesWhatWaitsAtABusyOne) {
  busy.Queue(1, "kernel");
  idle.idle[kNeeds] = 1;
  time.Pass(kRound);
  EXPECT_THAT(idle.taken, ElementsAre("kernel"));
  EXPECT_THAT(busy.taken, IsEmpty());
  EXPECT_THAT(busy.watched, testing::Contains(1u));
  EXPECT_EQ(streams.size(), 1u);  // Until it is done: a daemon that takes over finds it.
  idle.finish(true);
  time.Pass(kRound);
  EXPECT_EQ(streams.size(), 0u);
}

TEST_F(WorkSharingTest, IdleDaemonsLookLessOftenUntilThereIsWork) {
  idle.idle[kNeeds] = 1;
  time.Pass(absl::Seconds(10));
  const int before = streams.takes;
  time.Pass(absl::Seconds(10));
  EXPECT_LE(streams.takes - before, 26);  // Each 400 ms, not each 50.
  busy.Queue(1, "kernel");
  time.Pass(absl::Seconds(1));
  EXPECT_THAT(idle.taken, ElementsAre("kernel"));
  idle.finish(true);
  busy.waiting.clear();
  busy.sharing->Settled(1, /*taken=*/true);
  idle.idle[kNeeds] = 1;
  busy.Queue(2, "next");
  time.Pass(kRound);
  EXPECT_THAT(idle.taken, ElementsAre("kernel", "next"));
}

TEST_F(WorkSharingTest, ADaemonWithoutIdleWorkersOfThatKindTakesNothing) {
  busy.Queue(1, "kernel");
  idle.idle[{"cuda:90", kNeeds.build_id, false}] = 1;
  time.Pass(kRound);
  EXPECT_THAT(idle.taken, IsEmpty());
}

TEST_F(WorkSharingTest, AJobThatItsOwnDaemonRunsIsNotOnOfferAnyMore) {
  busy.Queue(1, "kernel");
  time.Pass(kRound);
  EXPECT_EQ(streams.size(), 1u);
  busy.waiting.clear();
  busy.sharing->Settled(1, /*taken=*/false);
  time.Pass(absl::ZeroDuration());
  EXPECT_EQ(streams.size(), 0u);
  EXPECT_EQ(busy.sharing->GetStats().open_offers, 0u);
}

TEST_F(WorkSharingTest, AJobThatEndsBeforeItsOfferIsMadeIsNotOffered) {
  busy.Queue(1, "kernel");
  busy.on_write = [&] {
    busy.waiting.clear();
    busy.sharing->Settled(1, /*taken=*/false);
  };
  time.Pass(kRound);
  EXPECT_EQ(busy.writes, 1);
  EXPECT_EQ(streams.size(), 0u);
  EXPECT_EQ(busy.sharing->GetStats().open_offers, 0u);
}

TEST_F(WorkSharingTest, NoDaemonRunsItsOwnOffer) {
  busy.Queue(1, "kernel");
  idle.idle[kNeeds] = 1;
  time.Pass(kRound);
  ASSERT_THAT(idle.taken, ElementsAre("kernel"));  // And goes on for long.
  busy.waiting.clear();
  busy.idle[kNeeds] = 1;
  time.Pass(absl::Seconds(30));
  EXPECT_THAT(busy.taken, IsEmpty());
  EXPECT_EQ(busy.sharing->GetStats().taken, 0u);
  EXPECT_EQ(streams.size(), 0u);
}

TEST_F(WorkSharingTest, EachJobIsOfferedOnceAndAgainAfterAWhile) {
  busy.Queue(1, "kernel");
  time.Pass(absl::Seconds(5));
  EXPECT_EQ(busy.sharing->GetStats().offered, 1u);
  streams.Lose();
  time.Pass(absl::Seconds(6));
  EXPECT_EQ(busy.sharing->GetStats().offered, 2u);
  EXPECT_EQ(streams.size(), 1u);
}

TEST_F(WorkSharingTest, OffersAreBoundedByHowFastTheyAreTaken) {
  for (int i = 1; i <= 500; ++i) busy.Queue(i, "kernel");
  time.Pass(kRound);
  EXPECT_EQ(streams.size(), kWindow.first);
  time.Pass(absl::Seconds(10));
  EXPECT_EQ(streams.size(), kWindow.least);
  for (int i = 1; i <= 400; ++i) {
    busy.sharing->Settled(busy.waiting.front().id, /*taken=*/true);
    busy.waiting.erase(busy.waiting.begin());
    time.Pass(absl::Milliseconds(5));
  }
  time.Pass(kRound);
  EXPECT_EQ(streams.size(), kWindow.most);
}

TEST_F(WorkSharingTest, OnOfferIsWhatTheQueueWouldServeNext) {
  for (int i = 1; i <= 500; ++i) busy.Queue(i, "old");
  time.Pass(absl::Seconds(6));
  ASSERT_EQ(streams.size(), kWindow.least);
  busy.Queue(501, "urgent");
  std::rotate(busy.waiting.begin(), busy.waiting.end() - 1, busy.waiting.end());
  time.Pass(kRound);
  EXPECT_EQ(streams.size(), kWindow.least);
  idle.idle[kNeeds] = 2;
  time.Pass(kRound);
  EXPECT_THAT(idle.taken, ElementsAre("old", "urgent"));  // One old offer was made before.
}

TEST_F(WorkSharingTest, TheMostUrgentClassIsTakenFirstAndNowAndThenTheOthers) {
  for (int i = 1; i <= 16; ++i) busy.Queue(i, "prebuild", JobClass::kPrebuild);
  Daemon third(time, streams, "third");
  for (int i = 1; i <= 14; ++i) third.Queue(i, "interactive");
  time.Pass(kRound);
  idle.idle[kNeeds] = 8;
  // Of each eight rounds one begins with the others.
  time.Pass(absl::Seconds(1));
  ASSERT_EQ(idle.taken.size(), 8u);
  EXPECT_LE(std::count(idle.taken.begin(), idle.taken.end(), "prebuild"), 2);
  idle.idle[kNeeds] = 8;
  time.Pass(absl::Seconds(1));
  EXPECT_GE(std::count(idle.taken.begin(), idle.taken.end(), "prebuild"), 1);
}

TEST_F(WorkSharingTest, AJobThatBecomesMoreUrgentIsOfferedAsSuch) {
  busy.Queue(1, "prebuild", JobClass::kPrebuild);
  busy.Queue(2, "raised", JobClass::kPrebuild);
  time.Pass(kRound);
  busy.waiting[1].spec.job_class = JobClass::kInteractive;
  time.Pass(kRound);
  EXPECT_EQ(streams.size(), 2u);
  idle.idle[kNeeds] = 1;
  time.Pass(kRound);
  EXPECT_THAT(idle.taken, ElementsAre("raised"));
}

TEST_F(WorkSharingTest, ATakerTakesNoMoreThanItHasSlotsFor) {
  for (int i = 1; i <= 16; ++i) busy.Queue(i, "binary");
  for (int i = 17; i <= 32; ++i) {
    busy.Queue(i, "text");
    busy.waiting.back().spec.needs.binary = false;
  }
  time.Pass(kRound);
  idle.any_needs = true;
  idle.idle[kNeeds] = 1;
  idle.idle[{kNeeds.target, kNeeds.build_id, false}] = 1;
  time.Pass(absl::Milliseconds(50));
  EXPECT_EQ(idle.taken.size(), 1u);
}

TEST_F(WorkSharingTest, AnOwnOfferThatComesBackIsMadeToOthersAgain) {
  busy.Queue(1, "kernel");
  busy.idle[kNeeds] = 1;  // Which may not run it.
  time.Pass(kRound);
  busy.idle.clear();
  idle.idle[kNeeds] = 1;
  time.Pass(kRound);
  EXPECT_THAT(idle.taken, ElementsAre("kernel"));
  EXPECT_THAT(busy.taken, IsEmpty());
}

TEST_F(WorkSharingTest, LargeJobsAreNotOfferedAndNotWritten) {
  for (int i = 1; i <= 200; ++i) busy.Queue(i, std::string((size_t{1} << 20) + 1, 'x'));
  busy.Queue(201, "small");
  idle.idle[kNeeds] = 1;
  time.Pass(absl::Seconds(1));
  EXPECT_THAT(idle.taken, ElementsAre("small"));
  EXPECT_EQ(busy.writes, 1);
  EXPECT_EQ(busy.never.size(), 200u);
}

TEST_F(WorkSharingTest, AnOfferThatCannotBeWrittenIsTriedOnce) {
  busy.Queue(1, "unwritable");
  busy.Queue(2, "kernel");
  time.Pass(absl::Seconds(1));
  EXPECT_EQ(streams.size(), 1u);
  EXPECT_EQ(busy.writes, 2);
}

TEST_F(WorkSharingTest, OffersThatNoDaemonTakesBlockNoOtherTarget) {
  for (int i = 1; i <= 500; ++i) {
    busy.Queue(i, "unserved");
    busy.waiting.back().spec.needs.target = "cuda:80";
  }
  busy.Queue(501, "served");
  idle.idle[kNeeds] = 1;
  time.Pass(absl::Seconds(1));
  EXPECT_THAT(idle.taken, ElementsAre("served"));
  EXPECT_EQ(streams.size(), kWindow.first + 1);
}

TEST_F(WorkSharingTest, AJobThatTheEngineRefusesIsNoObstacle) {
  streams.refused = "bad";
  busy.Queue(1, "bad");
  busy.Queue(2, "good");
  time.Pass(absl::Seconds(1));
  EXPECT_EQ(streams.size(), 1u);
}

TEST_F(WorkSharingTest, JobsOfADeadTakerAreTakenOver) {
  busy.Queue(1, "kernel");
  idle.idle[kNeeds] = 1;
  time.Pass(kRound);
  ASSERT_THAT(idle.taken, ElementsAre("kernel"));
  busy.lost = idle.lost = true;
  Daemon third(time, streams, "third");
  third.idle[kNeeds] = 1;
  time.Pass(absl::Seconds(10));
  EXPECT_THAT(third.taken, IsEmpty());
  time.Pass(absl::Seconds(15));
  EXPECT_THAT(third.taken, ElementsAre("kernel"));
}

TEST_F(WorkSharingTest, AnOfferThatATakerCannotRunStaysForOthers) {
  busy.Queue(1, "kernel");
  idle.idle[kNeeds] = 1;
  time.Pass(kRound);
  idle.finish(false);
  time.Pass(kRound);
  EXPECT_EQ(streams.size(), 1u);
}

TEST_F(WorkSharingTest, AnOfferWhoseCallersHaveGivenUpIsDropped) {
  busy.Queue(1, "kernel");
  busy.waiting[0].latest = time.Now() + absl::Milliseconds(60);
  time.Pass(kRound);
  busy.waiting.clear();
  idle.idle[kNeeds] = 1;
  time.Pass(kRound);
  EXPECT_THAT(idle.taken, IsEmpty());
  EXPECT_EQ(streams.size(), 0u);
}

TEST_F(WorkSharingTest, GoesOnWhenTheEngineIsBack) {
  streams.away = true;
  busy.Queue(1, "kernel");
  idle.idle[kNeeds] = 1;
  time.Pass(absl::Seconds(1));
  streams.away = false;
  time.Pass(kRound);
  EXPECT_THAT(idle.taken, ElementsAre("kernel"));
}

}  // namespace
}  // namespace tritond::server
