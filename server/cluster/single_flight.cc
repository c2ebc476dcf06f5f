// SPDX-License-Identifier: Apache-2.0
// A flight is one job's way through the cluster:
//
//   looking ─ outcome there ─▶ over          claiming ─ granted ─▶ holding ─ published ─▶ over
//      │ └── held ─▶ following ◀── held ──────┘  ▲ └─ engine away ─▶ alone
//      └── free ─▶ queued ── a worker is free ───┘
//                    ▲ └ following: polls; the outcome ends it, a free lease puts it back into the queue
//                    └───┘
//
// A follower never takes a lease by itself. The job goes back to the queue and claims when a worker is free for it. So
// each holder of a lease has a worker at work. Every step has a turn number. An answer that comes for an earlier turn
// is late, and at most gives back the lease that it brought.
#include "server/cluster/single_flight.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using cache::KeyLeaseTable;
using State = KeyLeaseTable::State;

// Looks at a job whose holder has ended: the outcome may arrive just after the lease's end.
constexpr int kLooksAfterEnd = 20;

Verdict Of(Verdict::Kind kind) {
  Verdict verdict;
  verdict.kind = kind;
  return verdict;
}

}  // namespace

SingleFlight::SingleFlight(Config config, KeyLeaseTable& table, const Timers& timers, Host& host)
    : config_(std::move(config)), table_(table), timers_(timers), host_(host) {}

std::string SingleFlight::OwnerOf(const std::string& daemon, uint64_t job) { return absl::StrCat(daemon, "/", job); }

SingleFlight::Flight* SingleFlight::MakeLocked(uint64_t job, const JobSpec& spec) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(spec.key);
  if (!digest.ok()) return nullptr;
  Flight& flight = flights_[job];
  flight.key = spec.key;
  flight.lease = {*digest, OwnerOf(config_.owner, job), 0};
  flight.refresh = spec.refresh;
  by_key_[spec.key] = job;
  return &flight;
}

SingleFlight::Flight* SingleFlight::FindLocked(uint64_t job, uint64_t turn) {
  auto it = flights_.find(job);
  return it == flights_.end() || it->second.ended || it->second.turn != turn ? nullptr : &it->second;
}

void SingleFlight::EnterLocked(Flight* flight, Step step) {
  if (flight->step == Step::kHolding) --stats_.held;
  if (flight->step == Step::kFollowing) --stats_.following;
  if (step == Step::kHolding) ++stats_.held;
  if (step == Step::kFollowing) ++stats_.following;
  flight->step = step;
  flight->looks = 0;
  ++flight->turn;
}

void SingleFlight::EraseLocked(uint64_t job) {
  auto it = flights_.find(job);
  if (it == flights_.end()) return;
  EnterLocked(&it->second, Step::kQueued);
  auto named = by_key_.find(it->second.key);
  if (named != by_key_.end() && named->second == job) by_key_.erase(named);
  flights_.erase(it);
}

void SingleFlight::After(absl::Duration delay, Action action, uint64_t job, const Flight& flight) {
  // The job's worker waits for its claim, and so does its lease for being renewed.
  const bool first = flight.step == Step::kClaiming || flight.step == Step::kHolding;
  (first ? timers_.claims : timers_.looks).RunAfter(delay, [this, action, job, turn = flight.turn] {
    (this->*action)(job, turn);
  });
}

void SingleFlight::RemindToDecide(uint64_t job, uint64_t turn) {
  timers_.reminders.RunAfter(config_.patience, [this, job, turn] { LosePatience(job, turn); });
}

void SingleFlight::DecideLater(uint64_t job, Verdict::Kind kind) {
  timers_.reminders.RunAfter(absl::ZeroDuration(), [this, job, kind] { host_.Decide(job, Of(kind)); });
}

void SingleFlight::Look(uint64_t job, const JobSpec& spec) {
  absl::MutexLock lock(&mu_);
  Flight* flight = MakeLocked(job, spec);
  if (flight == nullptr) return DecideLater(job, Verdict::Kind::kQueue);
  EnterLocked(flight, Step::kLooking);
  After(absl::ZeroDuration(), &SingleFlight::Ask, job, *flight);
  RemindToDecide(job, flight->turn);
}

void SingleFlight::Claim(uint64_t job, const JobSpec& spec) {
  absl::MutexLock lock(&mu_);
  auto it = flights_.find(job);
  Flight* flight = it == flights_.end() ? MakeLocked(job, spec) : &it->second;
  if (flight == nullptr) return DecideLater(job, Verdict::Kind::kRun);
  if (flight->step == Step::kClaiming || flight->step == Step::kHolding || flight->step == Step::kAlone) return;
  EnterLocked(flight, Step::kClaiming);
  After(absl::ZeroDuration(), &SingleFlight::Ask, job, *flight);
  RemindToDecide(job, flight->turn);
}

