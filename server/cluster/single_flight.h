// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_CLUSTER_SINGLE_FLIGHT_H_
#define SERVER_CLUSTER_SINGLE_FLIGHT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/coordination/key_lease_table.h"
#include "server/cluster/task_timer.h"
#include "server/scheduler/peers.h"

namespace tritond::server {

// One run per key in a whole cluster. A job runs here under the key's lease, or follows the daemon that has it. It
// follows until the outcome is there or the lease is free again. When the engine is away, or takes longer than
// `patience` over an answer, a job runs without a lease. A lost lease costs a second run and nothing else.
//
// Pure logic: time passes in the timers, what blocks runs there too. Thread-safe. The scheduler's calls neither block
// nor call back; verdicts are given without a lock. Does not own what it is given.
class SingleFlight final : public Peers {
 public:
  struct Config {
    std::string owner;  // of this run of this daemon: no other has it
    absl::Duration lease = absl::Seconds(5);
    absl::Duration first_poll = absl::Milliseconds(5);  // of a follower; doubles
    absl::Duration longest_poll = absl::Milliseconds(100);
    absl::Duration patience = absl::Seconds(1);
    // No compile takes so long: a lease that is held longer is not believed, and the job runs without one.
    absl::Duration longest_follow = absl::Minutes(15);
    absl::Duration error_lifetime = absl::Seconds(60);
    absl::Duration told_lifetime = absl::Seconds(60);
  };
  // Where its tasks run. They are apart so that no kind is late because of another one.
  struct Timers {
    TaskTimer& looks;      // on behalf of jobs that wait; may block
    TaskTimer& claims;     // for which a worker or a lease waits; may block
    TaskTimer& reminders;  // do not block
    TaskTimer& uploads;    // of what is published, which may be large; block
  };
  // The daemon whose jobs these are. Called without a lock unless said otherwise. Thread-safe.
  class Host {
   public:
    virtual ~Host() = default;
    // The value that the cluster has under the key; nothing when it cannot be had whole. May block.
    virtual std::optional<Outcome> Fetch(const std::string& key) = 0;
    // A failure as PublishError was given it for the key, or Tell for the key and the owner. Nothing when it cannot be
    // read or is not to be believed.
    virtual std::optional<Outcome> ReadError(const std::string& key, const std::string& owner,
                                             const std::string& error) = 0;
    virtual void Decide(uint64_t job, Verdict verdict) = 0;
    // Other daemons must not take the job any more; `taken`: since one has it. Called with locks held: must neither
    // block nor call back.
    virtual void OnSettled(uint64_t job, bool taken) = 0;
    // A renewal of the key's lease, which this daemon holds, told whether other daemons follow its job.
    virtual void OnRenewed(const std::string& key, bool followed) = 0;
  };
  struct Stats {
    uint64_t held = 0;       // leases, now
    uint64_t following = 0;  // jobs that another daemon runs, now
    uint64_t granted = 0;    // leases
    uint64_t lost = 0;       // leases that another daemon got while this one's job ran
    uint64_t waited = 0;     // jobs that followed another daemon
    uint64_t followed = 0;   // of these, those that got its outcome
    uint64_t alone = 0;      // jobs that ran without a lease
    uint64_t publish_failures = 0;
  };

  SingleFlight(Config config, cache::KeyLeaseTable& table, const Timers& timers, Host& host);

  void Look(uint64_t job, const JobSpec& spec) override;
  void Claim(uint64_t job, const JobSpec& spec) override;
  void Ended(uint64_t job) override;

  // Who asks the table for a daemon's job.
  static std::string OwnerOf(const std::string& daemon, uint64_t job);

  // Looks once more on behalf of a job that waits in the queue, since another daemon may have taken it.
  void Watch(uint64_t job);

