// SPDX-License-Identifier: Apache-2.0
// A flight is one key that somebody wants:
//
//   looking ── stored ─▶ all are answered, over
//      │ ├───── no ticket may be given, and nobody measures ─▶ all are told to measure by themselves, over
//      │ └───── another daemon has the lease ─▶ held elsewhere ── a pause ─▶ looking
//      └─ granted ─▶ held here ── stored ─▶ all are answered, over
//                        └─ given back, ran out ─▶ looking, for the next that waits
//
// Only a task of the timer looks, one a flight, so nothing that blocks holds a lock.
#include "server/tunings/program_tuning_desk.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using cache::KeyLeaseTable;

absl::Status Lost() { return absl::NotFoundError("the ticket has ended: ask again with AcquireProgramTuning"); }

}  // namespace

ProgramTuningDesk::ProgramTuningDesk(Config config, Clock clock, TaskTimer& timer, MakeTicket make_ticket,
                                     TuningStore& store, KeyLeaseTable* leases)
    : config_(std::move(config)),
      clock_(std::move(clock)),
      timer_(timer),
      make_ticket_(std::move(make_ticket)),
      store_(store),
      leases_(leases) {}

void ProgramTuningDesk::Send(Replies replies) {
  for (auto& [answered, answer] : replies) answered(std::move(answer));
}

uint64_t ProgramTuningDesk::Acquire(const cache::Digest& key, absl::Duration wait, bool may_measure,
                                    Answered answered) {
  Replies replies;
  uint64_t id = 0;
  {
    absl::MutexLock lock(&mu_);
    Waiter waiter{++last_waiter_, clock_() + std::min(wait, config_.longest_wait), may_measure, std::move(answered)};
    const auto [it, fresh] = flights_.try_emplace(key);
    Flight& flight = it->second;
    const bool full = waiters_.size() >= config_.max_waiters;
    if (full || (flight.state != Flight::State::kLooking && wait <= absl::ZeroDuration())) {
      RefuseLocked(std::move(waiter), &replies);
      if (fresh) flights_.erase(it);
    } else {
      id = waiter.id;
      waiters_.emplace(id, key);
      flight.waiters.push_back(std::move(waiter));
      if (fresh) LookLater(key, absl::ZeroDuration());
    }
  }
  Send(std::move(replies));
  return id;
}

bool ProgramTuningDesk::Leave(uint64_t waiter) {
  absl::MutexLock lock(&mu_);
  auto it = waiters_.find(waiter);
  if (it == waiters_.end()) return false;
  std::deque<Waiter>& waiters = flights_.at(it->second).waiters;
  waiters.erase(std::find_if(waiters.begin(), waiters.end(), [&](const Waiter& one) { return one.id == waiter; }));
  waiters_.erase(it);
  return true;
}

void ProgramTuningDesk::LookLater(const cache::Digest& key, absl::Duration delay) {
  timer_.RunAfter(delay, [this, key] { Look(key); });
}

void ProgramTuningDesk::Look(const cache::Digest& key) {
  Replies replies;
  std::optional<v1::ProgramTuning> stored = store_.Find(key);
  if (stored.has_value()) {
    absl::MutexLock lock(&mu_);
    AnswerAllLocked(key, *stored, &replies);
    flights_.erase(key);
  } else if (const Wanted wanted = WhatIsWanted(key, &replies); wanted != Wanted::kNothing) {
    const absl::StatusOr<KeyLeaseTable::Answer> answer = AskCluster(key, wanted == Wanted::kTicket);
    const bool done = answer.ok() && answer->state == KeyLeaseTable::State::kDone;
    if (done) stored = store_.Find(key);  // It came meanwhile. One that cannot be read is measured anew.
    absl::MutexLock lock(&mu_);
    if (stored.has_value()) {
      AnswerAllLocked(key, *stored, &replies);
      flights_.erase(key);
    } else {
      HearLocked(key, answer, &replies);
    }
  }
  Send(std::move(replies));
}

