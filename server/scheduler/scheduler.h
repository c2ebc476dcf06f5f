// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_SCHEDULER_SCHEDULER_H_
#define SERVER_SCHEDULER_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/scheduler/executor.h"
#include "server/scheduler/job.h"
#include "server/scheduler/job_queue.h"
#include "server/scheduler/offer_filter.h"
#include "server/scheduler/peers.h"
#include "server/scheduler/quarantine.h"
#include "server/scheduler/run_times.h"
#include "server/scheduler/scheduler_stats.h"
#include "server/scheduler/waiter_table.h"
#include "server/scheduler/worker_table.h"

namespace tritond::server {

struct SchedulerConfig {
  size_t max_queued = 10000;
  size_t max_queued_per_tenant = 5000;
  absl::Duration patience = absl::Seconds(30);  // a class that waits longer gets a share of the starts
  int max_losses = 3;                           // a job may lose its worker this often without being to blame
  int max_flakes = 1;        // a job that ends in INTERNAL is run again so often, on another worker if there is one
  int quarantine_kills = 2;  // a key that killed this many workers is quarantined
  absl::Duration quarantine_period = absl::Hours(1);
  absl::Duration no_worker_timeout = absl::Seconds(30);  // how long jobs wait for the return of a fit worker
  // A job that is nearly done when its last waiter leaves may go on for this long.
  absl::Duration last_stage_grace = absl::Seconds(2);
  // A job that has run this long, and `hedge_factor` times as long as 99 of 100 do, also begins on a second worker. It
  // does so only if one can be spared. Another idle one must be left for everything that it could run. The first
  // outcome counts. InfiniteDuration: never.
  absl::Duration hedge_after = absl::Seconds(15);
  double hedge_factor = 3;
};

// Decides what runs where and when: one job in flight per key, whose waiters all get its outcome; classes and
// fairness (JobQueue). Bounded retries when workers are lost or fail in ways of their own; quarantine for what kills
// them; drain.
//
// In a cluster, its peers are asked for a new job's outcome before it is queued. They are asked for leave when a worker
// is free for it. A job that another daemon runs waits here as any other, with its waiters, and holds no worker.
//
// Pure logic: time is injected, and someone calls Tick often. Thread-safe; callbacks run without the lock, on the
// thread whose call brought the outcome about.
class Scheduler final {
 public:
  using WaiterId = uint64_t;
  // Called exactly once unless the waiter leaves before. `joined`: the job was there already when this waiter came.
  using Done = decltype(Waiter::done);
  // Looks for a stored outcome; see Submit.
  using Recheck = std::function<std::optional<Outcome>()>;

  // Hears of every job that has ended, before its waiters do, and of those that the last waiter has left. Not of those
  // whose outcome was found before they began.
  using EndListener = std::function<void(const FinishedJob& job, const Outcome& outcome)>;

  Scheduler(SchedulerConfig config, Clock clock, Executor& executor);
  // Before the first job.
  void ListenToEnds(EndListener listener) { end_listener_ = std::move(listener); }
  // Other daemons to agree with; before the first job, and for life. Null: there are none.
  void SetPeers(Peers* peers) { peers_ = peers; }

  // Joins the job in flight under the key, or makes one. Before a new job is queued, `recheck` (may be null) runs
  // without the lock but with the key reserved. An outcome that was stored between the caller's look at the cache and
  // this call is found instead of being computed twice.
  //
  // Who comes with `refresh` is answered by a run of this daemon's alone. It joins a job that runs, or one that has not
  // begun. The latter from then on counts neither what is stored nor what other daemons do. If what runs ends with a
  // stored outcome after all, that is for the others, and the job runs again.
  //
  // Outcomes made here: Unavailable (DRAINING, NO_WORKER, WORKER_LOST), ResourceExhausted (QUEUE_FULL,
  // TENANT_QUEUE_FULL or MEMORY_FULL, with a retry delay), FailedPrecondition (QUARANTINED, with reports),
  // DeadlineExceeded (DEADLINE, TIME_LIMIT). `done` may be called before Submit returns.
  WaiterId Submit(JobSpec spec, absl::Time deadline, Recheck recheck, Done done);
  // Joins the job in flight under the key, in the name of its own tenant; 0 when there is none.
  WaiterId Join(const std::string& key, absl::Time deadline, Done done);
  // The waiter no longer waits. With the last one the job is cancelled, after a grace if it is nearly done. False when
  // its outcome is there already (then `done` has been called or is being called).
  bool Leave(WaiterId waiter);
  // The waiter waits until then, if that is later than it would have.
  void Extend(WaiterId waiter, absl::Time deadline);

