// SPDX-License-Identifier: Apache-2.0
#include "server/app/state_metrics.h"

#include "server/compile/metric_builders.h"
#include "server/compile/metrics.h"

namespace tritond::server {

StateMetrics::StateMetrics(prometheus::Registry& registry)
    : leases_(MakeCounter(registry, "tritond_leases_total", "Leases given to workers.")),
      rejected_(MakeCounter(registry, "tritond_rejected_total", "Requests refused because the queue was full.")),
      hedged_(
          MakeCounter(registry, "tritond_hedged_total", "Slow compiles that were also started on a second worker.")),
      flaked_(MakeCounter(registry, "tritond_flaked_total", "Compiles that failed with INTERNAL and were run again.")),
      waiting_bytes_(MakeGauge(registry, "tritond_waiting_bytes", "Memory of requests that wait or run.")),
      waiting_limit_(MakeGauge(registry, "tritond_waiting_limit_bytes",
                               "Limit of the memory of requests that wait or run; 0: no limit.")),
      waiting_texts_(MakeGauge(registry, "tritond_waiting_texts", "Requests whose IR waits to be read.")),
      waiting_text_bytes_(
          MakeGauge(registry, "tritond_waiting_text_bytes", "Memory of Compile requests that wait to be read.")),
      cluster_up_(
          MakeGauge(registry, "tritond_cluster_up", "1: the cluster's engine answers, or the daemon has no engine.")),
      cluster_held_(MakeGauge(registry, "tritond_cluster_leases_held", "Key leases that this daemon holds.")),
      cluster_following_(
          MakeGauge(registry, "tritond_cluster_following", "Jobs that follow the compile of another daemon.")),
      cluster_granted_(MakeCounter(registry, "tritond_cluster_leases_total", "Key leases granted to this daemon.")),
      cluster_lost_(MakeCounter(registry, "tritond_cluster_leases_lost_total",
                                "Key leases lost to another daemon while the compile ran.")),
      cluster_followed_(
          MakeCounter(registry, "tritond_cluster_followed_total", "Jobs answered by the compile of another daemon.")),
      cluster_unleased_(MakeCounter(registry, "tritond_cluster_unleased_total",
                                    "Compiles without a key lease because the engine did not answer in time.")),
      cluster_offered_(MakeCounter(registry, "tritond_cluster_jobs_total", "Waiting jobs moved between daemons.",
                                   {{"event", "offered"}})),
      cluster_taken_(MakeCounter(registry, "tritond_cluster_jobs_total", "Waiting jobs moved between daemons.",
                                 {{"event", "taken"}})),
      stored_bytes_(
          MakeGauge(registry, "tritond_stored_bytes", "Bytes of stored results and artifacts before compression.")),
      stored_results_(MakeGauge(registry, "tritond_stored_results", "Stored results.")),
      deduplicated_(
          MakeCounter(registry, "tritond_deduplicated_total", "Artifacts of new results that were already stored.")) {
  for (const char* event : {"shared", "granted", "measured", "lost", "refused"}) {
    tuning_events_[event] = &MakeCounter(registry, "tritond_program_tuning_events_total",
                                         "Tunings of programs that tune themselves, by event.", {{"event", event}});
  }
  for (const char* state : {"measuring", "waiting", "stored"}) {
    tunings_[state] = &MakeGauge(registry, "tritond_program_tunings",
                                 "Tunings of programs that are measured, awaited or stored.", {{"state", state}});
  }
  for (int i = 0; i < kJobClasses; ++i) {
    const std::string name = JobClassName(static_cast<JobClass>(i));
    queued_[i] =
        &MakeGauge(registry, "tritond_jobs", "Jobs by class and state.", {{"class", name}, {"state", "queued"}});
    running_[i] =
        &MakeGauge(registry, "tritond_jobs", "Jobs by class and state.", {{"class", name}, {"state", "running"}});
  }
}

void StateMetrics::Raise(uint64_t total, prometheus::Counter* counter) {
  absl::MutexLock lock(&mu_);
  counter->Increment(static_cast<double>(total) - counter->Value());  // A negative amount changes nothing.
}

void StateMetrics::SetStored(const ResultIndex& index) {
  stored_results_.Set(static_cast<double>(index.asked_for()));
  stored_bytes_.Set(static_cast<double>(index.size_bytes()));
  Raise(index.deduplicated(), &deduplicated_);
}

void StateMetrics::SetTunings(const ProgramTuningDesk::Stats& stats, size_t stored) {
  const auto set = [this](const char* name, uint64_t value) { tunings_.at(name)->Set(static_cast<double>(value)); };
  Raise(stats.shared, tuning_events_.at("shared"));
  Raise(stats.granted, tuning_events_.at("granted"));
  Raise(stats.measured, tuning_events_.at("measured"));
  Raise(stats.lost, tuning_events_.at("lost"));
  Raise(stats.refused, tuning_events_.at("refused"));
  set("measuring", stats.measuring);
  set("waiting", stats.waiting);
  set("stored", stored);
}

void StateMetrics::SetWaiting(uint64_t held, uint64_t limit) {
  waiting_bytes_.Set(static_cast<double>(held));
  waiting_limit_.Set(static_cast<double>(limit));
}

void StateMetrics::SetTexts(size_t waiting, uint64_t waiting_bytes) {
  waiting_texts_.Set(static_cast<double>(waiting));
  waiting_text_bytes_.Set(static_cast<double>(waiting_bytes));
}

void StateMetrics::SetSharing(const SingleFlight::Stats& flights, const WorkSharing::Stats& sharing) {
  cluster_held_.Set(static_cast<double>(flights.held));
  cluster_following_.Set(static_cast<double>(flights.following));
  Raise(flights.granted, &cluster_granted_);
  Raise(flights.lost, &cluster_lost_);
  Raise(flights.followed, &cluster_followed_);
  Raise(flights.alone, &cluster_unleased_);
  Raise(sharing.offered, &cluster_offered_);
  Raise(sharing.taken, &cluster_taken_);
}

void StateMetrics::SetQueues(const Scheduler::Stats& stats) {
  Raise(stats.started, &leases_);
  Raise(stats.rejected, &rejected_);
  Raise(stats.hedged, &hedged_);
  Raise(stats.flaked, &flaked_);
  for (int i = 0; i < kJobClasses; ++i) {
    queued_[i]->Set(static_cast<double>(stats.classes[i].queued));
    running_[i]->Set(static_cast<double>(stats.classes[i].running));
  }
}

}  // namespace tritond::server
