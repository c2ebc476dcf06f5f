// SPDX-License-Identifier: Apache-2.0
#include "server/admission/target_catalog.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace tritond::server {

using nlohmann::json;

TargetCatalog::TargetCatalog(Config config, std::function<absl::Time()> clock)
    : config_(config), clock_(std::move(clock)), started_(clock_()) {}

const KnownTarget* TargetCatalog::BestLocked(const std::string& target) const {
  auto it = offers_.find(target);
  if (it == offers_.end() || it->second.empty()) return nullptr;
  auto better = [](const Offer& a, const Offer& b) {
    return std::make_tuple(a.target.binary_available, a.order) < std::make_tuple(b.target.binary_available, b.order);
  };
  return &std::max_element(it->second.begin(), it->second.end(), better)->target;
}

void TargetCatalog::WorkerAttached(const std::string& worker, const std::string& build_id,
                                   const std::vector<KnownTarget>& targets) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    ++workers_seen_;
    for (const KnownTarget& offered : targets) {
      KnownTarget target = offered;
      target.build_id = build_id;
      target.attached = true;
      offers_[target.name].push_back({worker, next_id_++, target});
      known_[target.name] = *BestLocked(target.name);
    }
    AnswerLocked(&calls);
  }
  for (const auto& call : calls) call();
}

void TargetCatalog::WorkerGone(const std::string& worker) {
  absl::MutexLock lock(&mu_);
  for (auto& [name, offers] : offers_) {
    offers.erase(
        std::remove_if(offers.begin(), offers.end(), [&](const Offer& offer) { return offer.worker == worker; }),
        offers.end());
    const KnownTarget* best = BestLocked(name);
    if (best != nullptr) {
      known_[name] = *best;
    } else {
      known_[name].attached = false;
    }
  }
}

std::optional<KnownTarget> TargetCatalog::Find(absl::string_view target) const {
  absl::MutexLock lock(&mu_);
  auto it = known_.find(target);
  if (it == known_.end()) return std::nullopt;
  return it->second;
}

std::vector<KnownTarget> TargetCatalog::List() const {
  absl::MutexLock lock(&mu_);
  std::vector<KnownTarget> targets;
  for (const auto& [name, target] : known_) targets.push_back(target);
  return targets;
}

std::optional<TargetCatalog::Arrival> TargetCatalog::ArrivalLocked(const Waiter& waiter) const {
  auto it = known_.find(waiter.target);
  if (it != known_.end() && it->second.attached) return Arrival::kAttached;
  if (stopped_) return Arrival::kNoWorker;
  const absl::Time now = clock_();
  if (now >= waiter.deadline) return Arrival::kDeadline;
  const bool settled = now - started_ >= config_.start_grace ||
                       (config_.expected_workers > 0 && workers_seen_ >= config_.expected_workers);
  if (it == known_.end()) {
    // Where no worker has ever been nobody can say that a target is none.
    if (settled) return known_.empty() ? Arrival::kNoWorker : Arrival::kUnknown;
    return std::nullopt;
  }
  if (now - waiter.since >= config_.return_grace) return Arrival::kNoWorker;
  return std::nullopt;
}

void TargetCatalog::AnswerLocked(Calls* calls) {
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    const std::optional<Arrival> arrival = ArrivalLocked(it->second);
    if (!arrival.has_value()) {
      ++it;
      continue;
    }
    calls->push_back([callback = std::move(it->second.callback), arrival = *arrival] { callback(arrival); });
    it = waiters_.erase(it);
  }
}

TargetCatalog::WaiterId TargetCatalog::WhenAttached(const std::string& target, absl::Time deadline,
                                                    std::function<void(Arrival)> callback) {
  Calls calls;
  WaiterId id;
  {
    absl::MutexLock lock(&mu_);
    id = next_id_++;
    waiters_[id] = Waiter{target, clock_(), deadline, std::move(callback)};
    AnswerLocked(&calls);
  }
  for (const auto& call : calls) call();
  return id;
}

bool TargetCatalog::Leave(WaiterId waiter) {
  absl::MutexLock lock(&mu_);
  return waiters_.erase(waiter) != 0;
}

void TargetCatalog::Tick() {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    AnswerLocked(&calls);
  }
  for (const auto& call : calls) call();
}

void TargetCatalog::StopWaiting() {
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
  }
  Tick();
}

std::string TargetCatalog::Remembered() const {
  absl::MutexLock lock(&mu_);
  json text = json::array();
  for (const auto& [name, target] : known_) {
    text.push_back({{"name", name},
                    {"build_id", target.build_id},
                    {"binary_format", target.binary_format},
                    {"binary_available", target.binary_available},
                    {"why_not", target.why_not}});
  }
  return text.dump(1) + "\n";
}

absl::Status TargetCatalog::Restore(const std::string& text) {
  const json list = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return absl::InvalidArgumentError("remembered targets: not a JSON array");
  std::map<std::string, KnownTarget, std::less<>> known;
  for (const json& entry : list) {
    KnownTarget target;
    for (auto [name, field] :
         {std::make_pair("name", &target.name), std::make_pair("build_id", &target.build_id),
          std::make_pair("binary_format", &target.binary_format), std::make_pair("why_not", &target.why_not)}) {
      if (!entry.is_object() || !entry.contains(name) || !entry[name].is_string()) {
        return absl::InvalidArgumentError(std::string("remembered targets: an entry lacks the string ") + name);
      }
      *field = entry[name].get<std::string>();
    }
    target.binary_available = entry.contains("binary_available") && entry["binary_available"] == true;
    known[target.name] = target;
  }
  absl::MutexLock lock(&mu_);
  for (auto& [name, target] : known) known_.try_emplace(name, std::move(target));
  return absl::OkStatus();
}

}  // namespace tritond::server
