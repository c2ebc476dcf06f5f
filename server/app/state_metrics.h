// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_STATE_METRICS_H_
#define SERVER_APP_STATE_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <array>
#include <map>
#include <string>

#include "absl/synchronization/mutex.h"
#include "server/cluster/single_flight.h"
#include "server/cluster/work_sharing.h"
#include "server/retention/result_index.h"
#include "server/scheduler/scheduler.h"
#include "server/tunings/program_tuning_desk.h"

namespace tritond::server {

// The daemon's state in the registry that /metrics shows: each part is set from its owner's numbers before a scrape.
// Thread-safe; the registry outlives it.
class StateMetrics final {
 public:
  explicit StateMetrics(prometheus::Registry& registry);

  // Shows the scheduler's state.
  void SetQueues(const Scheduler::Stats& stats);
  // Shows the memory of what waits.
  void SetWaiting(uint64_t held, uint64_t limit);
  // Shows the texts that wait to be read.
  void SetTexts(size_t waiting, uint64_t waiting_bytes);
  // Shows whether the cluster's engine answers.
  void SetCluster(bool answers) { cluster_up_.Set(answers ? 1 : 0); }
  // Shows what is shared with the cluster.
  void SetSharing(const SingleFlight::Stats& flights, const WorkSharing::Stats& sharing);
  // Shows what programs that tune themselves share.
  void SetTunings(const ProgramTuningDesk::Stats& stats, size_t stored);
  // Shows what the cache holds.
  void SetStored(const ResultIndex& index);

 private:
  // Brings a counter to the total that somebody else has counted.
  void Raise(uint64_t total, prometheus::Counter* counter);

  absl::Mutex mu_;  // Two scrapes may raise a counter at once.
  prometheus::Counter& leases_;
  prometheus::Counter& rejected_;
  prometheus::Counter& hedged_;
  prometheus::Counter& flaked_;
  prometheus::Gauge& waiting_bytes_;
  prometheus::Gauge& waiting_limit_;
  prometheus::Gauge& waiting_texts_;
  prometheus::Gauge& waiting_text_bytes_;
  prometheus::Gauge& cluster_up_;
  prometheus::Gauge& cluster_held_;
  prometheus::Gauge& cluster_following_;
  prometheus::Counter& cluster_granted_;
  prometheus::Counter& cluster_lost_;
  prometheus::Counter& cluster_followed_;
  prometheus::Counter& cluster_unleased_;
  prometheus::Counter& cluster_offered_;
  prometheus::Counter& cluster_taken_;
  prometheus::Gauge& stored_bytes_;
  prometheus::Gauge& stored_results_;
  prometheus::Counter& deduplicated_;
  std::map<std::string, prometheus::Counter*> tuning_events_;
  std::map<std::string, prometheus::Gauge*> tunings_;  // by state
  std::array<prometheus::Gauge*, kJobClasses> queued_;
  std::array<prometheus::Gauge*, kJobClasses> running_;
};

}  // namespace tritond::server

#endif  // SERVER_APP_STATE_METRICS_H_
