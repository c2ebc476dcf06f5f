// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_CLUSTER_WORK_SHARING_H_
#define SERVER_CLUSTER_WORK_SHARING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/coordination/job_stream.h"
#include "server/cluster/offer_window.h"
#include "server/cluster/task_timer.h"
#include "server/scheduler/scheduler.h"

namespace tritond::server {

// Gives jobs that wait for a worker to daemons that have an idle one. On offer, for each compiler and target, is always
// what the queue would serve next. What no longer is that is withdrawn, so that tenants and classes have their turns
// whichever daemon runs their jobs. An offered job stays in the queue: the daemon with the first free worker runs it,
// under the key's lease, which SingleFlight takes. Its origin sees that another daemon has the lease, and gets the
// outcome as any follower does.
//
// How much is on offer follows how fast it is taken: each daemon's offers stand before what another one offers later.
// Every class has a stream of its own, and takers serve the most urgent one, but now and then the others first.
//
// An offer is a hint and may be lost; a job never is, since its origin keeps it. What a taker that died had is taken
// over by another, but not by its origin, which would wait for itself. Pure logic: time is injected. Thread-safe. Does
// not own what it is given.
class WorkSharing final {
 public:
  struct Config {
    std::string taker;  // of this run of this daemon, as SingleFlight names it: no other has it
    absl::Duration round = absl::Milliseconds(50);
    // Rounds of a daemon that has neither offered nor taken anything for `idle_after`: all daemons of a cluster look at
    // the same few streams.
    absl::Duration idle_round = absl::Milliseconds(400);
    absl::Duration idle_after = absl::Seconds(10);
    absl::Duration offer_after = absl::Milliseconds(50);  // of waiting
    absl::Duration offer_again = absl::Seconds(10);       // when nobody has taken it
    OfferWindow::Config window;                           // of one compiler and target
    size_t max_round_offers = 64;                         // new ones in one round
    size_t max_body_bytes = size_t{1} << 20;  // of an offer; larger jobs wait for their own daemon's workers
    int yield_every = 8;                      // of so many takes one begins with the least urgent class
    absl::Duration take_over_every = absl::Seconds(5);
    absl::Duration take_over_after = absl::Seconds(15);
  };
  // The daemon whose jobs are offered, and which runs those that it takes. Called without a lock. Thread-safe.
  class Host {
   public:
    virtual ~Host() = default;
    // As Scheduler has them.
    virtual std::vector<Scheduler::WaitingJob> NextWaiting(absl::Duration at_least, const OfferFilter& filter) = 0;
    virtual std::map<Requirement, int> IdleSlots() = 0;
    // A job as another daemon can read it, in the name of its asker; nothing when it cannot.
    virtual std::optional<std::string> WriteOffer(const JobSpec& spec, const std::string& asker) = 0;
    // Runs an offered job. `done` is called once; false: another daemon should have it.
    virtual void RunOffer(const cache::StreamEntry& entry, const Requirement& needs,
                          std::function<void(bool)> done) = 0;
    // Another daemon may have a job of this one's now.
    virtual void WatchJob(uint64_t job) = 0;
  };
  struct Stats {
    uint64_t offered = 0;
    uint64_t taken = 0;        // from others
    uint64_t open_offers = 0;  // now
  };

  // `timer` may block.
  WorkSharing(Config config, Clock clock, cache::JobStream& streams, TaskTimer& timer, Host& host);

  // Begins; it goes on for as long as the timer runs tasks.
  void Begin();
  // The job has ended, or runs here or (`taken`) elsewhere: what was offered is withdrawn. Neither blocks nor calls
  // back.
  void Settled(uint64_t job, bool taken);

  Stats GetStats() const;

 private:
  struct Offer {
    Requirement needs;
    JobClass job_class = JobClass::kInteractive;
    std::string id;  // empty while it is being made
    absl::Time since;
  };
  // What one call takes from.
  struct Choice {
    std::vector<cache::StreamName> streams;
    std::vector<Requirement> needs;  // of each stream
    int slots = 0;                   // that are idle for any of them
  };

  void Round();
  // Whether anything is on offer.
  bool OfferNext();
  // Withdraws what is not among these any more; gives those that are not on offer, the most urgent first.
  std::vector<Scheduler::WaitingJob> Reconcile(std::vector<Scheduler::WaitingJob> next);
  OfferFilter Filter();
  // Offers it, where it can be. False when the engine did not take it.
  bool OfferOne(const Scheduler::WaitingJob& job);
  void WithdrawLocked(uint64_t job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool TakeSome();
  // By compiler.
  std::map<std::string, Choice> Choices();
  void Start(const cache::StreamEntry& entry, const Requirement& needs);
  void RemoveLater(const cache::StreamName& stream, const std::string& id);

  const Config config_;
  const Clock clock_;
  cache::JobStream& streams_;
  TaskTimer& timer_;
  Host& host_;
  absl::Time next_take_over_;  // of the round's thread
  absl::Time last_work_;       // of the round's thread
  uint64_t refused_ = 0;       // of the round's thread: the job that the engine did not take the last time; 0: none
  uint64_t takes_ = 0;         // of the round's thread

  mutable absl::Mutex mu_;
  absl::flat_hash_map<uint64_t, Offer> offers_ ABSL_GUARDED_BY(mu_);
  std::map<Requirement, OfferWindow> windows_ ABSL_GUARDED_BY(mu_);  // of what waits
  absl::flat_hash_set<uint64_t> settled_ ABSL_GUARDED_BY(mu_);       // jobs, since this round asked which ones wait
  absl::flat_hash_set<uint64_t> unwritable_ ABSL_GUARDED_BY(mu_);    // jobs that no other daemon could read
  Stats stats_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_CLUSTER_WORK_SHARING_H_
