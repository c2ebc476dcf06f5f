// SPDX-License-Identifier: Apache-2.0
#include "server/admission/target_catalog.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {

using nlohmann::json;

TargetCatalog::TargetCatalog(Config config, std::function<absl::Time()> clock,
                             std::function<void(const std::string&)> switched)
    : config_(config), clock_(std::move(clock)), switched_(std::move(switched)), started_(clock_()) {}

const TargetCatalog::Offer* TargetCatalog::BestLocked(const std::string& target, const std::string& build_id,
                                                      bool others) const {
  auto it = offers_.find(target);
  if (it == offers_.end()) return nullptr;
  std::map<std::string, size_t> workers;  // by build
  for (const Offer& offer : it->second) ++workers[offer.target.build_id];
  const Offer* best = nullptr;
  const auto rank = [&workers](const Offer& offer) {
    return std::make_tuple(offer.target.binary_available, offer.local, workers[offer.target.build_id], offer.order);
  };
  for (const Offer& offer : it->second) {
    if ((offer.target.build_id == build_id) == others) continue;
    if (best == nullptr || rank(*best) < rank(offer)) best = &offer;
  }
  return best;
}

bool TargetCatalog::SettledLocked(absl::Time now) const {
  return now - started_ >= config_.start_grace ||
         (config_.expected_workers > 0 && workers_seen_ >= config_.expected_workers);
}

bool TargetCatalog::GivesWayLocked(const Force& force, const Offer& rival, absl::Time now) const {
  if (force.fit != absl::InfinitePast()) return now - force.fit >= config_.build_grace;
  return now - started_ >= config_.build_grace || rival.local;
}

void TargetCatalog::DecideLocked(const std::string& target, Calls* calls) {
  auto known = known_.find(target);
  if (known == known_.end()) {
    const Offer* first = BestLocked(target, "", /*others=*/true);
    if (first == nullptr) first = BestLocked(target, "", /*others=*/false);
    if (first != nullptr) known_[target] = {first->target, absl::InfiniteFuture()};
    return;
  }
  Force& force = known->second;
  const Offer* own = BestLocked(target, force.target.build_id, /*others=*/false);
  const Offer* rival = BestLocked(target, force.target.build_id, /*others=*/true);
  const bool beaten = rival != nullptr && rival->target.binary_available;
  if (own != nullptr && (own->target.binary_available || !beaten)) {
    force = {own->target, absl::InfiniteFuture()};
    return;
  }
  const bool had_binary = force.target.binary_available;
  if (beaten && !had_binary) return SwitchLocked(force, rival->target, calls);
  const absl::Time now = clock_();
  if (force.fit == absl::InfiniteFuture()) force.fit = now;
  force.target.attached = false;
  if (rival != nullptr && GivesWayLocked(force, *rival, now)) SwitchLocked(force, rival->target, calls);
}

void TargetCatalog::SwitchLocked(Force& force, const KnownTarget& to, Calls* calls) {
  if (switched_) {
    calls->push_back([this, line = absl::StrCat("target ", to.name, ": the compiler build ", to.build_id,
                                                " is the active one from now on, instead of ", force.target.build_id,
                                                ": keys change, and stored results of that build are not hit")] {
      switched_(line);
    });
  }
  force = {to, absl::InfiniteFuture()};
}

void TargetCatalog::WorkerAttached(const std::string& worker, const std::string& build_id,
                                   const std::vector<KnownTarget>& targets, bool local) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    ++workers_seen_;
    for (const KnownTarget& offered : targets) {
      KnownTarget target = offered;
      target.build_id = build_id;
      target.attached = true;
      offers_[target.name].push_back({worker, next_id_++, local, target});
    }
    for (const KnownTarget& offered : targets) DecideLocked(offered.name, &calls);
    AnswerLocked(&calls);
  }
  for (const auto& call : calls) call();
}

void TargetCatalog::WorkerGone(const std::string& worker) {
  Calls calls;
  {
    absl::MutexLock lock(&mu_);
    for (auto& [name, offers] : offers_) {
      offers.erase(
          std::remove_if(offers.begin(), offers.end(), [&](const Offer& offer) { return offer.worker == worker; }),
          offers.end());
      DecideLocked(name, &calls);
    }
    for (auto it = offers_.begin(); it != offers_.end();) it = it->second.empty() ? offers_.erase(it) : std::next(it);
    ForgetLocked();
  }
  for (const auto& call : calls) call();
}

