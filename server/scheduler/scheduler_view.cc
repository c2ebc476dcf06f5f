// SPDX-License-Identifier: Apache-2.0
// What others may see of the scheduler: its jobs, its idle slots, its numbers.
#include <algorithm>
#include <utility>
#include <vector>

#include "server/scheduler/scheduler.h"

namespace tritond::server {

absl::Time Scheduler::LatestLocked(const Job& job) const {
  absl::Time latest = absl::InfinitePast();
  for (const WaiterId waiter : job.waiters) latest = std::max(latest, waiters_.Find(waiter)->deadline);
  return latest;
}

std::vector<Scheduler::WaitingJob> Scheduler::NextWaiting(absl::Duration at_least, const OfferFilter& filter) {
  absl::MutexLock lock(&mu_);
  const absl::Time now = clock_();
  std::vector<WaitingJob> waiting;
  std::vector<uint64_t> never;
  for (const Requirement& needs : queue_.OfferableNeeds()) {
    const auto pick = [&](uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      const Job& job = *jobs_.at(id);
      const OfferFilter::Choice choice = filter.choose(job.flight, job.spec);
      if (choice == OfferFilter::Choice::kNever) never.push_back(id);
      return choice == OfferFilter::Choice::kOffer;
    };
    for (const uint64_t id : queue_.Next(needs, filter.most(needs), now - at_least, now, pick)) {
      const Job& job = *jobs_.at(id);
      waiting.push_back({job.flight, job.spec, LatestLocked(job)});
    }
  }
  for (const uint64_t id : never) queue_.Withhold(id);
  return waiting;
}

std::map<Requirement, int> Scheduler::IdleSlots() const {
  absl::MutexLock lock(&mu_);
  return draining_ ? std::map<Requirement, int>() : workers_.IdleSlots(arriving_);
}

std::vector<Quarantine::Entry> Scheduler::Quarantined() const {
  absl::MutexLock lock(&mu_);
  return quarantine_.Locked();
}

OpenJob Scheduler::DescribeLocked(const Job& job) const {
  OpenJob open;
  open.id = job.spec.id;
  open.key = job.spec.key;
  open.label = job.spec.label;
  open.target = job.spec.needs.target;
  open.tenant = job.spec.tenant;
  open.job_class = job.spec.job_class;
  open.created = job.created;
  open.started = job.attempts > 0 ? job.started : absl::InfiniteFuture();
  open.worker = job.worker;
  open.stage = job.stage;
  open.waiters = job.waiters.size();
  return open;
}

std::optional<OpenJob> Scheduler::FindOpen(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
  for (const auto& [number, job] : jobs_) {
    if (job->spec.id == id) return DescribeLocked(*job);
  }
  return std::nullopt;
}

Scheduler::Stats Scheduler::GetStats() const {
  absl::MutexLock lock(&mu_);
  Stats stats;
  const absl::Time now = clock_();
  for (int i = 0; i < kJobClasses; ++i) {
    const JobClass job_class = static_cast<JobClass>(i);
    stats.classes[i].queued = queue_.CountOf(job_class);
    const absl::Time oldest = queue_.OldestOf(job_class);
    stats.classes[i].oldest_wait = oldest == absl::InfiniteFuture() ? absl::ZeroDuration() : now - oldest;
  }
  for (const auto& [tenant, queued] : queue_.tenants()) stats.tenants[tenant].queued = queued;
  for (const auto& [name, worker] : workers_.workers()) {
    stats.done[name] = worker.done;
    for (const uint64_t id : workers_.JobsOf(name)) {
      const Job& job = *jobs_.at(id);
      stats.running[name].push_back(DescribeLocked(job));
      ++stats.tenants[job.spec.tenant].running;
      ++stats.classes[static_cast<int>(job.spec.job_class)].running;
    }
  }
  stats.started = started_;
  stats.lost = lost_;
  stats.rejected = rejected_;
  stats.hedged = hedged_;
  stats.flaked = flaked_;
  return stats;
}

}  // namespace tritond::server