  // When somebody who is refused for want of room may come back, by the length of the queue and what jobs take.
  absl::Duration RetryDelay() const;
  // Whether the queue takes another job.
  bool HasRoom() const;

  // What workers do. Leases that the scheduler does not know (any more) are ignored.
  void WorkerAttached(const std::string& worker, WorkerOffer offer);
  void WorkerLost(const std::string& worker, const Loss& loss);
  // The worker that was lost by disconnection with this lease was killed under it. That counts as a crash would have;
  // a job of a key that is quarantined by that ends, wherever it runs since.
  void Blame(uint64_t lease, const std::string& report);
  // No new jobs for this worker: once this has returned, it is given none.
  void RetireWorker(const std::string& worker);
  void Reached(uint64_t lease, absl::string_view stage);
  void NearlyDone(uint64_t lease);
  void Finish(uint64_t lease, Outcome outcome);
  // The worker has stopped for want of time, or as it was told to. It may be that somebody has come since who has time:
  // then the job begins again, as often as after a loss.
  void RunStopped(uint64_t lease, const std::string& why);
  // Whether a result under this lease is still wanted.
  bool Holds(uint64_t lease) const;

  // What the peers say; ignored when the job has ended, and when it goes by another number there since.
  void Decide(uint64_t flight, Verdict verdict);

  // The jobs that would begin next if workers came, in that order for each of their needs. They are the chosen ones of
  // those that have waited for this long and may be offered. `latest`: when the last of a job's waiters gives up.
  struct WaitingJob {
    uint64_t id = 0;  // among the peers
    JobSpec spec;
    absl::Time latest;
  };
  std::vector<WaitingJob> NextWaiting(absl::Duration at_least, const OfferFilter& filter);
  // What workers could run in free slots, up to the number of those slots. Slots that a job on its way to the queue is
  // about to need are left out. None while draining.
  std::map<Requirement, int> IdleSlots() const;

  // Ends waits whose deadline has passed and jobs that no worker can run any more.
  void Tick();

  // Refuses new jobs, or takes them again. Those accepted go on.
  void SetDraining(bool draining);
  bool draining() const;
  // Calls back with the number of jobs left, once nothing is queued or runs or `deadline` has passed.
  void WhenIdle(absl::Time deadline, std::function<void(size_t)> callback);
  // Ends every job that has not ended, Unavailable: its callers may ask elsewhere. While draining.
  void AbandonAll();

  bool Release(const std::string& key);
  void Lock(const std::string& key, const std::string& reason);
  std::vector<Quarantine::Entry> Quarantined() const;

  using Stats = SchedulerStats;
  Stats GetStats() const;
  // The job of this id while it has not ended.
  std::optional<OpenJob> FindOpen(absl::string_view id) const;

 private:
  // kGone: not among the jobs.
  enum class State { kGone, kReserved, kLooking, kQueued, kClaiming, kFollowing, kRunning };
  struct Attempt {
    uint64_t lease = 0;
    std::string worker;
    absl::Time started;
    bool refresh = false;
    bool nearly_done = false;
  };
  struct Job {
    JobSpec spec;
    State state = State::kGone;
    uint64_t flight = 0;  // what the peers call it; another one when what they know of it counts no more
    std::vector<WaiterId> waiters;
    std::map<std::string, size_t> tenants;     // how many of the waiters are whose
    absl::Time latest = absl::InfinitePast();  // the latest deadline of all who have waited
    absl::Time created, queued, started;
    absl::Time followed = absl::InfiniteFuture();   // since when another daemon runs it
    absl::Time abandoned = absl::InfiniteFuture();  // since when nobody waits for its end, which is near
    std::vector<Attempt> runs;                      // now: one, or two when hedged
    uint64_t claim = 0;                             // the lease kept while the peers are asked
    bool granted = false;                           // by the peers, for good
    std::string worker;                             // of the run that began last, or brought the outcome
    std::string stage;
    int attempts = 0;
    size_t callers = 0;
    int losses = 0;
    int flakes = 0;
  };
  struct IdleWaiter {
    absl::Time deadline;
    std::function<void(size_t)> callback;
  };
  // Callbacks collected under the lock, run after it.
  using Calls = std::vector<std::function<void()>>;
  static void Run(const Calls& calls);