  // Hands the outcome of a run here to the cluster, under the job's lease where it has one; to be called before the
  // job ends. `upload` runs first, where it may block; when it fails nothing is published. `then` hears whether it is
  // there now.
  void Publish(const std::string& key, std::function<absl::Status()> upload, cache::Blob value,
               std::function<void(bool)> then = nullptr);
  void PublishError(const std::string& key, const std::string& error);
  // Ends one job of another daemon with a failure that is no outcome of the key. `then` hears whether it was written.
  void Tell(const std::string& key, const std::string& owner, const std::string& error, std::function<void(bool)> then);
  // An outcome that is not published after all.
  void CountUnpublished();

  // The outcome under a key, as the cluster has it now. Blocks.
  std::optional<Outcome> Find(const std::string& key);
  // Forgets the failure. Blocks.
  void ForgetError(const std::string& key);

  Stats GetStats() const;

 private:
  enum class Step { kLooking, kQueued, kClaiming, kFollowing, kHolding, kAlone };
  struct Flight {
    std::string key;
    cache::KeyLease lease;  // token 0: none
    Step step = Step::kLooking;
    uint64_t turn = 0;  // grows with every step: answers of an earlier one are late
    absl::Duration pause;
    bool refresh = false;
    bool unreadable = false;  // a value is there and cannot be had
    bool deaf = false;        // it has followed for too long, and follows nobody any more
    absl::Duration followed;  // for how long
    int looks = 0;            // that are due while it is queued
    int publishing = 0;
    bool ended = false;
  };
  using Action = void (SingleFlight::*)(uint64_t job, uint64_t turn);
  using Write = std::function<absl::StatusOr<bool>(const cache::KeyLease& lease)>;

  // Null when the key is no digest: such a job has no peers.
  Flight* MakeLocked(uint64_t job, const JobSpec& spec) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Flight* FindLocked(uint64_t job, uint64_t turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EnterLocked(Flight* flight, Step step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EraseLocked(uint64_t job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // In the flight's turn.
  void After(absl::Duration delay, Action action, uint64_t job, const Flight& flight);
  void RemindToDecide(uint64_t job, uint64_t turn);
  void DecideLater(uint64_t job, Verdict::Kind kind);

  void Ask(uint64_t job, uint64_t turn);
  std::optional<Outcome> Read(const std::string& key, const std::string& owner,
                              const cache::KeyLeaseTable::Answer& answer);
  // What an answer means for a job; nothing: it goes on waiting.
  std::optional<Verdict> HearLocked(uint64_t job, Flight* flight,
                                    const absl::StatusOr<cache::KeyLeaseTable::Answer>& answer,
                                    std::optional<Outcome> outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<Verdict> HearAwayLocked(uint64_t job, Flight* flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<Verdict> HearHeldLocked(uint64_t job, Flight* flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Polls again, unless it has followed for too long.
  std::optional<Verdict> FollowOnLocked(uint64_t job, Flight* flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<Verdict> HearFreeLocked(uint64_t job, Flight* flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<Verdict> HearUnreadableLocked(uint64_t job, Flight* flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Verdict HoldLocked(uint64_t job, Flight* flight, const cache::KeyLease& lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Verdict GoAloneLocked(uint64_t job, Flight* flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HearLateLocked(uint64_t job, const absl::StatusOr<cache::KeyLeaseTable::Answer>& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LosePatience(uint64_t job, uint64_t turn);
  void Renew(uint64_t job, uint64_t turn);
  void UnfollowLater(const cache::Digest& key);
  void ReleaseLater(const cache::KeyLease& lease);
  void WriteLater(const std::string& key, Write write, std::function<void(bool)> then = nullptr);

  const Config config_;
  cache::KeyLeaseTable& table_;
  const Timers timers_;
  Host& host_;

  mutable absl::Mutex mu_;
  absl::flat_hash_map<uint64_t, Flight> flights_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, uint64_t> by_key_ ABSL_GUARDED_BY(mu_);
  Stats stats_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_CLUSTER_SINGLE_FLIGHT_H_