ProgramTuningDesk::Wanted ProgramTuningDesk::WhatIsWanted(const cache::Digest& key, Replies* replies) {
  absl::MutexLock lock(&mu_);
  Flight& flight = flights_.at(key);
  if (MayGrantLocked(flight)) return Wanted::kTicket;
  if (leases_ != nullptr && !flight.waiters.empty()) return Wanted::kTuning;
  RefuseLateLocked(&flight, absl::InfiniteFuture(), replies);
  flights_.erase(key);
  return Wanted::kNothing;
}

bool ProgramTuningDesk::MayGrantLocked(const Flight& flight) const {
  return tickets_.size() < config_.max_tickets &&
         std::any_of(flight.waiters.begin(), flight.waiters.end(), [](const Waiter& w) { return w.may_measure; });
}

absl::StatusOr<KeyLeaseTable::Answer> ProgramTuningDesk::AskCluster(const cache::Digest& key, bool take) {
  if (leases_ == nullptr) return absl::UnavailableError("no cluster");
  KeyLeaseTable::Wish wish;
  wish.take = take;
  const uint64_t attempt = attempts_.fetch_add(1);
  return leases_->Ask(key, absl::StrCat(config_.owner, "/", attempt), config_.ticket_lifetime, wish);
}

void ProgramTuningDesk::HearLocked(const cache::Digest& key, const absl::StatusOr<KeyLeaseTable::Answer>& answer,
                                   Replies* replies) {
  if (answer.ok() && answer->state == KeyLeaseTable::State::kHeld) {
    Flight& flight = flights_.at(key);
    flight.state = Flight::State::kHeldElsewhere;
    flight.pause = std::clamp(flight.pause * 2, config_.first_poll, config_.longest_poll);
    RefuseLateLocked(&flight, clock_(), replies);
    if (flight.waiters.empty()) {
      flights_.erase(key);
    } else {
      LookLater(key, flight.pause);
    }
    return;
  }
  const bool leased = answer.ok() && answer->state == KeyLeaseTable::State::kGranted;
  GrantLocked(key, leased ? answer->lease : cache::KeyLease(), replies);
}

void ProgramTuningDesk::GrantLocked(const cache::Digest& key, const cache::KeyLease& lease, Replies* replies) {
  Flight& flight = flights_.at(key);
  if (!MayGrantLocked(flight)) {
    ReleaseLater(lease);
    RefuseLateLocked(&flight, absl::InfiniteFuture(), replies);
    flights_.erase(key);
    return;
  }
  auto first =
      std::find_if(flight.waiters.begin(), flight.waiters.end(), [](const Waiter& w) { return w.may_measure; });
  const absl::Time now = clock_();
  flight.state = Flight::State::kHeldHere;
  flight.ticket = make_ticket_();
  flight.lease = lease;
  flight.storing = false;
  flight.expires = now + config_.ticket_lifetime;
  flight.ends = now + config_.longest_measurement;
  tickets_[flight.ticket] = key;
  ++stats_.granted;
  waiters_.erase(first->id);
  replies->emplace_back(std::move(first->answered), Answer{std::nullopt, flight.ticket});
  flight.waiters.erase(first);
  RefuseLateLocked(&flight, now, replies);
}

void ProgramTuningDesk::AnswerAllLocked(const cache::Digest& key, const v1::ProgramTuning& tuning, Replies* replies) {
  for (Waiter& waiter : flights_.at(key).waiters) {
    ++stats_.shared;
    waiters_.erase(waiter.id);
    replies->emplace_back(std::move(waiter.answered), Answer{tuning, ""});
  }
  flights_.at(key).waiters.clear();
}

void ProgramTuningDesk::RefuseLocked(Waiter waiter, Replies* replies) {
  ++stats_.refused;
  waiters_.erase(waiter.id);
  replies->emplace_back(std::move(waiter.answered), Answer());
}

void ProgramTuningDesk::RefuseLateLocked(Flight* flight, absl::Time now, Replies* replies) {
  std::deque<Waiter> left;
  for (Waiter& waiter : flight->waiters) {
    if (waiter.until <= now) {
      RefuseLocked(std::move(waiter), replies);
    } else {
      left.push_back(std::move(waiter));
    }
  }
  flight->waiters = std::move(left);
}

