// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_METRICS_H_
#define SERVER_COMPILE_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "server/compile/tenant_metrics.h"
#include "server/errors/reason.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// What the daemon counts about requests, in the registry that /metrics shows. Thread-safe; the registry outlives it.
class Metrics final {
 public:
  explicit Metrics(prometheus::Registry& registry);

  prometheus::Counter& hits;
  prometheus::Counter& misses;
  prometheus::Counter& joined;
  prometheus::Counter& error_hits;
  prometheus::Counter& failures;
  prometheus::Counter& refused;    // without a compile that ended
  prometheus::Counter& cancelled;  // the caller has gone
  prometheus::Counter& lookup_misses;
  prometheus::Counter& parsed_hits;  // of results kept parsed, a cache before all others
  prometheus::Counter& parsed_misses;
  prometheus::Counter& semantic_hits;
  prometheus::Counter& assembly_hits;
  prometheus::Counter& workers_lost;
  prometheus::Counter& saved_cpu_seconds;
  prometheus::Counter& store_failures;
  prometheus::Counter& memory_refusals;
  prometheus::Histogram& hit_seconds;
  prometheus::Histogram& compile_seconds;
  TenantMetrics tenants;
  std::array<prometheus::Histogram*, kJobClasses> queue_seconds;  // by class

  // Counts a request that was answered with this reason before or instead of a compile.
  void Refuse(Reason reason, absl::string_view tenant);
  // Counts one whose caller has gone.
  void Cancel(absl::string_view tenant);

 private:
  std::map<Reason, prometheus::Counter*> refusals_;  // kNone: any reason that is not here
};

// "interactive", "autotune", "prebuild".
const char* JobClassName(JobClass job_class);

}  // namespace tritond::server

#endif  // SERVER_COMPILE_METRICS_H_
