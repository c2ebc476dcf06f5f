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
  if (entries_.at(id).offerable) line.offerable[flow.second].insert(id);
}

void JobQueue::TakeOffer(Line& line, const std::string& tenant, uint64_t id) {
  auto jobs = line.offerable.find(tenant);
  if (jobs == line.offerable.end()) return;
  jobs->second.erase(id);
  if (jobs->second.empty()) line.offerable.erase(jobs);
}

void JobQueue::TakeFrom(Line& line, const Flow& flow, uint64_t id) {
  TakeOffer(line, flow.second, id);
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
  ++counts_[static_cast<int>(entry.job_class)];
  ++tenant_counts_[entry.tenant];
}

std::optional<uint64_t> JobQueue::Pop(const std::function<bool(const Requirement&)>& can_run, absl::Time now) {
  std::vector<Lane*> fit;
  Choices choices;
  for (auto& [needs, lane] : lanes_) {
    if (!can_run(needs)) continue;
    fit.push_back(&lane);
    for (int i = 0; i < kJobClasses; ++i) {
      const Line& line = lane[i];
      if (line.ids.empty()) continue;
      Choice& choice = choices[i];
      choice.passed_over = std::max(choice.passed_over, line.passed_over);
      if (!choice.best.has_value() || *line.ranks.begin() < *choice.best) choice.best = *line.ranks.begin();
      choice.oldest = std::min(choice.oldest.value_or(*line.ids.begin()), *line.ids.begin());
    }
  }
  const int chosen = ChooseClass(choices, now);
  if (chosen == kJobClasses) return std::nullopt;
  MarkClassServed(fit, chosen);
  const auto [turn, id, tenant] = *choices[chosen].best;
  Remove(id);
  MarkServed({static_cast<JobClass>(chosen), tenant});
  return id;
}

bool JobQueue::Serve(uint64_t id) {
  auto it = entries_.find(id);
  if (it == entries_.end()) return false;
  const Flow flow = {it->second.job_class, it->second.tenant};
  MarkClassServed({&lanes_.at(it->second.needs)}, static_cast<int>(flow.first));
  Remove(id);
  MarkServed(flow);
  return true;
}

void JobQueue::MarkClassServed(const std::vector<Lane*>& lanes, int served) {
  for (Lane* lane : lanes) {
    for (int i = served; i < kJobClasses; ++i) {
      Line& line = (*lane)[i];
      if (!line.ids.empty()) line.passed_over = i == served ? 0 : line.passed_over + 1;
    }
  }
}

int JobQueue::ChooseClass(const Choices& choices, absl::Time now) const {
  int first = 0;
  while (first < kJobClasses && !choices[first].best.has_value()) ++first;
  const auto starves = [&](const Choice& choice) {
    return choice.best.has_value() && now - entries_.at(*choice.oldest).enqueued >= patience_;
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

std::vector<Requirement> JobQueue::OfferableNeeds() const {
  std::vector<Requirement> needs;
  for (const auto& [one, lane] : lanes_) {
    if (std::any_of(lane.begin(), lane.end(), [](const Line& line) { return !line.offerable.empty(); }))
      needs.push_back(one);
  }
  return needs;
}

std::vector<uint64_t> JobQueue::Next(const Requirement& needs, size_t count, absl::Time before, absl::Time now,
                                     const std::function<bool(uint64_t id)>& pick) const {
  std::vector<uint64_t> next;
  const auto lane = lanes_.find(needs);
  if (lane == lanes_.end()) return next;
  // Plays what Pop would do, on turns of its own.
  Choices choices;
  std::array<std::set<Rank>, kJobClasses> ranks;
  for (int i = 0; i < kJobClasses; ++i) {
    const Line& line = lane->second[i];
    for (const auto& [tenant, jobs] : line.offerable)
      ranks[i].emplace(turns_.at({static_cast<JobClass>(i), tenant}), *jobs.begin(), tenant);
    choices[i].passed_over = line.passed_over;
    if (!line.ids.empty()) choices[i].oldest = *line.ids.begin();
  }
  std::map<uint64_t, bool> eligible;  // A job stands in the line of every tenant that waits for it.
  const auto is_eligible = [&](uint64_t id) {
    const auto [known, is_new] = eligible.try_emplace(id, false);
    if (is_new) known->second = pick(id);
    return known->second;
  };
  // The first rank of a class gives way to its tenant's next job.
  const auto advance = [&](int i, uint64_t turn) {
    const auto [old_turn, id, tenant] = *ranks[i].begin();
    ranks[i].erase(ranks[i].begin());
    const std::set<uint64_t>& jobs = lane->second[i].offerable.at(tenant);
    const auto following = jobs.upper_bound(id);
    // Those after one that is too young are younger.
    if (following != jobs.end() && entries_.at(id).enqueued <= before) ranks[i].emplace(turn, *following, tenant);
  };
  for (uint64_t starts = starts_ + 1; next.size() < count; ++starts) {
    for (int i = 0; i < kJobClasses; ++i) {
      choices[i].best.reset();
      while (!ranks[i].empty() && !choices[i].best.has_value()) {
        const auto& [turn, id, tenant] = *ranks[i].begin();
        if (entries_.at(id).enqueued <= before && is_eligible(id)) {
          choices[i].best = *ranks[i].begin();
        } else {
          advance(i, turn);
        }
      }
    }
    const int chosen = ChooseClass(choices, now);
    if (chosen == kJobClasses) break;
    const uint64_t id = std::get<1>(*choices[chosen].best);
    next.push_back(id);
    eligible[id] = false;
    for (int i = chosen; i < kJobClasses; ++i) choices[i].passed_over = i == chosen ? 0 : choices[i].passed_over + 1;
    advance(chosen, starts);
  }
  return next;
}

void JobQueue::Withhold(uint64_t id) {
  auto it = entries_.find(id);
  if (it == entries_.end()) return;
  Entry& entry = it->second;
  entry.offerable = false;
  Line& line = LineOf(entry);
  TakeOffer(line, entry.tenant, id);
  for (const std::string& tenant : entry.joined) TakeOffer(line, tenant, id);
}

std::vector<uint64_t> JobQueue::IdsWith(const Requirement& needs) const {
  std::vector<uint64_t> ids;
  auto it = lanes_.find(needs);
  if (it == lanes_.end()) return ids;
  for (const Line& line : it->second) ids.insert(ids.end(), line.ids.begin(), line.ids.end());
  return ids;
}

}  // namespace tritond::server
