// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/job_queue.h"

#include <algorithm>

namespace tritond::server {
namespace {

// A newcomer's turn is as if it had been served this many starts ago.
constexpr uint64_t kHeadStart = 64;
// Of so many starts one is for a class that starves.
constexpr uint64_t kYieldEvery = 8;

}  // namespace

JobQueue::JobQueue(absl::Duration patience) : patience_(patience), starts_(kHeadStart) {}

uint64_t JobQueue::TurnOf(const Flow& flow) {
  uint64_t& turn = turns_[flow];
  turn = std::max(turn, starts_ - kHeadStart);
  return turn;
}

JobQueue::Line& JobQueue::LineOf(const Entry& entry) { return lanes_[entry.needs][static_cast<int>(entry.job_class)]; }

void JobQueue::AddTo(Line& line, const Flow& flow, uint64_t id) {
  // A flow that waits keeps its turn, which grows old.
  const uint64_t turn = IsWaiting(flow) ? turns_[flow] : TurnOf(flow);
  std::set<uint64_t>& jobs = line.tenants[flow.second];
  if (!jobs.empty()) line.ranks.erase({turn, *jobs.begin(), flow.second});
  jobs.insert(id);
  line.ranks.emplace(turn, *jobs.begin(), flow.second);
}

void JobQueue::TakeFrom(Line& line, const Flow& flow, uint64_t id) {
  auto jobs = line.tenants.find(flow.second);
  const uint64_t turn = turns_[flow];
  line.ranks.erase({turn, *jobs->second.begin(), flow.second});
  jobs->second.erase(id);
  if (jobs->second.empty()) {
    line.tenants.erase(jobs);
  } else {
    line.ranks.emplace(turn, *jobs->second.begin(), flow.second);
  }
  ForgetTurn(flow);
}

void JobQueue::Push(const Entry& entry) {
  if (!entries_.emplace(entry.id, entry).second) return;
  Line& line = LineOf(entry);
  AddTo(line, {entry.job_class, entry.tenant}, entry.id);
  for (const std::string& tenant : entry.joined) AddTo(line, {entry.job_class, tenant}, entry.id);
  line.ids.insert(entry.id);
  if (entry.offerable) line.offerable.insert(entry.id);
  ++counts_[static_cast<int>(entry.job_class)];
  ++tenant_counts_[entry.tenant];
}

std::optional<uint64_t> JobQueue::Pop(const std::function<bool(const Requirement&)>& can_run, absl::Time now) {
  std::array<Choice, kJobClasses> choices;
  for (auto& [needs, lane] : lanes_) {
    if (!can_run(needs)) continue;
    for (int i = 0; i < kJobClasses; ++i) {
      Line& line = lane[i];
      if (line.ids.empty()) continue;
      Choice& choice = choices[i];
      choice.lines.push_back(&line);
      choice.passed_over = std::max(choice.passed_over, line.passed_over);
      if (!choice.best.has_value() || *line.ranks.begin() < *choice.best) choice.best = *line.ranks.begin();
      choice.oldest = std::min(choice.oldest.value_or(*line.ids.begin()), *line.ids.begin());
    }
  }
  const int chosen = ChooseClass(choices, now);
  if (chosen == kJobClasses) return std::nullopt;
  for (int i = chosen; i < kJobClasses; ++i) {
    for (Line* line : choices[i].lines) line->passed_over = i == chosen ? 0 : line->passed_over + 1;
  }
  const auto [turn, id, tenant] = *choices[chosen].best;
  Remove(id);
  MarkServed({static_cast<JobClass>(chosen), tenant});
  return id;
}

int JobQueue::ChooseClass(const std::array<Choice, kJobClasses>& choices, absl::Time now) const {
  int first = 0;
  while (first < kJobClasses && choices[first].lines.empty()) ++first;
  const auto starves = [&](const Choice& choice) {
    return choice.oldest.has_value() && now - entries_.at(*choice.oldest).enqueued >= patience_;
  };
  uint64_t starving = 0;
  for (int i = first + 1; i < kJobClasses; ++i) starving += starves(choices[i]);
  int chosen = first;
  uint64_t most = 0;
  for (int i = first + 1; i < kJobClasses; ++i) {
    const uint64_t passed_over = choices[i].passed_over;
    if (!starves(choices[i]) || passed_over + 1 < kYieldEvery * starving || passed_over <= most) continue;
    most = passed_over;
    chosen = i;
  }
  return chosen;
}

bool JobQueue::IsWaiting(const Flow& flow) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& lane) {
    return lane.second[static_cast<int>(flow.first)].tenants.count(flow.second) > 0;
  });
}