void SingleFlight::Watch(uint64_t job) {
  absl::MutexLock lock(&mu_);
  auto it = flights_.find(job);
  if (it == flights_.end() || it->second.step != Step::kQueued || it->second.looks > 0) return;
  it->second.looks = 1;
  After(config_.longest_poll / 2, &SingleFlight::Ask, job, it->second);
}

void SingleFlight::Ended(uint64_t job) {
  absl::MutexLock lock(&mu_);
  host_.OnSettled(job, /*taken=*/false);
  auto it = flights_.find(job);
  if (it == flights_.end()) return;
  if (it->second.publishing > 0) {
    it->second.ended = true;  // What is published releases the lease.
    return;
  }
  if (it->second.step == Step::kHolding) ReleaseLater(it->second.lease);
  if (it->second.step == Step::kFollowing) UnfollowLater(it->second.lease.key);
  EraseLocked(job);
}

void SingleFlight::ReleaseLater(const cache::KeyLease& lease) {
  // A lease that cannot be released runs out.
  timers_.looks.RunAfter(absl::ZeroDuration(), [this, lease] { table_.Release(lease).IgnoreError(); });
}

void SingleFlight::UnfollowLater(const cache::Digest& key) {
  // Where it stays, the mark runs out.
  timers_.looks.RunAfter(absl::ZeroDuration(), [this, key] { table_.Unfollow(key).IgnoreError(); });
}

std::optional<Outcome> SingleFlight::Read(const std::string& key, const std::string& owner,
                                          const KeyLeaseTable::Answer& answer) {
  if (answer.state == State::kDone) return host_.Fetch(key);
  if (answer.state == State::kFailed) return host_.ReadError(key, owner, answer.error);
  return std::nullopt;
}

void SingleFlight::Ask(uint64_t job, uint64_t turn) {
  Flight asked;
  {
    absl::MutexLock lock(&mu_);
    Flight* flight = FindLocked(job, turn);
    if (flight == nullptr) return;
    asked = *flight;
  }
  KeyLeaseTable::Wish wish;
  wish.take = asked.step == Step::kClaiming;
  wish.ignore_outcome = asked.refresh || asked.unreadable;
  wish.follow = !asked.refresh;
  const absl::StatusOr<KeyLeaseTable::Answer> answer =
      table_.Ask(asked.lease.key, asked.lease.owner, config_.lease, wish);
  std::optional<Outcome> outcome = answer.ok() ? Read(asked.key, asked.lease.owner, *answer) : std::nullopt;
  std::optional<Verdict> verdict;
  {
    absl::MutexLock lock(&mu_);
    Flight* flight = FindLocked(job, turn);
    if (flight == nullptr) return HearLateLocked(job, answer);
    verdict = HearLocked(job, flight, answer, std::move(outcome));
  }
  if (verdict.has_value()) host_.Decide(job, *std::move(verdict));
}

std::optional<Verdict> SingleFlight::HearLocked(uint64_t job, Flight* flight,
                                                const absl::StatusOr<KeyLeaseTable::Answer>& answer,
                                                std::optional<Outcome> outcome) {
  if (!answer.ok()) return HearAwayLocked(job, flight);
  if (outcome.has_value()) {
    Verdict verdict = Of(Verdict::Kind::kOutcome);
    const bool followed = flight->step == Step::kFollowing || flight->step == Step::kQueued;
    stats_.followed += followed;
    outcome->stored = !followed;
    outcome->elsewhere = followed;
    verdict.outcome = *std::move(outcome);
    EnterLocked(flight, Step::kQueued);  // It follows nobody any more, and ends.
    return verdict;
  }
  switch (answer->state) {
    case State::kGranted:
      return HoldLocked(job, flight, answer->lease);
    case State::kHeld:
      return HearHeldLocked(job, flight);
    case State::kFree:
      return HearFreeLocked(job, flight);
    case State::kDone:
    case State::kFailed:
      return HearUnreadableLocked(job, flight);
  }
  return std::nullopt;
}

std::optional<Verdict> SingleFlight::HearAwayLocked(uint64_t job, Flight* flight) {
  if (flight->step == Step::kClaiming) return GoAloneLocked(job, flight);
  if (flight->step == Step::kQueued) {
    flight->looks = 0;
    return std::nullopt;
  }
  EnterLocked(flight, Step::kQueued);
  return Of(Verdict::Kind::kQueue);
}

