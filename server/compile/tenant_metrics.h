// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_TENANT_METRICS_H_
#define SERVER_COMPILE_TENANT_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace tritond::server {

// What became of one tenant's requests. The registry owns the counters.
struct TenantMeter {
  prometheus::Counter* hit;
  prometheus::Counter* joined;
  prometheus::Counter* compiled;
  prometheus::Counter* rejected;  // no room, no worker, or the daemon drained
  prometheus::Counter* failed;    // remembered errors included
  prometheus::Counter* cancelled;
  prometheus::Counter* saved_cpu_seconds;
};

// The meters of the first kMaxTenants tenants, and one, "other", of the rest:
//
//   tritond_tenant_requests_total{tenant, outcome}
//   tritond_tenant_saved_cpu_seconds_total{tenant}
//
// Thread-safe; the registry outlives it. A hit pays for a look at a table: no lock, no allocation.
class TenantMetrics final {
 public:
  static constexpr size_t kMaxTenants = 100;

  explicit TenantMetrics(prometheus::Registry& registry);
  // For as long as this lives. "other" for what is no tenant's name.
  const TenantMeter& Of(absl::string_view tenant);
  // The same, but a tenant that has no meter yet gets none of its own: refused callers add no series.
  const TenantMeter& OfRefused(absl::string_view tenant);

 private:
  struct Known {
    std::string name;
    TenantMeter meter;
  };
  // Many more places than tenants, so that a place is found in a step or two.
  static constexpr size_t kPlaces = 512;

  const Known* Find(absl::string_view tenant);
  // The first place that holds the tenant or nobody, beginning where its name says.
  std::atomic<const Known*>& PlaceOf(absl::string_view tenant);
  TenantMeter MakeMeter(const std::string& tenant);
  const TenantMeter& Add(absl::string_view tenant);

  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Counter>& saved_;
  std::array<std::atomic<const Known*>, kPlaces> places_{};  // filled, never emptied
  std::atomic<const TenantMeter*> other_{nullptr};           // once there are kMaxTenants
  absl::Mutex mu_;                                           // held while a place is filled
  std::vector<std::unique_ptr<const Known>> known_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_TENANT_METRICS_H_
