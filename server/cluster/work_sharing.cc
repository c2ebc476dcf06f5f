// SPDX-License-Identifier: Apache-2.0
// One round after the other offers what waits and takes what idle workers could run, so a daemon has at most one call
// to the engine under way for this. The streams of one compiler lie in one hash slot and are read with one call.
#include "server/cluster/work_sharing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/cluster/single_flight.h"

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

bool WorkSharing::IsStaleLocked(const Offer& offer) const {
  return !offer.id.empty() && clock_() - offer.since >= config_.offer_again;
}

OfferFilter WorkSharing::Filter() const {
  using Choice = OfferFilter::Choice;
  OfferFilter filter;
  filter.limit = config_.max_round_offers;
  filter.room = [this](const Requirement& needs, JobClass job_class) {
    absl::MutexLock lock(&mu_);
    const size_t open =
        std::count_if(offers_.begin(), offers_.end(), [&](const auto& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
          const Offer& offer = entry.second;
          return offer.job_class == job_class && !(offer.needs < needs) && !(needs < offer.needs) &&
                 !IsStaleLocked(offer);
        });
    return config_.max_offers - std::min(open, config_.max_offers);
  };
  filter.choose = [this](uint64_t job, const JobSpec& spec) {
    absl::MutexLock lock(&mu_);
    if (spec.bytes > config_.max_body_bytes || unwritable_.contains(job)) return Choice::kNever;
    auto it = offers_.find(job);
    const bool open = it != offers_.end() && !IsStaleLocked(it->second);
    return open || job == refused_ ? Choice::kNotNow : Choice::kOffer;
  };
  return filter;
}

void WorkSharing::OfferWaiting() {
  {
    absl::MutexLock lock(&mu_);
    settled_.clear();
  }
  const std::vector<Scheduler::WaitingJob> jobs = hooks_.list_waiting(config_.offer_after, Filter());
  refused_ = 0;
  for (const Scheduler::WaitingJob& job : jobs) {
    const std::optional<std::string> body = hooks_.write(job.spec);
    if (!body.has_value() || body->size() > config_.max_body_bytes) {
      absl::MutexLock lock(&mu_);
      if (!settled_.contains(job.id)) unwritable_.insert(job.id);
      continue;
    }
    if (OfferOne(job, *body)) continue;
    // The engine is away, or does not like this one: then the others come first the next time.
    refused_ = job.id;
    break;
  }
  std::vector<uint64_t> open;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [job, offer] : offers_) open.push_back(job);
  }
  for (const uint64_t job : open) hooks_.watch(job);
}

bool WorkSharing::OfferOne(const Scheduler::WaitingJob& job, const std::string& body) {
  cache::StreamEntry entry;
  entry.stream = StreamOf(job.spec.needs);
  entry.key = job.spec.key;
  entry.asker = SingleFlight::OwnerOf(config_.taker, job.id);
  entry.remaining = job.latest - clock_();
  entry.body = body;
  {
    absl::MutexLock lock(&mu_);
    if (settled_.contains(job.id)) return true;  // It waits no longer, and nobody would withdraw the offer.
    Offer& offer = offers_[job.id];
    if (!offer.id.empty()) RemoveLater(entry.stream, offer.id);  // A stale one.
    offer = {job.spec.needs, job.spec.job_class, "", clock_()};
  }
  const absl::StatusOr<std::string> id = streams_.Add(entry);
  absl::MutexLock lock(&mu_);
  auto it = offers_.find(job.id);
  if (!id.ok()) {
    if (it != offers_.end()) offers_.erase(it);
    return false;
  }
  ++stats_.offered;
  if (it == offers_.end()) {  // It was settled meanwhile.
    RemoveLater(entry.stream, *id);
  } else {
    it->second.id = *id;
  }
  return true;
}

void WorkSharing::Settled(uint64_t job) {
  absl::MutexLock lock(&mu_);
  settled_.insert(job);
  unwritable_.erase(job);
  auto it = offers_.find(job);
  if (it == offers_.end()) return;
  if (!it->second.id.empty()) RemoveLater(StreamOf(it->second.needs), it->second.id);
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
  // One's own, as its taker seems to be lost: this daemon would become a caller of its own job, and one that stays.
  if (absl::StartsWith(entry.asker, absl::StrCat(config_.taker, "/"))) return RemoveLater(entry.stream, entry.id);
  {
    absl::MutexLock lock(&mu_);
    ++stats_.taken;
  }
  if (entry.remaining <= absl::ZeroDuration()) return RemoveLater(entry.stream, entry.id);
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