std::optional<Verdict> SingleFlight::HearHeldLocked(uint64_t job, Flight* flight) {
  if (flight->refresh || flight->deaf) return GoAloneLocked(job, flight);
  flight->unreadable = false;  // Its holder may replace it.
  if (flight->step == Step::kFollowing) return FollowOnLocked(job, flight);
  EnterLocked(flight, Step::kFollowing);
  flight->pause = config_.first_poll;
  ++stats_.waited;
  host_.OnSettled(job, /*taken=*/true);
  After(flight->pause, &SingleFlight::Ask, job, *flight);
  return Of(Verdict::Kind::kFollow);
}

std::optional<Verdict> SingleFlight::FollowOnLocked(uint64_t job, Flight* flight) {
  flight->followed += flight->pause;
  if (flight->followed > config_.longest_follow) {
    flight->deaf = true;
    EnterLocked(flight, Step::kQueued);
    return Of(Verdict::Kind::kQueue);
  }
  flight->pause = std::min(flight->pause * 2, config_.longest_poll);
  After(flight->pause, &SingleFlight::Ask, job, *flight);
  return std::nullopt;
}

std::optional<Verdict> SingleFlight::HearFreeLocked(uint64_t job, Flight* flight) {
  if (flight->step == Step::kQueued) {
    // The taker of the job's offer may have the value, and then publishes it again.
    const bool unreadable = std::exchange(flight->unreadable, false);
    flight->looks = std::max(flight->looks - 1, unreadable ? 1 : 0);
    if (flight->looks == 0) return std::nullopt;
    After(unreadable ? config_.patience : config_.longest_poll, &SingleFlight::Ask, job, *flight);
    return std::nullopt;
  }
  const bool followed = flight->step == Step::kFollowing;
  EnterLocked(flight, Step::kQueued);
  if (followed) {
    flight->looks = kLooksAfterEnd;
    After(config_.longest_poll / 2, &SingleFlight::Ask, job, *flight);
  }
  return Of(Verdict::Kind::kQueue);
}

std::optional<Verdict> SingleFlight::HearUnreadableLocked(uint64_t job, Flight* flight) {
  const bool asked_without = std::exchange(flight->unreadable, true);
  if (flight->step == Step::kLooking) {
    EnterLocked(flight, Step::kQueued);
    return Of(Verdict::Kind::kQueue);
  }
  if (flight->step == Step::kFollowing) return FollowOnLocked(job, flight);
  // A failure that is told to this job alone, and not to be believed, would come again at once.
  if (flight->step == Step::kClaiming && asked_without) return GoAloneLocked(job, flight);
  flight->pause = std::max(flight->pause, config_.first_poll);
  After(flight->step == Step::kClaiming ? absl::ZeroDuration() : flight->pause, &SingleFlight::Ask, job, *flight);
  return std::nullopt;
}

Verdict SingleFlight::HoldLocked(uint64_t job, Flight* flight, const cache::KeyLease& lease) {
  EnterLocked(flight, Step::kHolding);
  flight->lease = lease;
  ++stats_.granted;
  host_.OnSettled(job, /*taken=*/false);
  After(config_.lease / 4, &SingleFlight::Renew, job, *flight);
  return Of(Verdict::Kind::kRun);
}

Verdict SingleFlight::GoAloneLocked(uint64_t job, Flight* flight) {
  EnterLocked(flight, Step::kAlone);
  ++stats_.alone;
  host_.OnSettled(job, /*taken=*/false);
  return Of(Verdict::Kind::kRun);
}

void SingleFlight::HearLateLocked(uint64_t job, const absl::StatusOr<KeyLeaseTable::Answer>& answer) {
  if (!answer.ok() || answer->state != State::kGranted) return;
  auto it = flights_.find(job);
  if (it != flights_.end() && !it->second.ended && it->second.step == Step::kAlone) {
    HoldLocked(job, &it->second, answer->lease);  // It runs already.
  } else if (it == flights_.end() || it->second.lease.token != answer->lease.token) {
    ReleaseLater(answer->lease);
  }
}

void SingleFlight::LosePatience(uint64_t job, uint64_t turn) {
  Verdict verdict;
  {
    absl::MutexLock lock(&mu_);
    Flight* flight = FindLocked(job, turn);
    if (flight == nullptr) return;
    if (flight->step == Step::kClaiming) {
      verdict = GoAloneLocked(job, flight);
    } else {
      EnterLocked(flight, Step::kQueued);
      verdict = Of(Verdict::Kind::kQueue);
    }
  }
  host_.Decide(job, std::move(verdict));
}

