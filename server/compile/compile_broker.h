// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_COMPILE_BROKER_H_
#define SERVER_COMPILE_COMPILE_BROKER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/admin.pb.h"
#include "proto/v1/compile.pb.h"
#include "server/admission/byte_budget.h"
#include "server/admission/check_request.h"
#include "server/admission/target_catalog.h"
#include "server/cluster/cluster_link.h"
#include "server/compile/activity.h"
#include "server/compile/compile_answer.h"
#include "server/compile/device_desk.h"
#include "server/compile/metrics.h"
#include "server/compile/request_offers.h"
#include "server/compile/task_thread.h"
#include "server/compile/text_pool.h"
#include "server/jobs/progress_listener.h"
#include "server/results/error_memory.h"
#include "server/results/result_store.h"
#include "server/results/step_cache.h"
#include "server/results/stored_outcomes.h"
#include "server/scheduler/scheduler.h"
#include "workers/pool/worker_pool.h"

namespace tritond::server {

struct BrokerConfig {
  AdmissionLimits limits;
  SchedulerConfig scheduler;
  TargetCatalog::Config targets;
  uint64_t waiting_bytes = 0;  // most memory of the requests that wait or run; 0: no limit
  TextPool::Config texts;
  StoreLimits store;      // `inline_bytes` go into one response; clients take 4 MiB by default
  std::string spool_dir;  // for what is too large for memory; "": the system's
  absl::Duration error_lifetime = absl::Seconds(60);
  std::string version;
  std::string name;  // of this daemon, for people
};

class CompileCall;

// Takes a compile from its prepared request to its answer: key, cache, wait for a worker, queue, worker, cache. Ties
// the scheduler to the worker pool and to the caches. Every RPC is a thin function over it. Thread-safe. Does not own
// what it is given.
class CompileBroker final : public Executor, public workers::PoolListener {
 public:
  using Answered = std::function<void(absl::StatusOr<CompileAnswer>)>;

  // `notary` signs results of this daemon, and verifies others. `log` takes lines for the operator. `targets_changed`
  // gets the text that TargetCatalog::Restore takes after a restart.
  CompileBroker(BrokerConfig config, Clock clock, cache::Cache& results, cache::Cache& blobs, Notary& notary,
                Metrics& metrics, std::function<void(const std::string&)> log,
                std::function<void(const std::string&)> targets_changed);
  ~CompileBroker() override;
  // The pool that runs the jobs. Call it before the first request. The pool must outlive the broker's last request.
  void Connect(workers::WorkerPool& pool) {
    pool_ = &pool;
    devices_.Connect(pool);
  }
  // Shares work and results with other daemons from now on. Call it before the first request. The broker's own caches
  // then hold this daemon's entries alone.
  void JoinCluster(const ClusterAccess& access);

  // The stored result or the remembered error of this request; nothing when it must be compiled. Reads this daemon's
  // own caches and does not block otherwise. Results of other builds count in two cases, in the order of StoredKeys.
  // Either no worker of the target is attached or awaited and there is no cluster. Or the request says so
  // (CACHE_MODE_ANY_BUILD).
  std::optional<absl::StatusOr<CompileAnswer>> TryStored(const proto::PreparedRequest& request);
  // The stored result under a key, from this daemon or the cluster. NotFound, InvalidArgument. Calls `answered` once,
  // perhaps before it returns.
  void Lookup(const std::string& key, const std::string& tenant, Answered answered);
  // The same, but it counts nothing and may block.
  absl::StatusOr<std::shared_ptr<const StoredResult>> FindStored(const std::string& key);
  // Removes stored results and remembered errors from this daemon and the cluster. Fails as the caches do;
  // Unavailable (ENGINE_UNAVAILABLE) when the cluster still has some of them.
  absl::StatusOr<v1::EvictResponse> Evict(const std::vector<std::string>& keys);
  absl::StatusOr<v1::EvictResponse> EvictAll();
  // Fewer keys are trusted than before. Results in memory are verified again, remembered errors are dropped.
  void OnLessTrust();
  // The first of these that is stored.
  std::optional<absl::StatusOr<CompileAnswer>> FindFirst(const std::vector<std::string>& keys,
                                                         absl::string_view tenant);
  // A stored outcome as it is answered, and counted.
  absl::StatusOr<CompileAnswer> ToAnswer(const std::string& key, absl::string_view tenant, const Outcome& outcome);
  // Compiles what TryStored did not find. Calls `answered` exactly once, perhaps before it returns, with the errors of
  // CompileService.Compile. The call can be cancelled at any time.
  // `job_id` names the compile if this call starts it; "": a new name. `memory` holds MemoryOf(request) of the budget.
  // With an empty one the call takes the memory itself; where there is no room it can only join a running compile.
  std::shared_ptr<CompileCall> Compile(proto::PreparedRequest request, absl::Time deadline, Answered answered,
                                       std::string job_id = "", ByteBudget::Hold memory = {});
  // The memory of all requests that wait.
  ByteBudget& budget() { return budget_; }
  // How much of the budget a call with this request takes.
  static uint64_t MemoryOf(const v1::CompileRequest& request);
  // The error for a call that finds no room in the budget. Counts it.
  absl::Status MemoryFull();
  // Reads texts off gRPC's threads.
  TextPool& texts() { return texts_; }
  // The error for a call when too many texts wait to be read.
  absl::Status TextsFull() const;