void JobQueue::MarkServed(const Flow& flow) {
  ++starts_;
  uint64_t& turn = turns_[flow];
  for (auto& [needs, lane] : lanes_) {
    Line& line = lane[static_cast<int>(flow.first)];
    auto jobs = line.tenants.find(flow.second);
    if (jobs == line.tenants.end()) continue;
    line.ranks.erase({turn, *jobs->second.begin(), flow.second});
    line.ranks.emplace(starts_, *jobs->second.begin(), flow.second);
  }
  turn = starts_;
  served_.push_back(flow);
  if (served_.size() <= kHeadStart) return;
  const Flow oldest = std::move(served_.front());
  served_.pop_front();
  ForgetTurn(oldest);
}

void JobQueue::ForgetTurn(const Flow& flow) {
  auto turn = turns_.find(flow);
  if (turn != turns_.end() && turn->second + kHeadStart <= starts_ && !IsWaiting(flow)) turns_.erase(turn);
}

bool JobQueue::Remove(uint64_t id) {
  auto it = entries_.find(id);
  if (it == entries_.end()) return false;
  const Entry entry = std::move(it->second);
  entries_.erase(it);
  auto lane = lanes_.find(entry.needs);
  Line& line = lane->second[static_cast<int>(entry.job_class)];
  TakeFrom(line, {entry.job_class, entry.tenant}, id);
  for (const std::string& tenant : entry.joined) TakeFrom(line, {entry.job_class, tenant}, id);
  line.ids.erase(id);
  line.offerable.erase(id);
  if (line.ids.empty()) line.passed_over = 0;
  const bool empty = std::all_of(lane->second.begin(), lane->second.end(), [](const Line& l) { return l.ids.empty(); });
  if (empty) lanes_.erase(lane);
  --counts_[static_cast<int>(entry.job_class)];
  if (--tenant_counts_[entry.tenant] == 0) tenant_counts_.erase(entry.tenant);
  return true;
}

void JobQueue::Join(uint64_t id, const std::string& tenant) {
  auto it = entries_.find(id);
  if (it == entries_.end() || it->second.tenant == tenant || !it->second.joined.insert(tenant).second) return;
  AddTo(LineOf(it->second), {it->second.job_class, tenant}, id);
}

void JobQueue::Quit(uint64_t id, const std::string& tenant) {
  auto it = entries_.find(id);
  if (it != entries_.end() && it->second.joined.erase(tenant) > 0)
    TakeFrom(LineOf(it->second), {it->second.job_class, tenant}, id);
}

size_t JobQueue::CountOf(const std::string& tenant) const {
  auto it = tenant_counts_.find(tenant);
  return it == tenant_counts_.end() ? 0 : it->second;
}

absl::Time JobQueue::OldestOf(JobClass job_class) const {
  absl::Time oldest = absl::InfiniteFuture();
  for (const auto& [needs, lane] : lanes_) {
    const Line& line = lane[static_cast<int>(job_class)];
    if (!line.ids.empty()) oldest = std::min(oldest, entries_.at(*line.ids.begin()).enqueued);
  }
  return oldest;
}

std::vector<Requirement> JobQueue::Needs() const {
  std::vector<Requirement> needs;
  for (const auto& lane : lanes_) needs.push_back(lane.first);
  return needs;
}

std::vector<JobQueue::Kind> JobQueue::OfferableKinds() const {
  std::vector<Kind> kinds;
  for (const auto& [needs, lane] : lanes_) {
    for (int i = 0; i < kJobClasses; ++i) {
      if (!lane[i].offerable.empty()) kinds.push_back({needs, static_cast<JobClass>(i), lane[i].offerable});
    }
  }
  return kinds;
}

void JobQueue::Withhold(uint64_t id) {
  auto it = entries_.find(id);
  if (it == entries_.end()) return;
  it->second.offerable = false;
  lanes_.at(it->second.needs)[static_cast<int>(it->second.job_class)].offerable.erase(id);
}

std::vector<uint64_t> JobQueue::IdsWith(const Requirement& needs) const {
  std::vector<uint64_t> ids;
  auto it = lanes_.find(needs);
  if (it == lanes_.end()) return ids;
  for (const Line& line : it->second) ids.insert(ids.end(), line.ids.begin(), line.ids.end());
  return ids;
}

}  // namespace tritond::server
