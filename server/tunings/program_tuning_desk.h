// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_TUNINGS_PROGRAM_TUNING_DESK_H_
#define SERVER_TUNINGS_PROGRAM_TUNING_DESK_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/coordination/key_lease_table.h"
#include "server/cluster/task_timer.h"
#include "server/tunings/tuning_store.h"

namespace tritond::server {

// Gives the right to measure a tuning to one caller at a time, in this daemon and, with a table of leases, in the
// cluster. The others wait for what it stores. A right is a ticket. It ends when its tuning is stored, when it is given
// back, or when it is not renewed in time. Then one of those that wait gets it. When the engine is away the right is
// this daemon's alone: two daemons may measure the same, which costs time and nothing else.
//
// Pure logic: time is injected and passes in Tick. Thread-safe; answers are given without locks. Does not own what it
// is given.
class ProgramTuningDesk final {
 public:
  struct Config {
    std::string owner;  // of this run of this daemon: no other has it
    absl::Duration ticket_lifetime = absl::Seconds(15);
    absl::Duration longest_measurement = absl::Minutes(30);
    absl::Duration longest_wait = absl::Minutes(10);
    absl::Duration first_poll = absl::Milliseconds(100);  // of what another daemon holds; doubles
    absl::Duration longest_poll = absl::Seconds(1);
    size_t max_tickets = 1024;
    size_t max_waiters = 4096;
  };
  using Clock = std::function<absl::Time()>;
  using MakeTicket = std::function<std::string()>;
  // Neither: the caller measures by itself.
  struct Answer {
    std::optional<v1::ProgramTuning> stored;
    std::string ticket;
  };
  using Answered = std::function<void(Answer)>;
  struct Stats {
    uint64_t shared = 0, granted = 0, measured = 0, lost = 0, refused = 0;  // since the start
    uint64_t measuring = 0, waiting = 0;                                    // now
  };

  // `timer` runs what may block. `make_ticket` gives what nobody can guess. `leases` is null without a cluster.
  ProgramTuningDesk(Config config, Clock clock, TaskTimer& timer, MakeTicket make_ticket, TuningStore& store,
                    cache::KeyLeaseTable* leases);

  // `answered` is called once, perhaps before this returns, and at the latest a moment after `wait`; never when Leave
  // was in time. The result is for Leave; 0: answered already.
  uint64_t Acquire(const cache::Digest& key, absl::Duration wait, bool may_measure, Answered answered);
  // The caller has gone. False when it has been answered, or is about to be.
  bool Leave(uint64_t waiter);
  // NotFound when the ticket has ended.
  absl::Status Renew(const std::string& ticket);
  // `done` hears once whether it is stored. NotFound when the ticket has ended, InvalidArgument when it is for another
  // key, Unavailable when the store does not take it. Then those that wait have it even so.
  void Store(const std::string& ticket, const cache::Digest& key, v1::ProgramTuning tuning,
             std::function<void(absl::Status)> done);
  // Nothing happens when the ticket has ended.
  void Abandon(const std::string& ticket);
  // Ends waits and tickets whose time is over; to be called often.
  void Tick();

  const Config& config() const { return config_; }
  Stats GetStats() const;

 private:
  struct Waiter {
    uint64_t id = 0;
    absl::Time until;
    bool may_measure = false;
    Answered answered;
  };
  // What is known of one key that somebody wants.
  struct Flight {
    enum class State { kLooking, kHeldHere, kHeldElsewhere } state = State::kLooking;
    std::deque<Waiter> waiters;
    absl::Duration pause;
    // Of the ticket that is out, with kHeldHere.
    std::string ticket;
    absl::Time expires, ends;
    bool storing = false;
    cache::KeyLease lease;  // token 0: none
  };
  // Answers that are given once the lock is released.
  using Replies = std::vector<std::pair<Answered, Answer>>;

  static void Send(Replies replies);
  void LookLater(const cache::Digest& key, absl::Duration delay);
  void Look(const cache::Digest& key);
  // What is asked of the cluster for those that wait. With kNothing they have been told, and the flight is over.
  enum class Wanted { kNothing, kTuning, kTicket };
  Wanted WhatIsWanted(const cache::Digest& key, Replies* replies);
  bool MayGrantLocked(const Flight& flight) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  absl::StatusOr<cache::KeyLeaseTable::Answer> AskCluster(const cache::Digest& key, bool take);
  void HearLocked(const cache::Digest& key, const absl::StatusOr<cache::KeyLeaseTable::Answer>& answer,
                  Replies* replies) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GrantLocked(const cache::Digest& key, const cache::KeyLease& lease, Replies* replies)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AnswerAllLocked(const cache::Digest& key, const v1::ProgramTuning& tuning, Replies* replies)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RefuseLocked(Waiter waiter, Replies* replies) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Those whose wait is over at `now`.
  void RefuseLateLocked(Flight* flight, absl::Time now, Replies* replies) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The ticket ends without a tuning.
  void FreeLocked(const cache::Digest& key, Flight* flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReleaseLater(const cache::KeyLease& lease);
  void EndStoring(const std::string& ticket, const cache::Digest& key, const v1::ProgramTuning& tuning,
                  const absl::Status& kept);

  const Config config_;
  const Clock clock_;
  TaskTimer& timer_;
  const MakeTicket make_ticket_;
  TuningStore& store_;
  cache::KeyLeaseTable* const leases_;
  std::atomic<uint64_t> attempts_{1};

  mutable absl::Mutex mu_;
  absl::flat_hash_map<cache::Digest, Flight> flights_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, cache::Digest> tickets_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, cache::Digest> waiters_ ABSL_GUARDED_BY(mu_);
  uint64_t last_waiter_ ABSL_GUARDED_BY(mu_) = 0;
  Stats stats_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_TUNINGS_PROGRAM_TUNING_DESK_H_
