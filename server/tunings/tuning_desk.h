// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_TUNINGS_TUNING_DESK_H_
#define SERVER_TUNINGS_TUNING_DESK_H_

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/v1/autotune.pb.h"
#include "server/admission/waiting_caller.h"
#include "server/cluster/cluster_turn.h"
#include "server/compile/compile_broker.h"
#include "server/tunings/tuning_run.h"

namespace tritond::server {

// What a tuning has said so far, for all who follow it. Thread-safe. Shared by the tuning and its followers.
class TuningProgress final {
 public:
  // Adds an event. Followers see all, those of before they came too.
  void Say(v1::AutotuneResponse event);
  // The last word; once. Ok: the last event holds the tuning.
  void End(absl::Status status);

  // Waits for the event of this number, counted from 0, at most so long. Nothing: it has not come, or there is none.
  std::optional<v1::AutotuneResponse> Await(size_t number, absl::Duration within);
  // Once every event has been taken; nothing while it goes on.
  std::optional<absl::Status> Ended() const;

  // The latest report of each candidate, in their order, without samples; and the tuning's winner, once it has one.
  std::vector<v1::CandidateReport> Reports(std::optional<uint32_t>* winner) const;

  void Follow();
  void Leave();
  bool IsFollowed() const;

 private:
  mutable absl::Mutex mu_;
  std::vector<v1::AutotuneResponse> events_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mu_);
  int followers_ ABSL_GUARDED_BY(mu_) = 0;
};

// A tuning as the status page shows it.
struct TuningGlimpse {
  std::string key, label, tenant, device;
  absl::Time started;
  std::optional<absl::Status> end;  // nothing: it goes on
  std::optional<uint32_t> winner;   // index of a candidate
  std::vector<v1::CandidateReport> candidates;
};

// The tunings of this daemon: one at a time under a key in the whole cluster; stored ones are found. A
// tuning is stored as a result whose one artifact is the message. So it is kept, shared in the cluster, evicted and
// bundled as compiles are. Thread-safe.
class TuningDesk final {
 public:
  static constexpr int kMostTunings = 16;  // at once, each with a thread

  explicit TuningDesk(CompileBroker& broker) : broker_(broker) {}
  ~TuningDesk() { Stop(); }

  // Begins a tuning, joins the one under the same key, or finds the stored one; followed already, until Leave.
  // Blocks while it reads the request and the cache. Errors are those of AutotuneService.Autotune that need no device.
  // `joined`: another caller began it.
  absl::StatusOr<std::shared_ptr<TuningProgress>> Begin(v1::AutotuneRequest request, WaitingCaller& waiting,
                                                        bool* joined);
  // A stored tuning. NotFound, InvalidArgument. Blocks.
  absl::StatusOr<v1::Tuning> Find(const std::string& key);
  // Those that ran here last, the newest first.
  std::vector<TuningGlimpse> Latest() const;
  // Runs the task where it may block on the network.
  void RunBlocking(std::function<void()> task) { broker_.RunBlocking(std::move(task)); }
  // Ends all tunings, and waits for their threads. Before the broker's end.
  void Stop();

 private:
  struct Running {
    std::string key;
    std::shared_ptr<TuningProgress> progress;  // Shared with those who follow it.
    std::thread thread;
    bool over = false;
  };
  struct Seen {
    TuningGlimpse glimpse;                     // without what changes
    std::shared_ptr<TuningProgress> progress;  // Shared with the tuning.
  };
  static constexpr size_t kLatest = 6;

  // Reads the candidates' texts in their caller's turn (TextPool), and blocks meanwhile.
  absl::StatusOr<std::vector<proto::PreparedRequest>> ReadCandidates(v1::AutotuneRequest* request,
                                                                     const std::string& target, WaitingCaller& caller);
  // The whole life of a tuning, on its thread; what it ends with.
  absl::Status Tune(TuningRun::Task task, TuningProgress& progress);
  // The tuning, measured here.
  absl::StatusOr<v1::Tuning> Measure(TuningRun::Task task, TuningProgress& progress, WaitingCaller& caller);
  // Stores it here and, under the turn where there is one, in the cluster.
  absl::Status Keep(const v1::Tuning& tuning, const std::string& target, ClusterTurn* turn);
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  CompileBroker& broker_;
  std::atomic<bool> stopped_{false};
  mutable absl::Mutex mu_;
  std::deque<Seen> latest_ ABSL_GUARDED_BY(mu_);  // the newest first
  std::list<Running> running_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_TUNINGS_TUNING_DESK_H_
