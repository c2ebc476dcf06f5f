// SPDX-License-Identifier: Apache-2.0
// Whatever a caller who refreshes finds under way, what answers it is a run of this daemon's.
#include <gtest/gtest.h>

#include <algorithm>

#include "server/scheduler/scheduler.h"

namespace tritond::server {
namespace {

struct Seen {
  int calls = 0;
  Outcome outcome;
};

class SchedulerRefreshTest : public testing::Test, public Executor, public Peers {
 protected:
  SchedulerRefreshTest()
      : scheduler_(
            SchedulerConfig(), [this] { return now_; }, *this) {}

  void Start(const std::string&, uint64_t lease, const JobSpec& job, absl::Time) override {
    started_.push_back({lease, job});
  }
  void Extend(const std::string&, uint64_t, absl::Time) override {}
  void Cancel(const std::string&, uint64_t lease) override { cancelled_.push_back(lease); }
  void Look(uint64_t job, const JobSpec&) override { looks_.push_back(job); }
  void Claim(uint64_t job, const JobSpec& spec) override { claims_.push_back({job, spec.refresh}); }
  void Ended(uint64_t job) override { ended_.push_back(job); }

  void Attach() { scheduler_.WorkerAttached("w", {"w", "b", {{"t", true}}, 1}); }
  Scheduler::WaiterId Submit(bool refresh, Seen* seen, Scheduler::Recheck recheck = nullptr) {
    JobSpec spec;
    spec.key = "k";
    spec.needs = {"t", "b", true};
    spec.refresh = refresh;
    spec.payload = refresh ? refreshing_ : nullptr;
    return scheduler_.Submit(spec, absl::InfiniteFuture(), std::move(recheck), [seen](const Outcome& outcome, bool) {
      ++seen->calls;
      seen->outcome = outcome;
    });
  }
  void Decide(uint64_t job, Verdict::Kind kind) {
    Verdict verdict;
    verdict.kind = kind;
    verdict.outcome.stored = true;
    scheduler_.Decide(job, verdict);
  }
  void FinishLast(bool stored = false) {
    Outcome outcome;
    outcome.stored = stored;
    scheduler_.Finish(started_.back().first, outcome);
  }
  // The refresh has been made a run of its own, which answers both.
  void ExpectRunForBoth(uint64_t looked) {
    EXPECT_EQ(std::count(ended_.begin(), ended_.end(), looked), 1);
    Decide(looked, Verdict::Kind::kOutcome);
    Decide(looked, Verdict::Kind::kFollow);
    EXPECT_EQ(normal_.calls + refresh_.calls, 0) << "what was found before does not count";
    ASSERT_FALSE(claims_.empty());
    EXPECT_TRUE(claims_.back().second);
    EXPECT_NE(claims_.back().first, looked);
    Decide(claims_.back().first, Verdict::Kind::kRun);
    ASSERT_EQ(started_.size(), 1u);
    EXPECT_TRUE(started_[0].second.refresh);
    EXPECT_EQ(started_[0].second.payload, refreshing_) << "the worker must be told";
    FinishLast();
    EXPECT_EQ(normal_.calls, 1);
    EXPECT_EQ(refresh_.calls, 1);
    EXPECT_EQ(refresh_.outcome.attempts, 1);
    EXPECT_FALSE(refresh_.outcome.stored);
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  const std::shared_ptr<const Payload> refreshing_ = std::make_shared<Payload>();  // Shared with the job.
  Scheduler scheduler_;
  std::vector<std::pair<uint64_t, JobSpec>> started_;
  std::vector<uint64_t> cancelled_, looks_, ended_;
  std::vector<std::pair<uint64_t, bool>> claims_;
  Seen normal_, refresh_;
};

TEST_F(SchedulerRefreshTest, AResultOfTheRecheckAnswersTheOtherCallersAlone) {
  Attach();
  Submit(false, &normal_, [&] {
    Submit(true, &refresh_);
    return Outcome();
  });
  EXPECT_EQ(normal_.calls, 1);
  EXPECT_TRUE(normal_.outcome.stored);
  EXPECT_EQ(refresh_.calls, 0);
  ASSERT_EQ(started_.size(), 1u);
  FinishLast();
  EXPECT_EQ(normal_.calls, 1);
  EXPECT_EQ(refresh_.calls, 1);
  EXPECT_FALSE(refresh_.outcome.stored);
}

TEST_F(SchedulerRefreshTest, PeersAreNotAskedForWhatIsRefreshedDuringTheRecheck) {
  scheduler_.SetPeers(this);
  Attach();
  Submit(false, &normal_, [&]() -> std::optional<Outcome> {
    Submit(true, &refresh_);
    return std::nullopt;
  });
  EXPECT_TRUE(looks_.empty());
  ASSERT_EQ(claims_.size(), 1u);
  EXPECT_TRUE(claims_[0].second);
}

TEST_F(SchedulerRefreshTest, AJobThatPeersAreAskedForIsCompiledHere) {
  scheduler_.SetPeers(this);
  Attach();
  Submit(false, &normal_);
  Submit(true, &refresh_);
  ExpectRunForBoth(looks_.at(0));
}

TEST_F(SchedulerRefreshTest, AJobThatFollowsAnotherDaemonIsCompiledHere) {
  scheduler_.SetPeers(this);
  Attach();
  Submit(false, &normal_);
  Decide(looks_.at(0), Verdict::Kind::kFollow);
  Submit(true, &refresh_);
  ExpectRunForBoth(looks_[0]);
}

TEST_F(SchedulerRefreshTest, AJobThatWaitsForAWorkerIsCompiledHere) {
  scheduler_.SetPeers(this);
  Submit(false, &normal_);
  Decide(looks_.at(0), Verdict::Kind::kQueue);
  Submit(true, &refresh_);
  OfferFilter all;
  all.most = [](const Requirement&) { return size_t{9}; };
  all.choose = [](uint64_t, const JobSpec&) { return OfferFilter::Choice::kOffer; };
  EXPECT_TRUE(scheduler_.NextWaiting(absl::ZeroDuration(), all).empty()) << "no other daemon may take it";
  Decide(looks_[0], Verdict::Kind::kOutcome);
  Attach();
  ExpectRunForBoth(looks_[0]);
}

TEST_F(SchedulerRefreshTest, AJobThatIsBeingClaimedIsClaimedAnew) {
  scheduler_.SetPeers(this);
  Attach();
  Submit(false, &normal_);
  Decide(looks_.at(0), Verdict::Kind::kQueue);
  ASSERT_EQ(claims_.size(), 1u);
  EXPECT_FALSE(claims_[0].second);
  Submit(true, &refresh_);
  EXPECT_EQ(claims_.size(), 2u);
  ExpectRunForBoth(looks_[0]);
}

TEST_F(SchedulerRefreshTest, ItJoinsAJobThatRuns) {
  Attach();
  Submit(false, &normal_);
  Submit(true, &refresh_);
  ASSERT_EQ(started_.size(), 1u);
  FinishLast();
  EXPECT_EQ(normal_.calls, 1);
  EXPECT_EQ(refresh_.calls, 1);
  EXPECT_EQ(started_.size(), 1u);
}

TEST_F(SchedulerRefreshTest, ARunThatEndsWithWhatIsStoredIsMadeAgainForIt) {
  Attach();
  Submit(false, &normal_);
  Submit(true, &refresh_);
  FinishLast(/*stored=*/true);
  EXPECT_EQ(normal_.calls, 1);
  EXPECT_EQ(refresh_.calls, 0);
  ASSERT_EQ(started_.size(), 2u);
  EXPECT_EQ(started_[1].second.payload, refreshing_);
  FinishLast();
  EXPECT_EQ(normal_.calls, 1);
  EXPECT_EQ(refresh_.calls, 1);
  EXPECT_EQ(refresh_.outcome.attempts, 2);
}

TEST_F(SchedulerRefreshTest, ARunThatEndsWithWhatIsStoredSufficesWhenItHasLeft) {
  Attach();
  Submit(false, &normal_);
  scheduler_.Leave(Submit(true, &refresh_));
  FinishLast(/*stored=*/true);
  EXPECT_EQ(normal_.calls, 1);
  EXPECT_EQ(started_.size(), 1u);
}

TEST_F(SchedulerRefreshTest, AJobThatLostItsWorkerIsRefreshedInItsNextRun) {
  Attach();
  Submit(false, &normal_);
  scheduler_.WorkerLost("w", {Loss::Kind::kDisconnected, "gone", {}});
  Submit(true, &refresh_);
  Attach();
  ASSERT_EQ(started_.size(), 2u);
  EXPECT_TRUE(started_[1].second.refresh);
  FinishLast();
  EXPECT_EQ(refresh_.calls, 1);
}

}  // namespace
}  // namespace tritond::server
