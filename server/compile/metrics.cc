// SPDX-License-Identifier: Apache-2.0
#include "server/compile/metrics.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "server/compile/metric_builders.h"

namespace tritond::server {
namespace {

// The bounds grow threefold from `least` seconds on.
prometheus::Histogram& MakeHistogram(prometheus::Registry& registry, const std::string& name, const std::string& help,
                                     double least = .001, const prometheus::Labels& labels = {}) {
  prometheus::Histogram::BucketBoundaries bounds;
  for (const double step : {1., 3., 10., 30., 100., 300., 1e3, 3e3, 1e4, 3e4, 1e5}) bounds.push_back(step * least);
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(labels, bounds);
}

constexpr char kRequests[] = "tritond_requests_total";
constexpr char kRequestsHelp[] = "Compile requests and successful look-ups, by answer.";

// The reasons that say nothing about the request, then the others that have a label of their own.
constexpr Reason kNotNow[] = {Reason::kDraining,  Reason::kQueueFull, Reason::kTenantQueueFull, Reason::kMemoryFull,
                              Reason::kTextsFull, Reason::kNoWorker,  Reason::kWorkerLost};
constexpr Reason kOfRequest[] = {Reason::kBadRequest,  Reason::kUnknownTarget, Reason::kBinaryUnavailable,
                                 Reason::kQuarantined, Reason::kDeadline,      Reason::kTimeLimit};
constexpr char kOther[] = "other";

// One family with what the caches themselves count (cache/layer/metered_cache.cc).
constexpr char kCalls[] = "tritond_cache_requests_total";
constexpr char kCallsHelp[] = "Calls to a cache, by outcome";
prometheus::Labels ParsedGets(const std::string& outcome) {
  return {{"cache", "parsed"}, {"op", "get"}, {"outcome", outcome}};
}

constexpr char kStepHits[] = "tritond_step_hits_total";
constexpr char kStepHitsHelp[] =
    "Compiles that ended early: semantic, because the kernel was stored in another spelling; assembly, because only "
    "the last step was missing.";

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
                               "Workers that crashed, hung, disconnected or failed to start.")),
      saved_cpu_seconds(MakeCounter(registry, "tritond_saved_cpu_seconds_total",
                                    "Compile cost of the results that were returned without a compile.")),
      store_failures(MakeCounter(registry, "tritond_store_failures_total", "Results that could not be stored.")),
      memory_refusals(MakeCounter(registry, "tritond_memory_refusals_total",
                                  "Requests refused because waiting requests held all memory of --max-queued-mb.")),
      hit_seconds(
          MakeHistogram(registry, "tritond_hit_seconds", "Time to compute the key and find a stored answer.", .00001)),
      compile_seconds(MakeHistogram(registry, "tritond_compile_cpu_seconds", "CPU time of successful compiles.")),
      tenants(registry) {
  const auto count = [&](Reason reason, const std::string& label) {
    refusals_[reason] = &MakeCounter(registry, "tritond_refusals_total",
                                     "Requests refused without a compile, by reason.", {{"reason", label}});
  };
  for (Reason reason : kOfRequest) count(reason, absl::AsciiStrToLower(ReasonName(reason)));
  for (Reason reason : kNotNow) count(reason, absl::AsciiStrToLower(ReasonName(reason)));
  count(Reason::kNone, kOther);
  for (int i = 0; i < kJobClasses; ++i) {
    const std::string name = JobClassName(static_cast<JobClass>(i));
    queue_seconds[i] =
        &MakeHistogram(registry, "tritond_queue_seconds",
                       "Time between a request and the start of its compile, by class.", .001, {{"class", name}});
  }
}

void Metrics::Refuse(Reason reason, absl::string_view tenant) {
  refused.Increment();
  auto it = refusals_.find(reason);
  (it != refusals_.end() ? it : refusals_.find(Reason::kNone))->second->Increment();
  const bool not_now = std::find(std::begin(kNotNow), std::end(kNotNow), reason) != std::end(kNotNow);
  // Those without room come from tenants that ask as they should; the rest may be anything.
  if (not_now) return tenants.Of(tenant).rejected->Increment();
  tenants.OfRefused(tenant).failed->Increment();
}

void Metrics::Cancel(absl::string_view tenant) {
  cancelled.Increment();
  tenants.Of(tenant).cancelled->Increment();
}

}  // namespace tritond::server
