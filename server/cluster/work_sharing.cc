// SPDX-License-Identifier: Apache-2.0
// One round after the other offers what waits and takes what idle workers could run. So a daemon has at most one call
// to the engine under way for this. The streams of one compiler lie in one hash slot and are read with one call.
#include "server/cluster/work_sharing.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/cluster/single_flight.h"

namespace tritond::server {
namespace {

// After a take that may not have been the last.
constexpr absl::Duration kSoon = absl::Milliseconds(5);

cache::StreamName StreamOf(const Requirement& needs, JobClass job_class) {
  static constexpr const char* kClasses[] = {"interactive", "autotune", "prebuild"};
  // Braces would change the hash slot.
  return {absl::StrReplaceAll(needs.build_id, {{"{", "("}, {"}", ")"}}),
          absl::StrCat(kClasses[static_cast<int>(job_class)], ":", needs.target, needs.binary ? "+binary" : "")};
}

}  // namespace

WorkSharing::WorkSharing(Config config, Clock clock, cache::JobStream& streams, TaskTimer& timer, Host& host)
    : config_(std::move(config)), clock_(std::move(clock)), streams_(streams), timer_(timer), host_(host) {}

void WorkSharing::Begin() {
  last_work_ = clock_();
  timer_.RunAfter(config_.round, [this] { Round(); });
}

void WorkSharing::Round() {
  const bool offers = OfferNext();
  const bool took = TakeSome();
  const absl::Time now = clock_();
  if (offers || took) last_work_ = now;
  const absl::Duration pause = now - last_work_ > config_.idle_after ? config_.idle_round : config_.round;
  timer_.RunAfter(took ? kSoon : pause, [this] { Round(); });
}

OfferFilter WorkSharing::Filter() {
  using Choice = OfferFilter::Choice;
  OfferFilter filter;
  filter.most = [this](const Requirement& needs) {
    absl::MutexLock lock(&mu_);
    return windows_.try_emplace(needs, config_.window, clock_()).first->second.Update(clock_());
  };
  filter.choose = [this](uint64_t job, const JobSpec& spec) {
    absl::MutexLock lock(&mu_);
    if (spec.bytes > config_.max_body_bytes || unwritable_.contains(job)) return Choice::kNever;
    return job == refused_ ? Choice::kNotNow : Choice::kOffer;
  };
  return filter;
}

std::vector<Scheduler::WaitingJob> WorkSharing::Reconcile(std::vector<Scheduler::WaitingJob> next) {
  absl::MutexLock lock(&mu_);
  absl::flat_hash_set<uint64_t> kept;
  std::set<Requirement> needs;
  const auto is_open = [&](const Scheduler::WaitingJob& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    needs.insert(job.spec.needs);
    auto it = offers_.find(job.id);
    // One that nobody has taken for long may have been lost.
    const bool open = it != offers_.end() && it->second.job_class == job.spec.job_class &&
                      clock_() - it->second.since < config_.offer_again;
    if (open) kept.insert(job.id);
    return open;
  };
  next.erase(std::remove_if(next.begin(), next.end(), is_open), next.end());
  std::vector<uint64_t> withdrawn;
  for (const auto& [job, offer] : offers_) {
    if (!kept.contains(job)) withdrawn.push_back(job);
  }
  for (const uint64_t job : withdrawn) WithdrawLocked(job);
  for (auto it = windows_.begin(); it != windows_.end();) {
    it = needs.count(it->first) > 0 ? std::next(it) : windows_.erase(it);
  }
  std::stable_sort(next.begin(), next.end(), [](const Scheduler::WaitingJob& a, const Scheduler::WaitingJob& b) {
    return a.spec.job_class < b.spec.job_class;
  });
  if (next.size() > config_.max_round_offers) next.resize(config_.max_round_offers);
  return next;
}

bool WorkSharing::OfferNext() {
  {
    absl::MutexLock lock(&mu_);
    settled_.clear();
  }
  const std::vector<Scheduler::WaitingJob> jobs = Reconcile(host_.NextWaiting(config_.offer_after, Filter()));
  refused_ = 0;
  for (const Scheduler::WaitingJob& job : jobs) {
    if (OfferOne(job)) continue;
    // The engine is away, or does not like this one: then the others come first the next time.
    refused_ = job.id;
    break;
  }
  std::vector<uint64_t> open;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [job, offer] : offers_) open.push_back(job);
  }
  for (const uint64_t job : open) host_.WatchJob(job);
  return !open.empty();
}

