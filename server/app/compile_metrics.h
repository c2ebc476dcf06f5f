// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_COMPILE_METRICS_H_
#define SERVER_APP_COMPILE_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/history/job_record.h"

namespace tritond::server {

// Counts the compiles that have ended, in the registry that /metrics shows:
//
//   tritond_compiles_total{class, outcome}    ok, recalled, or the status in lower case
//   tritond_tenant_compiles_total{tenant}     the first tenants by name, the rest as "other"
//   tritond_compile_seconds{class}            from its start on a worker to its end
//   tritond_stage_seconds{stage}              as the worker measured them
//   tritond_compile_peak_bytes                the same
//
// Jobs that followed another daemon's compile are that one's to count.
// Thread-safe; the registry outlives it.
class CompileMetrics final {
 public:
  static constexpr size_t kMaxTenants = 100;
  explicit CompileMetrics(prometheus::Registry& registry);
  void OnEnd(const JobRecord& record);

 private:
  std::string TenantLabel(const std::string& tenant);

  prometheus::Family<prometheus::Counter>& compiles_;
  prometheus::Family<prometheus::Counter>& tenants_;
  prometheus::Family<prometheus::Histogram>& run_seconds_;
  prometheus::Family<prometheus::Histogram>& stage_seconds_;
  prometheus::Histogram& peak_bytes_;
  absl::Mutex mu_;
  std::set<std::string> known_tenants_ ABSL_GUARDED_BY(mu_);
};

// "ok", "recalled", "followed", "invalid_argument", …
std::string OutcomeName(const JobRecord& record);

}  // namespace tritond::server

#endif  // SERVER_APP_COMPILE_METRICS_H_