void TargetCatalog::ForgetLocked() {
  std::vector<std::pair<absl::Time, std::string>> remembered;
  for (const auto& [name, force] : known_) {
    if (!force.target.attached) remembered.emplace_back(force.fit, name);
  }
  if (remembered.size() <= config_.most_remembered) return;
  std::sort(remembered.begin(), remembered.end());
  remembered.resize(remembered.size() - config_.most_remembered);
  for (const auto& [fit, name] : remembered) known_.erase(name);
}

std::optional<KnownTarget> TargetCatalog::Find(absl::string_view target) const {
  absl::MutexLock lock(&mu_);
  auto it = known_.find(target);
  if (it == known_.end()) return std::nullopt;
  return it->second.target;
}

bool TargetCatalog::IsAwaited(absl::string_view target) const {
  absl::MutexLock lock(&mu_);
  const absl::Time now = clock_();
  auto it = known_.find(target);
  if (it != known_.end() && it->second.target.attached) return true;
  if (stopped_) return false;
  if (it == known_.end()) return !SettledLocked(now) && (config_.expected_workers > 0 || !known_.empty());
  const absl::Time fit = it->second.fit;
  return fit == absl::InfinitePast() ? now - started_ < config_.start_grace : now - fit < config_.build_grace;
}

std::vector<KnownTarget> TargetCatalog::List() const {
  absl::MutexLock lock(&mu_);
  std::vector<KnownTarget> targets;
  for (const auto& [name, force] : known_) targets.push_back(force.target);
  return targets;
}

std::vector<TargetCatalog::Standing> TargetCatalog::Standings() const {
  absl::MutexLock lock(&mu_);
  std::map<std::string, Standing> standings;
  for (const auto& [name, force] : known_) {
    Standing& standing = standings[name];
    standing.ready = force.target.attached;
    auto offers = offers_.find(name);
    if (offers == offers_.end()) continue;
    for (const Offer& offer : offers->second)
      ++(offer.target.build_id == force.target.build_id ? standing.workers : standing.of_others);
  }
  for (const auto& [id, waiter] : waiters_) ++standings[known_.count(waiter.target) > 0 ? waiter.target : ""].waiting;
  std::vector<Standing> list;
  for (auto& [name, standing] : standings) {
    standing.target = name;
    list.push_back(std::move(standing));
  }
  return list;
}

std::optional<TargetCatalog::Arrival> TargetCatalog::ArrivalLocked(const Waiter& waiter) const {
  auto it = known_.find(waiter.target);
  if (it != known_.end() && it->second.target.attached) return Arrival::kAttached;
  if (stopped_) return Arrival::kNoWorker;
  const absl::Time now = clock_();
  if (now >= waiter.deadline) return Arrival::kDeadline;
  // Where no worker has ever been nobody can say that a target is none.
  if (it == known_.end() && SettledLocked(now)) return known_.empty() ? Arrival::kNoWorker : Arrival::kUnknown;
  if (now - waiter.since >= config_.worker_wait) return Arrival::kNoWorker;
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
    for (const auto& [name, offers] : offers_) DecideLocked(name, &calls);
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
  for (const auto& [name, force] : known_) {
    const KnownTarget& target = force.target;
    text.push_back({{"name", name},
                    {"build_id", target.build_id},
                    {"binary_format", target.binary_format},
                    {"binary_available", target.binary_available},
                    {"why_not", target.why_not},
                    {"disassembly_available", target.disassembly_available},
                    {"options", RulesToJson(target.options)}});
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
    target.disassembly_available = entry.contains("disassembly_available") && entry["disassembly_available"] == true;
    if (entry.contains("options")) target.options = RulesFromJson(entry["options"]);
    known[target.name] = target;
  }
  absl::MutexLock lock(&mu_);
  for (auto& [name, target] : known) known_.try_emplace(name, Force{std::move(target)});
  ForgetLocked();
  return absl::OkStatus();
}

}  // namespace tritond::server
