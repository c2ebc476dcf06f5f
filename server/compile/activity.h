// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_ACTIVITY_H_
#define SERVER_COMPILE_ACTIVITY_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/compile/metrics.h"
#include "server/history/job_history.h"
#include "server/history/kept_texts.h"
#include "server/history/latency_series.h"
#include "server/jobs/job_id.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// What happened lately: the record of each compile that has ended, and how long hits, waits and compiles took. Names
// compiles too. Thread-safe. Does not own the metrics, which it counts into.
class Activity final {
 public:
  Activity(Clock clock, Metrics& metrics);

  // An id for a compile that nothing has named yet.
  std::string NewJobId();
  // As the scheduler's EndListener.
  void OnEnd(const FinishedJob& job, const Outcome& outcome);
  // A request was answered from what is stored.
  void OnHit(absl::Duration took);

  const JobHistory& jobs() const { return jobs_; }
  // The serialized requests of compiles that failed, by job: what is made has its request in the store.
  const KeptTexts& failed_requests() const { return failed_requests_; }
  const LatencySeries& hits() const { return hits_; }
  const LatencySeries& waits() const { return waits_; }
  const LatencySeries& runs() const { return runs_; }

 private:
  // So that a failure can be looked at, and had again.
  void KeepRequest(const FinishedJob& job, JobRecord* record);

  const Clock clock_;
  Metrics& metrics_;
  JobHistory jobs_;
  KeptTexts failed_requests_;
  LatencySeries hits_, waits_, runs_;
  absl::Mutex mu_;
  JobIdMaker ids_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_ACTIVITY_H_