void SingleFlight::Renew(uint64_t job, uint64_t turn) {
  cache::KeyLease lease;
  std::string key;
  {
    absl::MutexLock lock(&mu_);
    // A flight that has ended, but is published still, goes on.
    auto it = flights_.find(job);
    if (it == flights_.end() || it->second.turn != turn) return;
    lease = it->second.lease;
    key = it->second.key;
  }
  const absl::StatusOr<KeyLeaseTable::Renewal> renewal = table_.Renew(lease, config_.lease);
  {
    absl::MutexLock lock(&mu_);
    auto it = flights_.find(job);
    if (it == flights_.end() || it->second.turn != turn) return;
    if (renewal.ok() && !renewal->kept) {
      ++stats_.lost;
      return EnterLocked(&it->second, Step::kAlone);  // It goes on; its token says what it may write.
    }
    After(config_.lease / 4, &SingleFlight::Renew, job, it->second);
  }
  if (renewal.ok()) host_.OnRenewed(key, renewal->followed);
}

void SingleFlight::Publish(const std::string& key, std::function<absl::Status()> upload, cache::Blob value,
                           std::function<void(bool)> then) {
  Write write = [this, upload = std::move(upload), value](const cache::KeyLease& lease) -> absl::StatusOr<bool> {
    absl::Status uploaded = upload();
    if (!uploaded.ok()) return uploaded;
    return table_.Publish(lease, value);
  };
  WriteLater(key, std::move(write), std::move(then));
}

void SingleFlight::Tell(const std::string& key, const std::string& owner, const std::string& error,
                        std::function<void(bool)> then) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  if (!digest.ok()) return then(false);
  timers_.uploads.RunAfter(absl::ZeroDuration(), [this, key = *digest, owner, error, then = std::move(then)] {
    const absl::Status told = table_.Tell(key, owner, error, config_.told_lifetime);
    if (!told.ok()) CountUnpublished();
    then(told.ok());
  });
}

void SingleFlight::PublishError(const std::string& key, const std::string& error) {
  WriteLater(key, [this, error](const cache::KeyLease& lease) {
    return table_.PublishError(lease, error, config_.error_lifetime);
  });
}

void SingleFlight::CountUnpublished() {
  absl::MutexLock lock(&mu_);
  ++stats_.publish_failures;
}

void SingleFlight::WriteLater(const std::string& key, Write write, std::function<void(bool)> then) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  if (!digest.ok()) return then ? then(false) : void();
  cache::KeyLease lease{*digest, config_.owner, 0};
  uint64_t job = 0;
  {
    absl::MutexLock lock(&mu_);
    auto named = by_key_.find(key);
    if (named != by_key_.end()) {
      Flight& flight = flights_[named->second];
      if (flight.step == Step::kHolding || flight.step == Step::kAlone) {
        job = named->second;
        lease = flight.lease;
        ++flight.publishing;
      }
    }
  }
  timers_.uploads.RunAfter(absl::ZeroDuration(), [this, job, lease, write = std::move(write), then = std::move(then)] {
    const absl::StatusOr<bool> written = write(lease);
    if (then) then(written.ok());
    absl::MutexLock lock(&mu_);
    if (!written.ok()) {
      ++stats_.publish_failures;
      if (lease.token != 0) ReleaseLater(lease);
    }
    auto it = flights_.find(job);
    if (it == flights_.end()) return;
    if (--it->second.publishing == 0 && it->second.ended) {
      EraseLocked(job);
    } else if (it->second.step == Step::kHolding) {
      EnterLocked(&it->second, Step::kAlone);  // What was written released the lease.
    }
  });
}

std::optional<Outcome> SingleFlight::Find(const std::string& key) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  if (!digest.ok()) return std::nullopt;
  const absl::StatusOr<KeyLeaseTable::Answer> answer =
      table_.Ask(*digest, config_.owner, config_.lease, {/*take=*/false, /*ignore_outcome=*/false});
  return answer.ok() ? Read(key, config_.owner, *answer) : std::nullopt;
}

void SingleFlight::ForgetError(const std::string& key) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(key);
  if (digest.ok()) table_.ForgetError(*digest).IgnoreError();  // It goes by itself soon.
}

SingleFlight::Stats SingleFlight::GetStats() const {
  absl::MutexLock lock(&mu_);
  return stats_;
}

}  // namespace tritond::server