  std::optional<Outcome> RefusalLocked(const JobSpec& spec) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Duration RetryDelayLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  WaiterId AddWaiterLocked(uint64_t job, Waiter waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  WaiterId JoinLocked(uint64_t job, const JobSpec& spec, Waiter waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SettleReserved(uint64_t job, std::optional<Outcome> stored);
  void EnterLocked(Job& job, State state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EnqueueLocked(uint64_t job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DispatchLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool StartOnLocked(const WorkerTable::Worker& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // When it was begun, here or elsewhere; now if it was not.
  absl::Time BegunLocked(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // When the last of its waiters gives up.
  absl::Time LatestLocked(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A new lease of a worker for a job; BeginLocked starts the job under it.
  uint64_t LeaseLocked(uint64_t job, const std::string& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void BeginLocked(uint64_t job, uint64_t lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives back the worker that was kept for the job.
  void DropClaimLocked(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ObeyLocked(uint64_t job, Verdict verdict, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void ForgetRun(Job& job, uint64_t lease);
  // The run's outcome is not wanted; its worker is told.
  void DropRunLocked(const Attempt& run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HedgeLocked(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // How long a job may run before it counts as stuck.
  absl::Duration StuckAfterLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Somebody waits for it until then.
  void ExtendRunsLocked(Job& job, absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // It waits no longer.
  Waiter TakeWaiterLocked(WaiterId waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // One of the tenant's waiters waits no longer.
  void DepartLocked(uint64_t job, const std::string& tenant) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RaiseLocked(uint64_t job, JobClass job_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Has the job compiled here, as `spec` wants it, unless it runs already.
  void RefreshLocked(uint64_t job, const JobSpec& spec) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A new number for the job among the peers; EndFlightLocked has them forget it.
  void NameFlightLocked(uint64_t job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndFlightLocked(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether somebody waits whom no stored outcome answers.
  bool WantsRunLocked(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Answers all others.
  void AnswerStoredLocked(uint64_t job, const Outcome& outcome, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A run has ended with this; whether the job is to run once more.
  bool RunAgainLocked(uint64_t job, uint64_t lease, const Outcome& outcome, Calls* calls)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool RetryFlakeLocked(uint64_t job, uint64_t lease, const Outcome& outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DescribeEndLocked(const Job& job, Outcome* outcome) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TellLocked(WaiterId waiter, const std::shared_ptr<const Outcome>& outcome, Calls* calls)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool LeaveLocked(WaiterId waiter, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AbandonLocked(uint64_t job, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CancelLocked(uint64_t job, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Those whose end was near and has not come.
  void CancelOverdueLocked(absl::Time now, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Tells the listener of the job's end.
  void ReportEndLocked(const Job& job, const std::shared_ptr<const Outcome>& outcome, Calls* calls)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  OpenJob DescribeLocked(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishLocked(uint64_t job, Outcome outcome, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SuspectLocked(const Job& job, uint64_t lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RetryOrFailLocked(uint64_t job, const Loss& loss, bool begun, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FailStrandedLocked(absl::Time now, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CheckIdleLocked(absl::Time now, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Job* JobOfLeaseLocked(uint64_t lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const SchedulerConfig config_;
  const Clock clock_;
  Executor& executor_;
  EndListener end_listener_;
  Peers* peers_ = nullptr;

  mutable absl::Mutex mu_;
  uint64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  JobQueue queue_ ABSL_GUARDED_BY(mu_);
  Quarantine quarantine_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, std::unique_ptr<Job>> jobs_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, uint64_t> by_key_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, uint64_t> by_flight_ ABSL_GUARDED_BY(mu_);  // with peers
  WaiterTable waiters_ ABSL_GUARDED_BY(mu_);
  WorkerTable workers_ ABSL_GUARDED_BY(mu_);
  std::map<Requirement, int> arriving_ ABSL_GUARDED_BY(mu_);  // jobs that are reserved or looked for
  std::map<Requirement, absl::Time> stranded_since_ ABSL_GUARDED_BY(mu_);
  std::vector<IdleWaiter> idle_waiters_ ABSL_GUARDED_BY(mu_);
  RunTimes run_times_ ABSL_GUARDED_BY(mu_);
  uint64_t started_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t lost_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t rejected_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t hedged_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t flaked_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_SCHEDULER_H_