absl::Status ProgramTuningDesk::Renew(const std::string& ticket) {
  absl::MutexLock lock(&mu_);
  auto it = tickets_.find(ticket);
  if (it == tickets_.end()) return Lost();
  Flight& flight = flights_.at(it->second);
  const absl::Time now = clock_();
  if (flight.ends <= now) return Lost();  // The next tick ends it.
  flight.expires = std::min(now + config_.ticket_lifetime, flight.ends);
  // A lease that cannot be renewed runs out: another daemon may measure too.
  if (flight.lease.token != 0) {
    timer_.RunAfter(absl::ZeroDuration(),
                    [this, lease = flight.lease] { leases_->Renew(lease, config_.ticket_lifetime).IgnoreError(); });
  }
  return absl::OkStatus();
}

void ProgramTuningDesk::Store(const std::string& ticket, const cache::Digest& key, v1::ProgramTuning tuning,
                              std::function<void(absl::Status)> done) {
  absl::Status status;
  {
    absl::MutexLock lock(&mu_);
    auto it = tickets_.find(ticket);
    if (it == tickets_.end()) {
      status = Lost();
    } else if (it->second != key) {
      status = absl::InvalidArgumentError("the ticket is for another key");
    } else {
      flights_.at(key).storing = true;
      timer_.RunAfter(absl::ZeroDuration(), [this, ticket, key, tuning = std::move(tuning), done] {
        const absl::Status kept = store_.Keep(key, tuning);
        EndStoring(ticket, key, tuning, kept);
        done(kept.ok() ? kept : absl::UnavailableError(absl::StrCat("cannot keep the tuning: ", kept.message())));
      });
      return;
    }
  }
  done(std::move(status));
}

void ProgramTuningDesk::EndStoring(const std::string& ticket, const cache::Digest& key, const v1::ProgramTuning& tuning,
                                   const absl::Status& kept) {
  Replies replies;
  {
    absl::MutexLock lock(&mu_);
    if (tickets_.erase(ticket) == 0) return;  // It was stored twice, or given back meanwhile.
    stats_.measured += kept.ok();
    ReleaseLater(flights_.at(key).lease);
    AnswerAllLocked(key, tuning, &replies);
    flights_.erase(key);
  }
  Send(std::move(replies));
}

void ProgramTuningDesk::Abandon(const std::string& ticket) {
  absl::MutexLock lock(&mu_);
  auto it = tickets_.find(ticket);
  if (it == tickets_.end()) return;
  const cache::Digest key = it->second;
  FreeLocked(key, &flights_.at(key));
}

void ProgramTuningDesk::FreeLocked(const cache::Digest& key, Flight* flight) {
  tickets_.erase(flight->ticket);
  ReleaseLater(flight->lease);
  if (flight->waiters.empty()) {
    flights_.erase(key);
    return;
  }
  flight->state = Flight::State::kLooking;
  flight->pause = absl::ZeroDuration();
  LookLater(key, absl::ZeroDuration());
}

void ProgramTuningDesk::ReleaseLater(const cache::KeyLease& lease) {
  // A lease that cannot be released runs out.
  if (lease.token != 0) timer_.RunAfter(absl::ZeroDuration(), [this, lease] { leases_->Release(lease).IgnoreError(); });
}

void ProgramTuningDesk::Tick() {
  Replies replies;
  {
    absl::MutexLock lock(&mu_);
    const absl::Time now = clock_();
    std::vector<cache::Digest> lost;
    for (auto& [key, flight] : flights_) {
      if (flight.state != Flight::State::kLooking) RefuseLateLocked(&flight, now, &replies);
      if (flight.state == Flight::State::kHeldHere && !flight.storing && flight.expires <= now) lost.push_back(key);
    }
    stats_.lost += lost.size();
    for (const cache::Digest& key : lost) FreeLocked(key, &flights_.at(key));
  }
  Send(std::move(replies));
}

ProgramTuningDesk::Stats ProgramTuningDesk::GetStats() const {
  absl::MutexLock lock(&mu_);
  Stats stats = stats_;
  stats.measuring = tickets_.size();
  stats.waiting = waiters_.size();
  return stats;
}

}  // namespace tritond::server
