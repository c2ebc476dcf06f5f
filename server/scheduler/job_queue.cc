// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/job_queue.h"

#include <algorithm>
#include <tuple>

namespace tritond::server {

void JobQueue::Push(const Entry& entry) {
  const Flow flow{entry.job_class, entry.tenant};
  lanes_[entry.needs][flow][entry.id] = entry;
  entries_[entry.id] = {entry.needs, flow};
  ++counts_[static_cast<int>(entry.job_class)];
  ++tenant_counts_[entry.tenant];
}

std::optional<uint64_t> JobQueue::Pop(const std::function<bool(const Requirement&)>& can_run, absl::Time now) {
  using Rank = std::tuple<int64_t, uint64_t, uint64_t>;
  std::optional<Rank> best;
  Flow best_flow;
  for (const auto& [needs, lane] : lanes_) {
    if (!can_run(needs)) continue;
    for (const auto& [flow, jobs] : lane) {
      const Entry& head = jobs.begin()->second;
      const int64_t aged = std::max(now - head.enqueued, absl::ZeroDuration()) / age_step_;
      auto served = last_served_.find(flow);
      Rank rank{static_cast<int64_t>(head.job_class) - aged, served == last_served_.end() ? 0 : served->second,
                head.id};
      if (best.has_value() && *best <= rank) continue;
      best = rank;
      best_flow = flow;
    }
  }
  if (!best.has_value()) return std::nullopt;
  const uint64_t id = std::get<2>(*best);
  Remove(id);
  MarkServed(best_flow);
  return id;
}

void JobQueue::MarkServed(const Flow& flow) {
  constexpr size_t kMaxRemembered = 4096;
  if (last_served_.size() >= kMaxRemembered) last_served_.clear();  // Forgetting costs one unfair round.
  last_served_[flow] = ++serves_;
}

bool JobQueue::Remove(uint64_t id) {
  auto it = entries_.find(id);
  if (it == entries_.end()) return false;
  const auto& [needs, flow] = it->second;
  Lane& lane = lanes_[needs];
  auto& jobs = lane[flow];
  --counts_[static_cast<int>(flow.first)];
  if (--tenant_counts_[flow.second] == 0) tenant_counts_.erase(flow.second);
  jobs.erase(id);
  if (jobs.empty()) lane.erase(flow);
  if (lane.empty()) lanes_.erase(needs);
  entries_.erase(it);
  return true;
}

size_t JobQueue::CountOf(const std::string& tenant) const {
  auto it = tenant_counts_.find(tenant);
  return it == tenant_counts_.end() ? 0 : it->second;
}

absl::Time JobQueue::OldestOf(JobClass job_class) const {
  absl::Time oldest = absl::InfiniteFuture();
  for (const auto& [needs, lane] : lanes_) {
    for (const auto& [flow, jobs] : lane) {
      if (flow.first == job_class) oldest = std::min(oldest, jobs.begin()->second.enqueued);
    }
  }
  return oldest;
}

std::vector<Requirement> JobQueue::Needs() const {
  std::vector<Requirement> needs;
  for (const auto& lane : lanes_) needs.push_back(lane.first);
  return needs;
}

std::vector<uint64_t> JobQueue::Oldest(size_t limit) const {
  std::vector<uint64_t> ids;
  for (auto it = entries_.begin(); it != entries_.end() && ids.size() < limit; ++it) ids.push_back(it->first);
  return ids;
}

std::vector<uint64_t> JobQueue::IdsWith(const Requirement& needs) const {
  std::vector<uint64_t> ids;
  auto it = lanes_.find(needs);
  if (it == lanes_.end()) return ids;
  for (const auto& [flow, jobs] : it->second) {
    for (const auto& [id, entry] : jobs) ids.push_back(id);
  }
  return ids;
}

}  // namespace tritond::server
