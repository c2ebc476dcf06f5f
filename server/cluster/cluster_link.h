// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_CLUSTER_CLUSTER_LINK_H_
#define SERVER_CLUSTER_CLUSTER_LINK_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/api/cache.h"
#include "cache/api/stats.h"
#include "cache/coordination/job_stream.h"
#include "cache/coordination/key_lease_table.h"
#include "server/admission/byte_budget.h"
#include "server/cluster/cluster_turn.h"
#include "server/cluster/offer_format.h"
#include "server/cluster/remote_waiters.h"
#include "server/cluster/single_flight.h"
#include "server/cluster/timed_threads.h"
#include "server/cluster/work_sharing.h"
#include "server/results/result_store.h"
#include "server/results/stored_outcomes.h"
#include "server/scheduler/scheduler.h"

namespace tritond::server {

// What a daemon has of its cluster. Not owned.
struct ClusterAccess {
  cache::Cache& blobs;  // this daemon's and the cluster's
  cache::Cache& shared_results;
  cache::Cache& shared_blobs;
  cache::KeyLeaseTable& leases;
  cache::JobStream& jobs;
  std::function<std::vector<cache::EngineNode>()> nodes;  // of the engine
  absl::Duration lease = absl::Seconds(5);
};

// A daemon's part in its cluster: shares what is compiled here, keeps what others compiled, takes offered jobs. What
// waits for the network runs on threads of its own. Thread-safe.
class ClusterLink final : SingleFlight::Host, WorkSharing::Host, RemoteWaiters::Host {
 public:
  // What it links. Not owned.
  struct Local {
    Clock clock;
    Scheduler& scheduler;
    ResultStore& store;
    StoredOutcomes& outcomes;
    OfferFormat& offers;
    absl::Duration error_lifetime;
  };
  ClusterLink(Local local, const ClusterAccess& access);
  ~ClusterLink() override;
  // Begins to offer and to take jobs.
  void Begin() { sharing_.Begin(); }
  // Waits for what is to be published; nothing runs afterwards. Idempotent.
  void Stop() {
    reminders_.Stop();
    uploads_.Stop();
    claims_.Stop();
    threads_.Stop();
  }

  // Runs the task where it may block on the network.
  void Run(std::function<void()> task) { threads_.RunAfter(absl::ZeroDuration(), std::move(task)); }

  // The outcome that the cluster has under the key; a result is kept here too. Blocks.
  std::optional<Outcome> Find(const std::string& key) { return flights_.Find(key); }
  // Whether the engine answers fast enough to be asked for what may save a part of a compile.
  bool IsQuick();
  // Hands what was compiled here to the cluster, in the background. Where too much waits for that already, the result
  // is not shared. `then` hears whether it was.
  void Share(const std::string& key, std::shared_ptr<const StoredResult> result,
             std::function<void(bool)> then = nullptr);
  void ShareError(const std::string& key, const absl::Status& error);
  // The turn to make what no worker makes; null when the key is none.
  std::unique_ptr<ClusterTurn> TurnFor(const std::string& key);
  // Ends the turn with its result. Blocks.
  void ShareNow(ClusterTurn& turn, const StoredResult& result);
  // The key and the other names of its result, this daemon's or, though it may not be had whole, the engine's. Blocks.
  std::vector<cache::Digest> NamesOf(const std::string& key);
  // Has the cluster forget results and errors too; how many the engine had. Blocks; what the engine does not do now
  // expires there. The first error, after trying all.
  struct Forgotten {
    uint64_t results = 0;
    uint64_t blobs = 0;
  };
  absl::StatusOr<Forgotten> Forget(const std::vector<cache::Digest>& keys, const std::vector<cache::Digest>& blobs);
  // The same of all that the engine has; leases stay.
  absl::StatusOr<Forgotten> ForgetAll();
  void ForgetError(const std::string& key) { flights_.ForgetError(key); }

  cache::Cache& blobs() { return access_.blobs; }
  Peers& peers() { return flights_; }
  std::vector<cache::EngineNode> nodes() const { return access_.nodes(); }
  SingleFlight::Stats flight_stats() const { return flights_.GetStats(); }
  WorkSharing::Stats sharing_stats() const { return sharing_.GetStats(); }

 private:
  SingleFlight::Config FlightConfig(const std::string& name) const;
  WorkSharing::Config SharingConfig(const std::string& name) const;

  // SingleFlight::Host. A result that is fetched is kept here.
  std::optional<Outcome> Fetch(const std::string& key) override;
  std::optional<Outcome> ReadError(const std::string& key, const std::string& owner, const std::string& error) override;
  void Decide(uint64_t job, Verdict verdict) override { local_.scheduler.Decide(job, std::move(verdict)); }
  void OnSettled(uint64_t job, bool taken) override { sharing_.Settled(job, taken); }
  void OnRenewed(const std::string& key, bool followed) override { remote_.Heard(key, followed); }

  // WorkSharing::Host.
  std::vector<Scheduler::WaitingJob> NextWaiting(absl::Duration at_least, const OfferFilter& filter) override;
  std::map<Requirement, int> IdleSlots() override { return local_.scheduler.IdleSlots(); }
  std::optional<std::string> WriteOffer(const JobSpec& spec, const std::string& asker) override;
  void RunOffer(const cache::StreamEntry& entry, const Requirement& needs, std::function<void(bool)> done) override;
  void WatchJob(uint64_t job) override { flights_.Watch(job); }

  // RemoteWaiters::Host.
  uint64_t JoinJob(const std::string& key, absl::Time deadline, std::function<void()> ended) override;
  bool LeaveJob(uint64_t waiter) override { return local_.scheduler.Leave(waiter); }
  void ExtendWait(uint64_t waiter, absl::Time deadline) override { local_.scheduler.Extend(waiter, deadline); }

  Notary& notary() const { return local_.store.notary(); }
  absl::StatusOr<cache::Blob> FetchBlob(const std::string& hex);
  absl::Status Upload(const StoredResult& result);
  // Has the offer's asker find how its job ended here; `done` then hears whether it can.
  void AnswerOffer(const std::string& key, const std::string& asker, const Outcome& outcome,
                   std::function<void(bool)> done);

  const Local local_;
  const ClusterAccess access_;
  const std::string name_;  // of this run of this daemon
  TimedThreads threads_;    // which wait for the network
  TimedThreads claims_;     // which wait for it too, and workers and leases for them
  TimedThreads uploads_;    // which wait for it too, and for large answers
  TimedThreads reminders_;  // which wait for nothing
  ByteBudget upload_bytes_;
  std::atomic<uint64_t> turns_{0};
  absl::Mutex pace_mu_;
  absl::Time judged_ ABSL_GUARDED_BY(pace_mu_) = absl::InfinitePast();
  bool quick_ ABSL_GUARDED_BY(pace_mu_) = true;
  RemoteWaiters remote_;
  SingleFlight flights_;
  WorkSharing sharing_;
};

}  // namespace tritond::server

#endif  // SERVER_CLUSTER_CLUSTER_LINK_H_