  Scheduler& scheduler() { return scheduler_; }
  TargetCatalog& targets() { return targets_; }
  const TargetCatalog& targets() const { return targets_; }
  workers::WorkerPool& pool() { return *pool_; }
  Metrics& metrics() { return metrics_; }
  Activity& activity() { return activity_; }
  DeviceDesk& devices() { return devices_; }
  const BrokerConfig& config() const { return config_; }
  // Shares a result of this daemon with its cluster, in the background.
  void Share(const std::string& key, std::shared_ptr<const StoredResult> result) {
    if (cluster_ != nullptr) cluster_->Share(key, std::move(result));
  }
  // The cluster-wide turn to make a value that no worker makes, such as a tuning. Null without a cluster.
  std::unique_ptr<ClusterTurn> TurnFor(const std::string& key) {
    return cluster_ == nullptr ? nullptr : cluster_->TurnFor(key);
  }
  // Ends the turn with its result, in this cluster. Blocks.
  void ShareNow(ClusterTurn& turn, const StoredResult& result) { cluster_->ShareNow(turn, result); }
  // Artifacts and requests of this daemon and the cluster. Calls may block on the network.
  cache::Cache& blobs() { return cluster_ == nullptr ? blobs_ : cluster_->blobs(); }
  cache::Cache& own_blobs() { return blobs_; }
  // Null without a cluster.
  ClusterLink* cluster() { return cluster_.get(); }
  // Results and errors of this daemon by key.
  StoredOutcomes& outcomes() { return outcomes_; }
  ResultStore& store() { return store_; }
  const ResultStore& store() const { return store_; }
  Notary& notary() { return store_.notary(); }
  // Reports the progress of compiles to `listener`, which must outlive them. Call it before the first request.
  void ListenToProgress(ProgressListener& listener) { progress_ = &listener; }
  // The request's key; "" while its target is unknown.
  std::string KeyOf(const proto::PreparedRequest& request) const;
  // The keys under which a result of the request may be stored. First comes that of the active build, then those of
  // other builds that made results of the target, newest first.
  std::vector<std::string> StoredKeys(const proto::PreparedRequest& request) const;
  absl::Time Now() const { return clock_(); }
  absl::Time started() const { return started_; }

  // Runs the task on the thread that waits for disk writes, after the tasks that are queued there.
  void RunLater(std::function<void()> task) { tasks_.Run(std::move(task)); }
  // Runs the task on a thread that may block on the network.
  void RunBlocking(std::function<void()> task);
  void Tick();
  // Finishes the background work. Call it after the pool's last call and before the pool is destroyed.
  void Stop();

  // Executor, for the scheduler.
  void Start(const std::string& worker, uint64_t lease, const JobSpec& job, absl::Time deadline) override;
  void Extend(const std::string& worker, uint64_t lease, absl::Time deadline) override;
  void Cancel(const std::string& worker, uint64_t lease) override;

  // PoolListener, for the pool.
  void OnAttached(const std::string& worker, const v1::Hello& hello) override;
  void OnProgress(const std::string& worker, uint64_t lease, v1::Stage stage) override;
  void OnQuery(const std::string& worker, v1::StepQuery query) override;
  void OnOutcome(const std::string& worker, v1::CompileOutcome outcome) override;
  void OnMeasured(const std::string& worker, v1::MeasureOutcome outcome) override;
  void OnRetire(const std::string& worker) override;
  void OnEnded(const std::string& worker, const workers::WorkerEnd& end) override;
  void OnKilled(uint64_t lease, const std::string& report) override;
  void OnFailedStart() override;

 private:
  struct LeasedJob {
    std::string id;
    std::string key;
    std::string worker;
    std::shared_ptr<const v1::CompileRequest> request;  // Shared with the scheduler's job.
    std::shared_ptr<const StoredResult> recalled;       // What the worker was told to end with.
    std::vector<cache::Digest> sources;                 // Signers of what the worker was told.
  };

  std::optional<absl::StatusOr<CompileAnswer>> FindAnswer(const std::string& key, absl::string_view tenant,
                                                          absl::Time start);
  // Copies the steps that the cluster has to this daemon. Blocks.
  void FetchSteps(const v1::StepKeys& keys);
  void Report(const std::string& key, v1::Stage stage);
  // Stores the result of an outcome. Leaves in `outcome` the parts that StepCache stores.
  Outcome Settle(const LeasedJob& job, v1::CompileOutcome* outcome);
  void Complain(const std::string& key, const absl::Status& kept);
  Outcome SettleFailure(const LeasedJob& job, const v1::CompileOutcome& outcome);

  const BrokerConfig config_;
  const Clock clock_;
  const absl::Time started_;
  cache::Cache& blobs_;
  Metrics& metrics_;
  Activity activity_;
  const std::function<void(const std::string&)> log_;
  const std::function<void(const std::string&)> targets_changed_;
  ByteBudget budget_;  // Before all that holds requests.
  ResultStore store_;
  StepCache steps_;
  ErrorMemory errors_;
  StoredOutcomes outcomes_;
  RequestOffers offers_;
  TargetCatalog targets_;
  DeviceDesk devices_;
  Scheduler scheduler_;
  workers::WorkerPool* pool_ = nullptr;
  ProgressListener* progress_ = nullptr;

  absl::Mutex mu_;
  absl::flat_hash_map<uint64_t, LeasedJob> leased_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, v1::Hello> hellos_ ABSL_GUARDED_BY(mu_);  // by worker
  std::unique_ptr<ClusterLink> cluster_;
  TaskThread tasks_;  // Its tasks use everything above,
  TextPool texts_;    // and these that too.
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_COMPILE_BROKER_H_
