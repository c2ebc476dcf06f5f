// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_JOB_STORE_H_
#define SERVER_JOBS_JOB_STORE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/api/journal.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/compile.pb.h"
#include "server/jobs/job_id.h"
#include "server/jobs/job_request.h"
#include "server/jobs/job_watch.h"
#include "server/jobs/progress_listener.h"
#include "server/jobs/task_queue.h"
#include "server/scheduler/job_queue.h"

namespace tritond::server {

struct JobStoreConfig {
  size_t max_open = 100000;  // jobs that have not ended; more are refused
  size_t max_open_per_tenant = 50000;
  size_t max_started = 1000;  // of these, handed to the runner at once
  absl::Duration keep_ended = absl::Hours(24);
  size_t max_ended = 10000;  // the oldest go first
};

// How a job's compile ended.
struct JobEnd {
  absl::Status status;            // with its details
  v1::CompileResponse response;   // when ok; without blobs
  v1::Failure failure;            // when not
  absl::Duration retry_after;     // not zero: nothing is decided, try again after this
  bool waits_for_worker = false;  // for want of a fit worker: each time the pause grows, up to a minute
  uint32_t attempts = 0;
};

// What compiles.
class JobRunner {
 public:
  // Hears the request key as soon as it is known, before the compile begins.
  using Keyed = std::function<void(const std::string& key)>;
  using Done = std::function<void(JobEnd)>;
  virtual ~JobRunner() = default;
  // Whether a job whose request has so many bytes may begin now; asked again soon. Called with the store locked: must
  // neither block nor call back.
  virtual bool HasRoom(uint64_t request_bytes) = 0;
  // Whether another try of a job that waits for a worker of the target may come to anything. Called as HasRoom is.
  virtual bool MayRun(const std::string& target) = 0;
  // Begins. `keyed` is called at most once, and before `done`, which is called once: on any thread, perhaps before this
  // returns. With Cancelled after Stop, unless the compile was faster. Does not block.
  virtual void Start(const std::string& id, JobRequest request, Keyed keyed, Done done) = 0;
  virtual void Stop(const std::string& id) = 0;
};

// Submitted jobs: each is in the journal before its submitter hears of it, and runs until it has ended, over restarts
// of the daemon. Classes and tenants take turns (JobQueue) in being handed to the runner. Requests stay in the journal:
// each is read when its job is handed over, so memory holds as many as have begun. Jobs that have ended are kept for a
// while.
//
// Thread-safe. What writes the journal runs one after the other on `tasks`; Submit, Cancel and Load are to be called
// there too. The rest never blocks. Watchers are called without locks, on any thread.
class JobStore final : public ProgressListener {
 public:
  using Clock = std::function<absl::Time()>;
  using Watcher = JobWatch::Watcher;

  // `clock` for what lasts, `wall_clock` for what is written down: times of records mean something to another run.
  JobStore(JobStoreConfig config, Clock clock, Clock wall_clock, cache::Journal& journal, JobRunner& runner,
           TaskQueue& tasks);

  // Reads the journal; jobs that had not ended begin again. Records that cannot be read are reported and left alone.
  absl::Status Load(const std::function<void(const std::string&)>& log);

  // The job, queued, as it is in the journal now. The same one for the same tenant's idempotency key while it is kept,
  // or AlreadyExists when that job is for something else. Of a job that had ended before the daemon began only the
  // target is known. `key`: of the build that is here now; "": not known yet. ResourceExhausted when there are too many
  // open jobs, of all or of this tenant, or the disk is full; Unavailable after Close. Errors have their Reason.
  absl::StatusOr<v1::Job> Submit(const proto::PreparedRequest& request, const std::string& idempotency_key,
                                 const std::string& key);
  // NotFound for an unknown id.
  absl::StatusOr<v1::Job> Get(absl::string_view id) const;
  // Newest first, those older than `after` (a job's id, or ""), at most `limit`; `states` empty and tenant "": all.
  std::vector<v1::Job> List(const std::set<v1::JobState>& states, absl::string_view tenant, absl::string_view after,
                            size_t limit) const;
  // A job that has ended stays as it is. NotFound for an unknown id.
  absl::StatusOr<v1::Job> Cancel(absl::string_view id);

  // Calls the watcher now and at each change, in the order of the changes and never twice at once. The last time with a
  // state that is an end. NotFound for an unknown id. No call begins after Unwatch, which each watch is to end with.
  absl::StatusOr<uint64_t> Watch(absl::string_view id, Watcher watcher);
  void Unwatch(uint64_t watch);