bool WorkSharing::OfferOne(const Scheduler::WaitingJob& job) {
  const std::string asker = SingleFlight::OwnerOf(config_.taker, job.id);
  std::optional<std::string> body = host_.WriteOffer(job.spec, asker);
  if (!body.has_value() || body->size() > config_.max_body_bytes) {
    absl::MutexLock lock(&mu_);
    if (!settled_.contains(job.id)) unwritable_.insert(job.id);
    return true;
  }
  cache::StreamEntry entry;
  entry.stream = StreamOf(job.spec.needs, job.spec.job_class);
  entry.key = job.spec.key;
  entry.asker = asker;
  entry.remaining = job.latest - clock_();
  entry.body = *std::move(body);
  {
    absl::MutexLock lock(&mu_);
    if (settled_.contains(job.id)) return true;  // It waits no longer, and nobody would withdraw the offer.
    offers_[job.id] = {job.spec.needs, job.spec.job_class, "", clock_()};
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

void WorkSharing::WithdrawLocked(uint64_t job) {
  auto it = offers_.find(job);
  if (it == offers_.end()) return;
  if (!it->second.id.empty()) RemoveLater(StreamOf(it->second.needs, it->second.job_class), it->second.id);
  offers_.erase(it);
}

void WorkSharing::Settled(uint64_t job, bool taken) {
  absl::MutexLock lock(&mu_);
  settled_.insert(job);
  unwritable_.erase(job);
  auto it = offers_.find(job);
  if (it == offers_.end()) return;
  auto window = windows_.find(it->second.needs);
  if (taken && window != windows_.end()) window->second.CountTaken(clock_() - it->second.since);
  WithdrawLocked(job);
}

void WorkSharing::RemoveLater(const cache::StreamName& stream, const std::string& id) {
  // An offer that stays goes with its stream; its taker finds the outcome.
  timer_.RunAfter(absl::ZeroDuration(), [this, stream, id] { streams_.Remove(stream, id).IgnoreError(); });
}

std::map<std::string, WorkSharing::Choice> WorkSharing::Choices() {
  const std::map<Requirement, int> idle = host_.IdleSlots();
  const bool yields = ++takes_ % config_.yield_every == 0;
  std::map<std::string, Choice> choices;
  for (int i = 0; i < kJobClasses; ++i) {
    const JobClass job_class = static_cast<JobClass>(yields ? kJobClasses - 1 - i : i);
    for (const auto& [needs, slots] : idle) {
      if (slots <= 0) continue;
      Choice& choice = choices[needs.build_id];
      choice.slots = choice.streams.empty() ? slots : std::min(choice.slots, slots);
      choice.streams.push_back(StreamOf(needs, job_class));
      choice.needs.push_back(needs);
    }
  }
  return choices;
}

bool WorkSharing::TakeSome() {
  const bool take_over = clock_() >= next_take_over_;
  if (take_over) next_take_over_ = clock_() + config_.take_over_every;
  bool took = false;
  for (const auto& [build, choice] : Choices()) {
    // Not all at once, so that others who are idle have some.
    const int count = (choice.slots + 3) / 4;
    absl::StatusOr<std::vector<cache::StreamEntry>> entries = streams_.Take(choice.streams, config_.taker, count);
    if (!entries.ok()) return false;
    for (size_t i = 0; take_over && entries->empty() && i < choice.streams.size(); ++i) {
      auto left = streams_.TakeOver(choice.streams[i], config_.taker, config_.take_over_after, /*count=*/1);
      if (!left.ok()) return false;
      entries->insert(entries->end(), left->begin(), left->end());
    }
    for (const cache::StreamEntry& entry : *entries) {
      const auto name = std::find_if(choice.streams.begin(), choice.streams.end(),
                                     [&](const cache::StreamName& one) { return one.name == entry.stream.name; });
      if (name == choice.streams.end()) continue;
      took = true;
      Start(entry, choice.needs[name - choice.streams.begin()]);
    }
  }
  return took;
}

void WorkSharing::Start(const cache::StreamEntry& entry, const Requirement& needs) {
  // One's own: this daemon would become a caller of its own job, and one that stays.
  if (absl::StartsWith(entry.asker, absl::StrCat(config_.taker, "/"))) {
    absl::MutexLock lock(&mu_);
    for (const auto& [job, offer] : offers_) {
      if (offer.id == entry.id && SingleFlight::OwnerOf(config_.taker, job) == entry.asker)
        return WithdrawLocked(job);  // It is offered again, to the others.
    }
    return RemoveLater(entry.stream, entry.id);
  }
  {
    absl::MutexLock lock(&mu_);
    ++stats_.taken;
  }
  if (entry.remaining <= absl::ZeroDuration()) return RemoveLater(entry.stream, entry.id);
  host_.RunOffer(entry, needs, [this, stream = entry.stream, id = entry.id](bool settled) {
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
