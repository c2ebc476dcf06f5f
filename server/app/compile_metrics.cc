// SPDX-License-Identifier: Apache-2.0
#include "server/app/compile_metrics.h"

#include "absl/strings/ascii.h"
#include "server/admission/check_request.h"
#include "server/compile/metrics.h"

namespace tritond::server {
namespace {

const prometheus::Histogram::BucketBoundaries& Bounds() {
  static const auto* const bounds =
      new prometheus::Histogram::BucketBoundaries{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30, 100};
  return *bounds;
}

const prometheus::Histogram::BucketBoundaries& PeakBounds() {
  constexpr double kMib = 1 << 20;
  static const auto* const bounds = new prometheus::Histogram::BucketBoundaries{
      32 * kMib, 64 * kMib, 128 * kMib, 256 * kMib, 512 * kMib, 1024 * kMib, 2048 * kMib, 4096 * kMib, 8192 * kMib};
  return *bounds;
}

}  // namespace

CompileMetrics::CompileMetrics(prometheus::Registry& registry)
    : compiles_(prometheus::BuildCounter()
                    .Name("tritond_compiles_total")
                    .Help("Compiles that have ended, by class and outcome.")
                    .Register(registry)),
      tenants_(prometheus::BuildCounter()
                   .Name("tritond_tenant_compiles_total")
                   .Help("Compiles that have ended, by tenant.")
                   .Register(registry)),
      run_seconds_(prometheus::BuildHistogram()
                       .Name("tritond_compile_seconds")
                       .Help("Wall time between the start of a compile on a worker and its end.")
                       .Register(registry)),
      stage_seconds_(prometheus::BuildHistogram()
                         .Name("tritond_stage_seconds")
                         .Help("Wall time of the compiler's stages.")
                         .Register(registry)),
      peak_bytes_(prometheus::BuildHistogram()
                      .Name("tritond_compile_peak_bytes")
                      .Help("Peak resident memory of a worker during a compile, with its warm caches.")
                      .Register(registry)
                      .Add({}, PeakBounds())) {
  for (int i = 0; i < kJobClasses; ++i) {  // They are there before the first compile, so that rates begin at zero.
    const std::string name = JobClassName(static_cast<JobClass>(i));
    compiles_.Add({{"class", name}, {"outcome", "ok"}});
    run_seconds_.Add({{"class", name}}, Bounds());
  }
  for (const char* stage : {"ttir", "ttgir", "llir", "asm", "binary"}) stage_seconds_.Add({{"stage", stage}}, Bounds());
}

std::string CompileMetrics::TenantLabel(const std::string& tenant) {
  absl::MutexLock lock(&mu_);
  if (known_tenants_.count(tenant) > 0) return tenant;
  if (known_tenants_.size() >= kMaxTenants || !IsTenantName(tenant)) return "other";
  known_tenants_.insert(tenant);
  return tenant;
}

void CompileMetrics::OnEnd(const JobRecord& record) {
  if (!record.followed.empty()) return;  // The daemon that compiled it counts it.
  const std::string job_class = JobClassName(record.job.job_class);
  compiles_.Add({{"class", job_class}, {"outcome", OutcomeName(record)}}).Increment();
  tenants_.Add({{"tenant", TenantLabel(record.job.tenant)}}).Increment();
  if (record.job.attempts > 0) {
    run_seconds_.Add({{"class", job_class}}, Bounds()).Observe(absl::ToDoubleSeconds(record.job.run_time));
  }
  if (record.peak_memory_bytes > 0) peak_bytes_.Observe(static_cast<double>(record.peak_memory_bytes));
  for (const JobRecord::Stage& stage : record.stages) {
    if (stage.name.empty()) continue;
    stage_seconds_.Add({{"stage", stage.name}}, Bounds()).Observe(absl::ToDoubleSeconds(stage.wall));
  }
}

std::string OutcomeName(const JobRecord& record) {
  if (record.job.status.ok()) return record.recalled ? "recalled" : record.followed.empty() ? "ok" : "followed";
  return absl::AsciiStrToLower(absl::StatusCodeToString(record.job.status.code()));
}

}  // namespace tritond::server