  void OnProgress(absl::string_view key, v1::Stage stage) override;
  // Starts jobs whose turn has come, and forgets old ones.
  void Tick();
  // Starts and records nothing more: open jobs are left in the journal for the next run.
  void Close();

  // Jobs that have not ended.
  size_t open() const;
  // Those that wait for another try for want of a worker, by target.
  std::map<std::string, size_t> WaitingForWorkers() const;

  static bool HasEnded(v1::JobState state);

 private:
  struct Record {
    uint64_t number = 0;  // in the queue, by order of submission
    v1::Job job;
    uint64_t request_bytes = 0;  // in the journal
    bool as_sent = false;        // so is the request in the journal
    bool started = false;        // the runner has it
    bool cancelled = false;
    bool waits_for_worker = false;  // the latest try ended so
    int tries_without = 0;          // how many did in a row
    std::string digest;             // PreparedRequest::Key of no build, with an idempotency key; "": not known
    std::vector<uint64_t> watches;
  };
  using Calls = std::vector<std::shared_ptr<JobWatch>>;        // that have states to deliver
  using IdempotencyKey = std::pair<std::string, std::string>;  // tenant and key

  absl::Status RefusalLocked(const std::string& tenant) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  struct Stored {
    uint64_t bytes = 0;  // Sizes alone: together they may be more than memory holds.
    bool as_sent = false;
    std::string digest;  // as Record's
  };
  // The requests that the journal has, by their jobs' ids; digests of those that `idempotent` names.
  absl::Status LoadRequests(const std::set<std::string>& idempotent, std::map<std::string, Stored>* requests,
                            const std::function<void(const std::string&)>& log);
  void InsertLocked(v1::Job job, Stored request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveRequest(const std::string& id, bool as_sent);
  void EnqueueLocked(const Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Puts those whose pause is over into the queue.
  void EndPausesLocked(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetWaitsLocked(Record& record, bool waits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The job is not decided: it is to be tried again.
  void PauseLocked(Record& record, const JobEnd& end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The job whose turn it is to start; nothing while none may.
  std::optional<std::string> NextLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void Run(const Calls& calls);
  void NotifyLocked(Record& record, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartSome();
  // The compile of a job that has started has this key.
  void SetKey(const std::string& id, const std::string& key);
  // The job's request, from the journal. When it is not to be had, the job has ended with that, or waits for another
  // try.
  std::optional<JobRequest> ReadRequest(const std::string& id);
  void OnDone(const std::string& id, JobEnd end);
  void End(const std::string& id, const JobEnd& end);
  void ForgetOld();
  absl::Status Write(const v1::Job& job);

  const JobStoreConfig config_;
  const Clock clock_, wall_clock_;
  cache::Journal& journal_;
  JobRunner& runner_;
  TaskQueue& tasks_;

  mutable absl::Mutex mu_;
  JobIdMaker ids_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Record, std::less<>> records_ ABSL_GUARDED_BY(mu_);  // by id, which is by time
  JobQueue queue_ ABSL_GUARDED_BY(mu_);                                      // numbers of those that may start
  std::optional<uint64_t> head_ ABSL_GUARDED_BY(mu_);                        // whose turn it is, once there is room
  std::map<uint64_t, std::string> by_number_ ABSL_GUARDED_BY(mu_);           // open ids
  std::multimap<absl::Time, std::string> delayed_ ABSL_GUARDED_BY(mu_);      // ids that may start from then on
  std::map<IdempotencyKey, std::string> by_idempotency_key_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::set<std::string>> by_key_ ABSL_GUARDED_BY(mu_);  // request key to open ids
  // To ids and their watches, which are shared with the threads that deliver.
  std::map<uint64_t, std::pair<std::string, std::shared_ptr<JobWatch>>> watches_ ABSL_GUARDED_BY(mu_);
  std::deque<std::string> ended_ ABSL_GUARDED_BY(mu_);  // ids, the one that ended first in front
  uint64_t next_watch_ ABSL_GUARDED_BY(mu_) = 1;
  uint64_t next_number_ ABSL_GUARDED_BY(mu_) = 1;
  size_t open_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::string, size_t> open_of_ ABSL_GUARDED_BY(mu_);              // tenants
  std::map<std::string, size_t> waiting_for_workers_ ABSL_GUARDED_BY(mu_);  // by target
  size_t started_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tritond::server

#endif  // SERVER_JOBS_JOB_STORE_H_
