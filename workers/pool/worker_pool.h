// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_POOL_WORKER_POOL_H_
#define WORKERS_POOL_WORKER_POOL_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/v1/admin.pb.h"
#include "proto/v1/worker.grpc.pb.h"
#include "proto/v1/worker.pb.h"
#include "workers/pool/child_processes.h"
#include "workers/pool/session.h"

namespace tritond::workers {

// Why a worker is gone, and what it was doing.
struct WorkerEnd {
  enum class Kind { kDisconnected, kCrashed, kTimeLimit, kStopped };
  Kind kind = Kind::kDisconnected;
  std::string report;
  std::vector<uint64_t> begun;  // leases under way that nobody had cancelled; with kTimeLimit the one that overran
};

// Hears what workers do. Called without the pool's locks, for one worker in order: attached, then anything, then ended.
class PoolListener {
 public:
  virtual ~PoolListener() = default;
  virtual void OnAttached(const std::string& worker, const v1::Hello& hello) = 0;
  virtual void OnProgress(const std::string& worker, uint64_t lease, v1::Stage stage) = 0;
  // The worker waits for Answer. This and OnOutcome: only for leases that the worker holds.
  virtual void OnQuery(const std::string& worker, v1::StepQuery query) = 0;
  virtual void OnOutcome(const std::string& worker, v1::CompileOutcome outcome) = 0;
  // The same for leases of devices.
  virtual void OnMeasured(const std::string& worker, v1::MeasureOutcome outcome) {}
  // The worker is about to end. Once this has returned, no Start may name it.
  virtual void OnRetire(const std::string& worker) = 0;
  virtual void OnEnded(const std::string& worker, const WorkerEnd& end) = 0;
  // A worker that had ended with kDisconnected under this lease was killed, as its supervisor says. Before OnAttached
  // of the process that brings the word.
  virtual void OnKilled(uint64_t lease, const std::string& report) = 0;
  // A process of this machine ended before it had attached.
  virtual void OnFailedStart() = 0;
};

struct PoolConfig {
  ChildProcesses::Config children;
  absl::Duration heartbeat_interval = absl::Seconds(1);
  absl::Duration lost_after = absl::Seconds(3);        // of silence
  absl::Duration job_time_limit = absl::Seconds(120);  // wall time of one lease
  absl::Duration cancel_grace = absl::Seconds(2);  // a local worker that goes on with a cancelled lease is killed then
  absl::Duration exit_grace = absl::Seconds(2);    // between the end of a child's stream and the end of the child
  uint64_t max_ir_bytes = 0;
  // Whether this caller may attach; null: everyone.
  std::function<grpc::Status(const grpc::CallbackServerContext&)> admit;
};

// The workers of this daemon: children on this machine, and whoever else attaches. Knows which lease is where, notices
// silence, overrun and death, and says so. Thread-safe; someone calls Tick often. Must outlive the gRPC server that
// serves it.
class WorkerPool final : public v1::WorkerService::CallbackService {
 public:
  WorkerPool(PoolConfig config, std::function<absl::Time()> clock, std::function<void(const std::string&)> log,
             PoolListener& listener);

  // Starts the children. They dial the address in their command line, so the server listens by then.
  void StartChildren();
  // Ends the children: those that are idle the patient way first, the others at once, because nobody waits for what
  // they do. Blocks. Streams of other workers end with the server.
  void StopChildren(absl::Duration grace);

  // Hands the lease to the worker, which need not go on with it after `deadline`. Neither blocks nor calls the
  // listener; dropped when the worker is gone.
  void Start(const std::string& worker, v1::Lease lease, absl::Time deadline);
  // Puts the lease's deadline off. Likewise.
  void Extend(const std::string& worker, uint64_t lease, absl::Time deadline);
  // Answers a query. Likewise.
  void Answer(const std::string& worker, v1::StepAnswer answer);
  // The result is not wanted any more. Likewise.
  void Cancel(const std::string& worker, uint64_t lease);

  void Tick();

  // Attached workers, then children that are not attached.
  std::vector<v1::Worker> List() const;

  grpc::ServerBidiReactor<v1::WorkerMessage, v1::DaemonMessage>* Attach(grpc::CallbackServerContext* context) override;

 private:
  struct LeaseRecord {
    absl::Time started;
    bool begun = false;
    absl::Time cancelled = absl::InfiniteFuture();
    absl::Time deadline = absl::InfiniteFuture();
  };
  struct WorkerRecord {
    std::string id;
    v1::Hello hello;
    std::shared_ptr<Session> session;  // Shared with gRPC's side of the stream.
    bool local = false;
    absl::Time attached, last_heard;
    uint64_t resident_bytes = 0;
    std::map<uint64_t, LeaseRecord> leases;
    bool announced = false;  // the listener has been told that it is attached
    bool retiring = false;   // by its own word
    // Set when its end is near: by a kill of ours, or by the end of its stream.
    absl::Time ending = absl::InfiniteFuture();
    WorkerEnd planned;
  };
  // A worker of another machine that vanished with leases whose outcome was wanted. Its supervisor may tell how.
  struct Vanished {
    std::string supervisor;
    std::set<uint64_t> leases;
    absl::Time when;
  };
  using Calls = std::vector<std::function<void()>>;

  void OnMessage(const std::shared_ptr<Session>& session, v1::WorkerMessage message);
  void OnStreamEnd(const std::shared_ptr<Session>& session);
  void OnChildEnd(const ChildEnd& end);
  void Welcome(const std::shared_ptr<Session>& session, const v1::Hello& hello);
  void CheckLocked(WorkerRecord* worker, absl::Time now, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndLocked(WorkerRecord* worker, WorkerEnd::Kind kind, const std::string& report, std::vector<uint64_t> begun,
                 Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveLocked(std::string id, WorkerEnd end, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What the supervisor of this newcomer says of the process before it.
  void HearOfLastEndLocked(const v1::Hello& hello, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  WorkerRecord* FindLocked(const std::shared_ptr<Session>& session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Somebody waits for its outcome.
  static bool IsWanted(const LeaseRecord& lease, absl::Time now);
  // The leases that may be to blame when their worker crashes now.
  std::vector<uint64_t> SuspectsOf(const WorkerRecord& worker) const;
  v1::Worker Describe(const WorkerRecord& worker) const;

  const PoolConfig config_;
  const std::function<absl::Time()> clock_;
  const std::function<void(const std::string&)> log_;
  PoolListener& listener_;

  mutable absl::Mutex mu_;
  std::map<std::string, WorkerRecord> workers_ ABSL_GUARDED_BY(mu_);
  std::deque<Vanished> vanished_ ABSL_GUARDED_BY(mu_);  // the latest at the end
  uint64_t next_worker_ ABSL_GUARDED_BY(mu_) = 1;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<ChildProcesses> children_;
};

}  // namespace tritond::workers

#endif  // WORKERS_POOL_WORKER_POOL_H_
