// SPDX-License-Identifier: Apache-2.0
// Random histories: callers come and leave, workers attach, finish, crash and vanish. Every caller who stays
// always gets exactly one outcome, and no stored one with a refresh. No key runs twice at once for callers who wait,
// unless it is stuck. Nothing is left over.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "server/scheduler/scheduler.h"

namespace tritond::server {
namespace {

class Simulation final : public Executor {
 public:
  explicit Simulation(unsigned seed)
      : random_(seed),
        scheduler_(
            Config(seed), [this] { return now_; }, *this) {}

  void Start(const std::string& worker, uint64_t lease, const JobSpec& job, absl::Time) override {
    running_[lease] = {worker, job.key};
    if (job.refresh) refreshing_.insert(lease);
    ++starts_;
  }
  void Extend(const std::string&, uint64_t, absl::Time) override {}
  void Cancel(const std::string& worker, uint64_t lease) override { cancelled_.insert(lease); }

  void RunSteps(int steps) {
    for (int i = 0; i < steps; ++i) {
      Step();
      now_ += absl::Milliseconds(Pick(200));
      if (Pick(4) == 0) scheduler_.Tick();
      CheckOneRunPerKey();
    }
  }

  // Lets everything finish, and says whether the books balance.
  void Settle() {
    for (int round = 0; round < 10000 && outstanding_ > 0; ++round) {
      if (workers_.size() < 3) AttachWorker();
      if (!running_.empty()) FinishSome();
      now_ += absl::Milliseconds(10);
      scheduler_.Tick();
    }
    while (!running_.empty()) FinishSome();  // Cancelled jobs answer too.
    EXPECT_EQ(outstanding_, 0);
    size_t left = 99;
    scheduler_.WhenIdle(absl::InfiniteFuture(), [&](size_t n) { left = n; });
    EXPECT_EQ(left, 0u);
    EXPECT_GT(starts_, 0);
    EXPECT_GT(answers_, 0);
  }

 private:
  // Every other history hedges often.
  static SchedulerConfig Config(unsigned seed) {
    SchedulerConfig config;
    config.hedge_after = seed % 2 == 0 ? absl::Milliseconds(300) : absl::InfiniteDuration();
    config.hedge_factor = 1;
    return config;
  }
  int Pick(int n) { return static_cast<int>(random_() % n); }

  void Step() {
    switch (Pick(8)) {
      case 0:
        return AttachWorker();
      case 1:
        return LoseWorker();
      case 2:
        return LeaveSome();
      case 3:
      case 4:
        return FinishSome();
      default:
        return SubmitSome();
    }
  }

  void AttachWorker() {
    const std::string name = "w" + std::to_string(++names_);
    workers_.insert(name);
    scheduler_.WorkerAttached(name, {name, "b", {{"t", true}}, 1 + Pick(2)});
  }

  void LoseWorker() {
    if (workers_.empty()) return;
    const std::string name = *std::next(workers_.begin(), Pick(workers_.size()));
    workers_.erase(name);
    Loss loss{static_cast<Loss::Kind>(Pick(4)), "gone", {}};
    for (auto it = running_.begin(); it != running_.end();) {
      if (it->second.first != name) {
        ++it;
        continue;
      }
      if (Pick(2) == 0) loss.begun.push_back(it->first);
      it = running_.erase(it);
    }
    scheduler_.WorkerLost(name, loss);
  }

  void SubmitSome() {
    JobSpec spec;
    spec.key = "k" + std::to_string(Pick(20));
    spec.tenant = "t" + std::to_string(Pick(3));
    spec.job_class = static_cast<JobClass>(Pick(3));
    spec.needs = {"t", "b", true};
    spec.refresh = Pick(5) == 0;
    const int ticket = ++tickets_;
    ++outstanding_;
    const absl::Time deadline = Pick(3) == 0 ? now_ + absl::Seconds(Pick(20)) : absl::InfiniteFuture();
    const auto waiter = scheduler_.Submit(
        spec, deadline, nullptr, [this, ticket, refresh = spec.refresh](const Outcome& outcome, bool) {
          EXPECT_FALSE(refresh && outcome.stored) << "a stored outcome for a caller who refreshes";
          EXPECT_TRUE(answered_.insert(ticket).second) << "two outcomes for one caller";
          EXPECT_EQ(left_.count(ticket), 0u) << "an outcome for a caller who left";
          --outstanding_;
          ++answers_;
        });
    if (waiter != 0) waiters_.emplace_back(waiter, ticket);
  }

  void LeaveSome() {
    if (waiters_.empty()) return;
    const size_t i = Pick(waiters_.size());
    const auto [waiter, ticket] = waiters_[i];
    waiters_.erase(waiters_.begin() + i);
    if (!scheduler_.Leave(waiter)) return;
    EXPECT_EQ(answered_.count(ticket), 0u);
    left_.insert(ticket);
    --outstanding_;
  }

  void FinishSome() {
    if (running_.empty()) return;
    auto it = std::next(running_.begin(), Pick(running_.size()));
    const uint64_t lease = it->first;
    running_.erase(it);
    Outcome outcome;
    if (Pick(5) == 0) outcome.status = absl::InvalidArgumentError("bad");
    if (Pick(5) == 0) outcome.status = absl::InternalError("flake");
    outcome.stored = outcome.status.ok() && refreshing_.count(lease) == 0 && Pick(3) == 0;
    scheduler_.Finish(lease, outcome);
  }

  // Two when one of them is the hedge of the other.
  void CheckOneRunPerKey() {
    std::map<std::string, size_t> runs;
    for (const auto& [lease, job] : running_) {
      if (cancelled_.count(lease) == 0) ++runs[job.second];
    }
    size_t extra = 0;
    for (const auto& [key, count] : runs) {
      EXPECT_LE(count, 2u) << key;
      extra += count - 1;
    }
    EXPECT_LE(extra, scheduler_.GetStats().hedged);
  }

  std::mt19937 random_;
  absl::Time now_ = absl::FromUnixSeconds(1000);
  Scheduler scheduler_;
  std::map<uint64_t, std::pair<std::string, std::string>> running_;
  std::set<uint64_t> cancelled_, refreshing_;
  std::set<std::string> workers_;
  std::vector<std::pair<Scheduler::WaiterId, int>> waiters_;
  std::set<int> answered_, left_;
  int names_ = 0, tickets_ = 0, outstanding_ = 0, starts_ = 0, answers_ = 0;
};

TEST(SchedulerSimulation, EveryCallerWhoStaysGetsExactlyOneOutcome) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Simulation simulation(seed);
    simulation.RunSteps(1000);
    simulation.Settle();
  }
}

}  // namespace
}  // namespace tritond::server
