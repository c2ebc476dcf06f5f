// SPDX-License-Identifier: Apache-2.0
// One round after the other offers what waits and takes what idle workers could run, so a daemon has at most one call
// to the engine under way for this. The streams of one compiler lie in one hash slot and are read with one call.
#include "server/cluster/work_sharing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tritond::server {
namespace {

// After a take that may not have been the last.
constexpr absl::Duration kSoon = absl::Milliseconds(5);

cache::StreamName StreamOf(const Requirement& needs) {
  // Braces would change the hash slot.
  return {absl::StrReplaceAll(needs.build_id, {{"{", "("}, {"}", ")"}}),
          absl::StrCat(needs.target, needs.binary ? "+binary" : "")};
}

}  // namespace

WorkSharing::WorkSharing(Config config, Clock clock, cache::JobStream& streams, Hooks hooks)
    : config_(std::move(config)), clock_(std::move(clock)), streams_(streams), hooks_(std::move(hooks)) {}

void WorkSharing::Begin() {
  hooks_.run_after(config_.round, [this] { Round(); });
}

void WorkSharing::Round() {
  OfferWaiting();
  const bool took = TakeSome();
  hooks_.run_after(took ? kSoon : config_.round, [this] { Round(); });
}

void WorkSharing::OfferWaiting() {
  for (const Scheduler::WaitingJob& job : hooks_.list_waiting(config_.offer_after, config_.max_offers)) {
    std::optional<Offer> stale;
    {
      absl::MutexLock lock(&mu_);
      auto it = offers_.find(job.id);
      if (it != offers_.end() && !it->second.id.empty() && clock_() - it->second.since >= config_.offer_again) {
        stale = std::move(it->second);
        offers_.erase(it);
      }
    }
    if (stale.has_value()) RemoveLater(stale->stream, stale->id);
    bool offer = false;
    {
      absl::MutexLock lock(&mu_);
      offer = offers_.size() < config_.max_offers && offers_.count(job.id) == 0;
    }
    if (offer) {
      const std::optional<std::string> body = hooks_.write(job.spec);
      if (!body.has_value() || body->size() > config_.max_body_bytes) continue;
      OfferOne(job, *body);
    }
    hooks_.watch(job.id);
  }
}

void WorkSharing::OfferOne(const Scheduler::WaitingJob& job, const std::string& body) {
  cache::StreamEntry entry;
  entry.stream = StreamOf(job.spec.needs);
  entry.key = job.spec.key;
  entry.deadline = job.latest;
  entry.body = body;
  {
    absl::MutexLock lock(&mu_);
    offers_[job.id] = {entry.stream, "", clock_()};
  }
  const absl::StatusOr<std::string> id = streams_.Add(entry);
  absl::MutexLock lock(&mu_);
  auto it = offers_.find(job.id);
  if (!id.ok()) {
    if (it != offers_.end()) offers_.erase(it);
    return;
  }
  ++stats_.offered;
  if (it == offers_.end()) return RemoveLater(entry.stream, *id);  // It was settled meanwhile.
  it->second.id = *id;
}

void WorkSharing::Settled(uint64_t job) {
  absl::MutexLock lock(&mu_);
  auto it = offers_.find(job);
  if (it == offers_.end()) return;
  if (!it->second.id.empty()) RemoveLater(it->second.stream, it->second.id);
  offers_.erase(it);
}

void WorkSharing::RemoveLater(const cache::StreamName& stream, const std::string& id) {
  // An offer that stays goes with its stream; whoever takes it finds the outcome.
  hooks_.run_after(absl::ZeroDuration(), [this, stream, id] { streams_.Remove(stream, id).IgnoreError(); });
}

bool WorkSharing::TakeSome() {
  const std::map<Requirement, int> idle = hooks_.idle_slots();
  std::map<std::string, std::vector<Requirement>> by_build;
  for (const auto& [needs, slots] : idle)
    if (slots > 0) by_build[needs.build_id].push_back(needs);
  const bool take_over = clock_() >= next_take_over_;
  if (take_over) next_take_over_ = clock_() + config_.take_over_every;
  bool took = false;
  for (const auto& [build, needs] : by_build) {
    std::vector<cache::StreamName> names;
    for (const Requirement& one : needs) names.push_back(StreamOf(one));
    absl::StatusOr<std::vector<cache::StreamEntry>> entries = streams_.Take(names, config_.taker, /*count=*/1);
    if (!entries.ok()) return false;
    for (size_t i = 0; take_over && entries->empty() && i < names.size(); ++i) {
      auto left = streams_.TakeOver(names[i], config_.taker, config_.take_over_after, /*count=*/1);
      if (!left.ok()) return false;
      entries->insert(entries->end(), left->begin(), left->end());
    }
    for (const cache::StreamEntry& entry : *entries) {
      const auto name = std::find_if(names.begin(), names.end(),
                                     [&](const cache::StreamName& one) { return one.name == entry.stream.name; });
      if (name == names.end()) continue;
      took = true;
      Start(entry, needs[name - names.begin()]);
    }
  }
  return took;
}

void WorkSharing::Start(const cache::StreamEntry& entry, const Requirement& needs) {
  {
    absl::MutexLock lock(&mu_);
    ++stats_.taken;
  }
  if (entry.deadline <= clock_()) return RemoveLater(entry.stream, entry.id);
  hooks_.run(entry, needs, [this, stream = entry.stream, id = entry.id](bool settled) {
    if (settled) RemoveLater(stream, id);
  });
}

WorkSharing::Stats WorkSharing::GetStats() const {
  absl::MutexLock lock(&mu_);
  Stats stats = stats_;
  stats.open_offers = offers_.size();
  return stats;
}

}  // namespace tritond::server
