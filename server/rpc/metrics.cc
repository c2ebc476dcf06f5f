// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/metrics.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"

namespace tritond::server {
namespace {

prometheus::Counter& MakeCounter(prometheus::Registry& registry, const std::string& name, const std::string& help,
                                 const prometheus::Labels& labels = {}) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Gauge& MakeGauge(prometheus::Registry& registry, const std::string& name, const std::string& help,
                             const prometheus::Labels& labels = {}) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

// The bounds grow threefold from `least` seconds on.
prometheus::Histogram& MakeHistogram(prometheus::Registry& registry, const std::string& name, const std::string& help,
                                     double least = .001, const prometheus::Labels& labels = {}) {
  prometheus::Histogram::BucketBoundaries bounds;
  for (const double step : {1., 3., 10., 30., 100., 300., 1e3, 3e3, 1e4, 3e4, 1e5}) bounds.push_back(step * least);
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(labels, bounds);
}

constexpr char kRequests[] = "tritond_requests_total";
constexpr char kRequestsHelp[] = "Compile requests and successful look-ups, by how they were answered.";

// Why requests are refused, and the label of any other reason. The first ones say nothing about the request.
constexpr absl::string_view kNotNow[] = {"DRAINING",   "QUEUE_FULL", "TENANT_QUEUE_FULL", "MEMORY_FULL",
                                         "TEXTS_FULL", "NO_WORKER",  "WORKER_LOST"};
constexpr absl::string_view kReasons[] = {"BAD_REQUEST", "UNKNOWN_TARGET", "BINARY_UNAVAILABLE",
                                          "QUARANTINED", "DEADLINE",       "TIME_LIMIT"};
constexpr char kOther[] = "OTHER";

// One family with what the caches themselves count (cache/layer/metered_cache.cc).
constexpr char kCalls[] = "tritond_cache_requests_total";
constexpr char kCallsHelp[] = "Calls to a cache by what came of them";
prometheus::Labels ParsedGets(const std::string& outcome) {
  return {{"cache", "parsed"}, {"op", "get"}, {"outcome", outcome}};
}

constexpr char kStepHits[] = "tritond_step_hits_total";
constexpr char kStepHitsHelp[] =
    "Compiles that ended early: semantic, because the kernel was stored in another spelling; assembly, because only "
    "the "
    "last step was missing.";

}  // namespace

const char* JobClassName(JobClass job_class) {
  switch (job_class) {
    case JobClass::kInteractive:
      return "interactive";
    case JobClass::kAutotune:
      return "autotune";
    case JobClass::kPrebuild:
      return "prebuild";
  }
  return "";
}

Metrics::Metrics(prometheus::Registry& registry)
    : hits(MakeCounter(registry, kRequests, kRequestsHelp, {{"answer", "hit"}})),
      misses(MakeCounter(registry, kRequests, kRequestsHelp, {{"answer", "miss"}})),
      joined(MakeCounter(registry, kRequests, kRequestsHelp, {{"answer", "joined"}})),
      error_hits(MakeCounter(registry, kRequests, kRequestsHelp, {{"answer", "error_hit"}})),
      failures(MakeCounter(registry, kRequests, kRequestsHelp, {{"answer", "failed"}})),
      refused(MakeCounter(registry, kRequests, kRequestsHelp, {{"answer", "refused"}})),
      cancelled(MakeCounter(registry, kRequests, kRequestsHelp, {{"answer", "cancelled"}})),
      lookup_misses(MakeCounter(registry, "tritond_lookup_misses_total", "Look-ups that found nothing.")),
      parsed_hits(MakeCounter(registry, kCalls, kCallsHelp, ParsedGets("hit"))),
      parsed_misses(MakeCounter(registry, kCalls, kCallsHelp, ParsedGets("miss"))),
      semantic_hits(MakeCounter(registry, kStepHits, kStepHitsHelp, {{"step", "semantic"}})),
      assembly_hits(MakeCounter(registry, kStepHits, kStepHitsHelp, {{"step", "assembly"}})),
      workers_lost(MakeCounter(registry, "tritond_workers_lost_total",
                               "Workers that died, before they attached too, hung or disconnected.")),
      saved_cpu_seconds(MakeCounter(registry, "tritond_saved_cpu_seconds_total",
                                    "Recorded compile cost of the results that were returned without a compile.")),
      store_failures(MakeCounter(registry, "tritond_store_failures_total", "Results that the cache did not take.")),
      memory_refusals(MakeCounter(registry, "tritond_memory_refusals_total",
                                  "Requests refused because those that wait held as much memory as they may.")),
      hit_seconds(MakeHistogram(registry, "tritond_hit_seconds",
                                "Time to find a stored answer, its key included, in the cache.", .00001)),
      compile_seconds(MakeHistogram(registry, "tritond_compile_cpu_seconds", "CPU time of successful compiles.")),
      tenants(registry),
      leases_(MakeCounter(registry, "tritond_leases_total", "Leases given to workers.")),
      rejected_(MakeCounter(registry, "tritond_rejected_total", "Requests refused because the queue was full.")),
      hedged_(MakeCounter(registry, "tritond_hedged_total", "Stuck compiles begun on a second worker.")),
      flaked_(MakeCounter(registry, "tritond_flaked_total", "Compiles that ended in INTERNAL and were run again.")),
      waiting_bytes_(MakeGauge(registry, "tritond_waiting_bytes", "Memory of the requests that wait or run, now.")),
      waiting_limit_(
          MakeGauge(registry, "tritond_waiting_limit_bytes", "Most memory of requests that wait or run; 0: no limit.")),
      waiting_texts_(MakeGauge(registry, "tritond_waiting_texts", "Requests whose IR waits to be read, now.")),
      waiting_text_bytes_(MakeGauge(registry, "tritond_waiting_text_bytes",
                                    "Memory of the Compile requests that wait to be read, now.")),
      cluster_up_(MakeGauge(registry, "tritond_cluster_up", "1: the cluster's engine answers, or there is none.")),
      cluster_held_(
          MakeGauge(registry, "tritond_cluster_leases_held", "Keys compiled here for the whole cluster, now.")),
      cluster_following_(MakeGauge(registry, "tritond_cluster_following", "Jobs that another daemon compiles, now.")),
      cluster_granted_(MakeCounter(registry, "tritond_cluster_leases_total", "Leases of keys had.")),
      cluster_lost_(MakeCounter(registry, "tritond_cluster_leases_lost_total",
                                "Leases that another daemon got while the compile ran.")),
      cluster_followed_(
          MakeCounter(registry, "tritond_cluster_followed_total", "Jobs answered by the compile of another daemon.")),
      cluster_unleased_(MakeCounter(registry, "tritond_cluster_unleased_total",
                                    "Compiles without a lease, as the engine was away or slow.")),
      cluster_offered_(MakeCounter(registry, "tritond_cluster_jobs_total", "Waiting jobs moved between daemons.",
                                   {{"event", "offered"}})),
      cluster_taken_(MakeCounter(registry, "tritond_cluster_jobs_total", "Waiting jobs moved between daemons.",
                                 {{"event", "taken"}})),
      stored_bytes_(MakeGauge(registry, "tritond_stored_bytes", "Results and artifacts kept, before compression.")),
      stored_results_(MakeGauge(registry, "tritond_stored_results", "Results kept.")),
      deduplicated_(MakeCounter(registry, "tritond_deduplicated_total",
                                "Artifacts of new results that were stored already, by content.")) {
  std::vector<absl::string_view> reasons(std::begin(kReasons), std::end(kReasons));
  reasons.insert(reasons.end(), std::begin(kNotNow), std::end(kNotNow));
  reasons.push_back(kOther);
  for (absl::string_view reason : reasons) {
    refusals_[std::string(reason)] =
        &MakeCounter(registry, "tritond_refusals_total", "Requests refused before or instead of a compile, by reason.",
                     {{"reason", absl::AsciiStrToLower(reason)}});
  }
  for (const char* event : {"shared", "granted", "measured", "lost", "refused"}) {
    tuning_events_[event] =
        &MakeCounter(registry, "tritond_program_tuning_events_total",
                     "Tunings of programs that tune themselves, by what came of them.", {{"event", event}});
  }
  for (const char* state : {"measuring", "waiting", "stored"}) {
    tunings_[state] = &MakeGauge(registry, "tritond_program_tunings",
                                 "Tunings of programs: measured, waited for, and kept, now.", {{"state", state}});
  }
  for (int i = 0; i < kJobClasses; ++i) {
    const std::string name = JobClassName(static_cast<JobClass>(i));
    queue_seconds[i] =
        &MakeHistogram(registry, "tritond_queue_seconds",
                       "Time between a request and the start of its compile, by class.", .001, {{"class", name}});
    queued_[i] =
        &MakeGauge(registry, "tritond_jobs", "Jobs by class and state.", {{"class", name}, {"state", "queued"}});
    running_[i] =
        &MakeGauge(registry, "tritond_jobs", "Jobs by class and state.", {{"class", name}, {"state", "running"}});
  }
}

void Metrics::Refuse(absl::string_view reason, absl::string_view tenant) {
  refused.Increment();
  auto it = refusals_.find(reason);
  (it != refusals_.end() ? it : refusals_.find(kOther))->second->Increment();
  const bool not_now = std::find(std::begin(kNotNow), std::end(kNotNow), reason) != std::end(kNotNow);
  // Those without room come from tenants that ask as they should; the rest may be anything.
  if (not_now) return tenants.Of(tenant).rejected->Increment();
  tenants.OfRefused(tenant).failed->Increment();
}

void Metrics::Cancel(absl::string_view tenant) {
  cancelled.Increment();
  tenants.Of(tenant).cancelled->Increment();
}

void Metrics::Raise(uint64_t total, prometheus::Counter* counter) {
  absl::MutexLock lock(&mu_);
  counter->Increment(static_cast<double>(total) - counter->Value());  // A negative amount changes nothing.
}

void Metrics::SetStored(const ResultIndex& index) {
  stored_results_.Set(static_cast<double>(index.asked_for()));
  stored_bytes_.Set(static_cast<double>(index.size_bytes()));
  Raise(index.deduplicated(), &deduplicated_);
}

void Metrics::SetTunings(const ProgramTuningDesk::Stats& stats, size_t stored) {
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

void Metrics::SetWaiting(uint64_t held, uint64_t limit) {
  waiting_bytes_.Set(static_cast<double>(held));
  waiting_limit_.Set(static_cast<double>(limit));
}

void Metrics::SetTexts(size_t waiting, uint64_t waiting_bytes) {
  waiting_texts_.Set(static_cast<double>(waiting));
  waiting_text_bytes_.Set(static_cast<double>(waiting_bytes));
}

void Metrics::SetSharing(const SingleFlight::Stats& flights, const WorkSharing::Stats& sharing) {
  cluster_held_.Set(static_cast<double>(flights.held));
  cluster_following_.Set(static_cast<double>(flights.following));
  Raise(flights.granted, &cluster_granted_);
  Raise(flights.lost, &cluster_lost_);
  Raise(flights.followed, &cluster_followed_);
  Raise(flights.alone, &cluster_unleased_);
  Raise(sharing.offered, &cluster_offered_);
  Raise(sharing.taken, &cluster_taken_);
}

void Metrics::SetQueues(const Scheduler::Stats& stats) {
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
