// SPDX-License-Identifier: Apache-2.0
#include "server/compile/tenant_metrics.h"

#include "absl/hash/hash.h"
#include "server/admission/check_request.h"

namespace tritond::server {
namespace {

constexpr char kOther[] = "other";

}  // namespace

TenantMetrics::TenantMetrics(prometheus::Registry& registry)
    : requests_(prometheus::BuildCounter()
                    .Name("tritond_tenant_requests_total")
                    .Help("Compile requests and successful look-ups, by tenant and outcome.")
                    .Register(registry)),
      saved_(prometheus::BuildCounter()
                 .Name("tritond_tenant_saved_cpu_seconds_total")
                 .Help("Recorded compile cost of the results that a tenant got without a compile of its own.")
                 .Register(registry)) {
  Of("");  // There before the first request, so that rates begin at zero.
}

std::atomic<const TenantMetrics::Known*>& TenantMetrics::PlaceOf(absl::string_view tenant) {
  for (size_t place = absl::Hash<absl::string_view>()(tenant);; ++place) {
    const Known* known = places_[place % kPlaces].load(std::memory_order_acquire);
    if (known == nullptr || known->name == tenant) return places_[place % kPlaces];
  }
}

const TenantMetrics::Known* TenantMetrics::Find(absl::string_view tenant) {
  const Known* known = PlaceOf(tenant).load(std::memory_order_acquire);
  return known != nullptr && known->name == tenant ? known : nullptr;
}

const TenantMeter& TenantMetrics::Of(absl::string_view tenant) {
  if (const Known* known = Find(tenant)) return known->meter;
  if (const TenantMeter* other = other_.load(std::memory_order_acquire)) return *other;
  return Add(IsTenantName(tenant) ? tenant : kOther);  // A hit is answered whatever its caller is called.
}

const TenantMeter& TenantMetrics::OfRefused(absl::string_view tenant) {
  const Known* known = Find(tenant);
  return known != nullptr ? known->meter : Of(kOther);
}

const TenantMeter& TenantMetrics::Add(absl::string_view tenant) {
  absl::MutexLock lock(&mu_);
  std::atomic<const Known*>& place = PlaceOf(tenant);
  if (const Known* known = place.load(std::memory_order_acquire)) return known->meter;
  if (const TenantMeter* other = other_.load(std::memory_order_acquire)) return *other;
  const bool full = known_.size() >= kMaxTenants;
  const std::string name = full ? kOther : std::string(tenant);
  known_.push_back(std::make_unique<const Known>(Known{name, MakeMeter(name)}));
  const Known& added = *known_.back();
  if (full) {
    other_.store(&added.meter, std::memory_order_release);
  } else {
    place.store(&added, std::memory_order_release);
  }
  return added.meter;
}

TenantMeter TenantMetrics::MakeMeter(const std::string& tenant) {
  const auto outcome = [&](const char* name) { return &requests_.Add({{"tenant", tenant}, {"outcome", name}}); };
  return {outcome("hit"),
          outcome("joined"),
          outcome("compiled"),
          outcome("rejected"),
          outcome("failed"),
          outcome("cancelled"),
          &saved_.Add({{"tenant", tenant}})};
}

}  // namespace tritond::server
