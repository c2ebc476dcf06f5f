// SPDX-License-Identifier: Apache-2.0
#include "server/compile/activity.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/compile/compile_call.h"
#include "server/compile/stage_name.h"
#include "server/errors/error_details.h"
#include "server/results/result_store.h"

namespace tritond::server {
namespace {

constexpr size_t kJobsKept = 500;
constexpr size_t kFailedRequestBytes = 16 << 20;
constexpr absl::Duration kInterval = absl::Seconds(10);
constexpr size_t kIntervals = 90;  // a quarter of an hour

template <typename Times>
void AddStages(const Times& times, JobRecord* record) {
  for (const v1::StageTime& time : times)
    record->stages.push_back({StageName(time.stage()), absl::Nanoseconds(static_cast<int64_t>(time.wall_ns()))});
}

template <typename Diagnostics>
void AddDiagnostics(const Diagnostics& diagnostics, JobRecord* record) {
  for (const v1::Diagnostic& diagnostic : diagnostics) {
    std::string& line = record->diagnostics.emplace_back(StageName(diagnostic.stage()));
    if (diagnostic.line() > 0) absl::StrAppend(&line, ":", diagnostic.line(), ":", diagnostic.column());
    absl::StrAppend(&line, line.empty() ? "" : ": ", diagnostic.message());
  }
}

// The member of the object; nothing where it is no such number, or there is no object.
std::optional<uint64_t> NumberIn(const nlohmann::json& object, const char* name) {
  if (!object.is_object() || !object.contains(name) || !object[name].is_number_unsigned()) return std::nullopt;
  return object[name].get<uint64_t>();
}

// What the kernel's metadata, which its worker wrote, says of the device.
KernelResources ResourcesOf(const std::string& metadata_json) {
  const nlohmann::json metadata = nlohmann::json::parse(metadata_json, nullptr, /*allow_exceptions=*/false);
  KernelResources resources;
  resources.shared_bytes = NumberIn(metadata, "shared");
  if (!metadata.is_object() || !metadata.contains("resources")) return resources;
  const nlohmann::json& taken = metadata["resources"];
  resources.registers = NumberIn(taken, "registers");
  resources.local_bytes = NumberIn(taken, "local_bytes");
  resources.warps = NumberIn(taken, "warps");
  resources.most_warps = NumberIn(taken, "most_warps");
  if (taken.is_object() && taken.contains("limit") && taken["limit"].is_string())
    resources.limit = taken["limit"].get<std::string>();
  return resources;
}

// `recalled`: the times and the cost are those of the compile that made it.
void AddResult(const v1::ActionResult& action, bool recalled, JobRecord* record) {
  record->recalled = recalled;
  if (!recalled) AddStages(action.stage_times(), record);
  AddDiagnostics(action.diagnostics(), record);
  for (const v1::Artifact& artifact : action.artifacts())
    record->texts.push_back({StageName(artifact.kind()), artifact.format(), artifact.digest(), artifact.size_bytes()});
  record->request = action.request().digest();
  record->input = StageName(action.request().kind());
  record->build_id = action.build_id();
  record->signer = action.signer();
  record->resources = ResourcesOf(action.metadata_json());
  if (recalled) return;
  record->cpu_seconds = action.cost_cpu_seconds();
  record->peak_memory_bytes = action.peak_memory_bytes();
  record->job.worker = action.worker();  // People know it by its name.
}

void AddFailure(const Outcome& outcome, JobRecord* record) {
  record->reason =
      outcome.reason == Reason::kNone ? ReasonTextOf(outcome.status) : std::string(ReasonName(outcome.reason));
  v1::CompileFailure failure;
  if (!ReadDetail(outcome.status, &failure)) return;
  AddStages(failure.stage_times(), record);
  AddDiagnostics(failure.diagnostics(), record);
  record->build_id = failure.build_id();
  record->cpu_seconds = failure.cost_cpu_seconds();
  record->peak_memory_bytes = failure.peak_memory_bytes();
  record->job.worker = failure.worker();
}

// The daemon that a followed job's outcome came from.
std::string DaemonOf(const Outcome& outcome) {
  v1::CompileFailure failure;
  std::string name;
  if (!outcome.status.ok()) {
    if (ReadDetail(outcome.status, &failure)) name = failure.daemon();
  } else if (outcome.value != nullptr) {
    name = static_cast<const StoredResult&>(*outcome.value).action.daemon();
  }
  return name.empty() ? "another daemon" : name;  // A result of an earlier version does not say.
}

}  // namespace

Activity::Activity(Clock clock, Metrics& metrics)
    : clock_(clock),
      metrics_(metrics),
      jobs_(kJobsKept),
      failed_requests_(kFailedRequestBytes),
      hits_(clock, kInterval, kIntervals),
      waits_(clock, kInterval, kIntervals),
      runs_(clock, kInterval, kIntervals) {}

std::string Activity::NewJobId() {
  absl::MutexLock lock(&mu_);
  return ids_.Next(absl::Now());
}

void Activity::OnEnd(const FinishedJob& job, const Outcome& outcome) {
  if (job.attempts > 0) {
    waits_.Record(job.queue_time);
    runs_.Record(job.run_time);
  }
  JobRecord record;
  record.job = job;
  record.job.payload = nullptr;  // The record may stay for long.
  if (outcome.status.ok() && outcome.value != nullptr) {
    AddResult(static_cast<const StoredResult&>(*outcome.value).action, outcome.stored, &record);
  } else {
    AddFailure(outcome, &record);
    KeepRequest(job, &record);
  }
  if (outcome.elsewhere) record.followed = DaemonOf(outcome);
  jobs_.Add(std::move(record));
}

void Activity::KeepRequest(const FinishedJob& job, JobRecord* record) {
  if (job.payload == nullptr || absl::IsCancelled(job.status)) return;
  const v1::CompileRequest& request = *static_cast<const CompilePayload&>(*job.payload).request;
  record->input = StageName(request.input());
  failed_requests_.Add(job.id, request.SerializeAsString());
}

void Activity::OnHit(absl::Duration took) {
  hits_.Record(took);
  metrics_.hit_seconds.Observe(absl::ToDoubleSeconds(took));
}

}  // namespace tritond::server
