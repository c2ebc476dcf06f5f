// SPDX-License-Identifier: Apache-2.0
#include "server/web/status_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kClassNames[kJobClasses] = {"interactive", "autotune", "prebuild"};

// Texts of workers that died need not be UTF-8.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

double Millis(absl::Duration duration) { return absl::ToDoubleMilliseconds(duration); }

// The wall clock's, of a time of the clock that the view is by.
template <typename View>
int64_t Unix(const View& view, absl::Time time) {
  return absl::ToUnixMillis(time + view.wall_ahead);
}

template <typename View>
Json OpenJobJson(const View& view, const OpenJob& job, const PageAccess& access) {
  const bool running = job.started != absl::InfiniteFuture();
  Json json{{"id", job.id},
            {"state", running ? "running" : "queued"},
            {"class", kClassNames[static_cast<int>(job.job_class)]},
            {"target", job.target},
            {"stage", job.stage},
            {"waiters", job.waiters},
            {"created_unix_ms", Unix(view, job.created)},
            {"started_unix_ms", running ? Json(Unix(view, job.started)) : Json()}};
  if (access.Shows(job.tenant)) json.update({{"label", job.label}, {"key", job.key}, {"tenant", job.tenant}});
  return json;
}

template <typename View>
Json EndedJobJson(const View& view, const JobRecord& record, const PageAccess& access) {
  const FinishedJob& job = record.job;
  Json json{{"id", job.id},
            {"state", "ended"},
            {"class", kClassNames[static_cast<int>(job.job_class)]},
            {"target", job.target},
            {"worker", job.worker},
            {"outcome", absl::StatusCodeToString(job.status.code())},
            {"queue_ms", Millis(job.queue_time)},
            {"run_ms", Millis(job.run_time)},
            {"finished_unix_ms", Unix(view, job.finished)},
            {"attempts", job.attempts},
            {"recalled", record.recalled},
            {"followed", record.followed},
            {"callers", job.callers}};
  if (access.Shows(job.tenant)) {
    json.update({{"label", job.label},
                 {"key", job.key},
                 {"tenant", job.tenant},
                 {"reason", record.reason},
                 {"message", std::string(job.status.message())}});
  }
  return json;
}

Json QueuesJson(const Scheduler::Stats& stats) {
  Json queues = Json::array();
  for (int i = 0; i < kJobClasses; ++i) {
    const SchedulerStats::Class& one = stats.classes[i];
    queues.push_back({{"class", kClassNames[i]},
                      {"queued", one.queued},
                      {"running", one.running},
                      {"oldest_wait_ms", Millis(one.oldest_wait)}});
  }
  return queues;
}

Json TenantsJson(const Scheduler::Stats& stats, const PageAccess& access) {
  Json tenants = Json::array();
  for (const auto& [tenant, one] : stats.tenants) {
    if (access.Shows(tenant)) tenants.push_back({{"tenant", tenant}, {"queued", one.queued}, {"running", one.running}});
  }
  return tenants;
}

Json WorkersJson(const StatusView& view, const PageAccess& access) {
  Json workers = Json::array();
  for (const StatusView::Worker& worker : view.workers) {
    Json running = Json::array();
    auto jobs = view.scheduler.running.find(worker.id);
    if (jobs != view.scheduler.running.end()) {
      for (const OpenJob& job : jobs->second) running.push_back(OpenJobJson(view, job, access));
    }
    Json json{
        {"id", worker.id},
        {"name", worker.name},
        {"where", worker.where},
        {"state", worker.state},
        {"build_id", worker.build_id},
        {"confinement", worker.confinement},
        {"targets", worker.targets},
        {"devices", worker.devices},
        {"jobs_done", worker.jobs_done},
        {"resident_bytes", worker.resident_bytes},
        {"deaths", worker.deaths},
        {"attached_unix_ms", worker.attached == absl::InfinitePast() ? Json() : Json(Unix(view, worker.attached))},
        {"running", std::move(running)}};
    // The last lines of a worker that died may quote a kernel, whoever's.
    if (access.details && access.tenant.empty()) json["last_death"] = worker.last_death;
    workers.push_back(std::move(json));
  }
  return workers;
}

Json CachesJson(const StatusView& view) {
  Json levels = Json::array();
  for (const StatusView::CacheLevel& level : view.levels)
    levels.push_back({{"name", level.name}, {"hits", level.hits}, {"misses", level.misses}, {"errors", level.errors}});
  Json stores = Json::array();
  for (const cache::StoreStats& store : view.stores) {
    stores.push_back({{"name", absl::StrCat(store.cache, "/", store.store)},
                      {"entries", store.entries},
                      {"size_bytes", store.size_bytes},
                      {"capacity_bytes", store.capacity_bytes}});
  }
  return {{"levels", std::move(levels)},
          {"stores", std::move(stores)},
          {"stored_results", view.stored_results},
          {"stored_bytes", view.stored_bytes},
          {"stored_limit_bytes", view.stored_limit_bytes}};
}

// [start, count, median, 95th percentile] a point: there are many.
Json LatencyJson(const StatusView& view) {
  Json latency = Json::object();
  for (const StatusView::Series& series : view.latency) {
    Json& points = latency[series.name] = Json::array();
    for (const LatencySeries::Point& point : series.points)
      points.push_back({Unix(view, point.start), point.count, Millis(point.p50), Millis(point.p95)});
  }
  return latency;
}

Json ClusterJson(const StatusView::Cluster& cluster) {
  Json nodes = Json::array();
  for (const cache::EngineNode& node : cluster.nodes) {
    nodes.push_back({{"address", node.address},
                     {"answers", node.answers},
                     {"trouble", node.trouble},
                     {"slow", node.slow},
                     {"slots", node.slots},
                     {"calls", node.calls},
                     {"failures", node.failures},
                     {"latency_ms", node.calls == 0 ? Json() : Json(Millis(node.latency))}});
  }
  return {
      {"name", cluster.name},
      {"answers", cache::SomeAnswer(cluster.nodes)},
      {"nodes", std::move(nodes)},
      {"leases", {{"held", cluster.leases_held}, {"granted", cluster.leases_granted}, {"lost", cluster.leases_lost}}},
      {"unleased", cluster.unleased},
      {"following", cluster.following},
      {"followed", cluster.followed},
      {"jobs", {{"offered", cluster.jobs_offered}, {"taken", cluster.jobs_taken}}},
      {"publish_failures", cluster.publish_failures}};
}

// [name, median, spread, state, reason] a candidate: there may be thousands.
Json TuningsJson(const StatusView& view, const PageAccess& access) {
  Json tunings = Json::array();
  for (const StatusView::Tuning& tuning : view.tunings) {
    if (!access.Shows(tuning.tenant)) continue;
    Json candidates = Json::array();
    for (const StatusView::Tuning::Candidate& one : tuning.candidates)
      candidates.push_back({one.name, one.median_us, one.spread_us, one.state, one.reason});
    tunings.push_back({{"key", tuning.key},
                       {"label", tuning.label},
                       {"tenant", tuning.tenant},
                       {"device", tuning.device},
                       {"started_unix_ms", Unix(view, tuning.started)},
                       {"state", tuning.state},
                       {"winner", tuning.winner},
                       {"candidates", std::move(candidates)}});
  }
  return tunings;
}

Json AccessJson(const PageAccess& access) {
  return {{"details", access.details},
          {"ir", access.ir},
          {"compiles", access.compiles},
          {"tenant", access.tenant},
          {"why_not", access.why_not}};
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

Json ResourcesJson(const KernelResources& resources) {
  return {{"shared_bytes", OrNull(resources.shared_bytes)}, {"registers", OrNull(resources.registers)},
          {"local_bytes", OrNull(resources.local_bytes)},   {"warps", OrNull(resources.warps)},
          {"most_warps", OrNull(resources.most_warps)},     {"limit", resources.limit}};
}

Json TextsJson(const std::vector<JobRecord::Text>& texts) {
  Json json = Json::array();
  for (const JobRecord::Text& text : texts) {
    json.push_back(
        {{"stage", text.stage}, {"format", text.format}, {"digest", text.digest}, {"size_bytes", text.size_bytes}});
  }
  return json;
}

Json MakingJson(const absl::Status& making) {
  if (making.ok()) return Json();
  if (absl::IsUnavailable(making)) return {{"under_way", true}};
  return {{"under_way", false}, {"error", std::string(making.message())}};
}

}  // namespace

std::string ErrorJson(const std::string& message) { return Dump({{"error", message}}); }

std::string StatusJson(const StatusView& view, const PageAccess& access) {
  Json json{{"version", view.version},
            {"addresses", access.details ? view.addresses : std::vector<std::string>()},
            {"now_unix_ms", Unix(view, view.now)},
            {"started_unix_ms", Unix(view, view.started)},
            {"draining", view.draining},
            {"not_ready", view.not_ready},
            {"degraded", view.degraded},
            {"access", AccessJson(access)},
            {"requests", view.requests},
            {"saved_cpu_s", view.saved_cpu_seconds},
            {"workers_lost", view.workers_lost},
            {"open_jobs", view.open_jobs},
            {"quarantined", view.quarantined},
            {"queues", QueuesJson(view.scheduler)},
            {"tenants", TenantsJson(view.scheduler, access)},
            {"workers", WorkersJson(view, access)},
            {"cache", CachesJson(view)},
            {"latency", LatencyJson(view)},
            {"tunings", TuningsJson(view, access)},
            {"cluster", view.cluster.has_value() ? ClusterJson(*view.cluster) : Json()}};
  Json& jobs = json["jobs"] = Json::array();
  for (const auto& record : view.jobs) {
    // A caller of one tenant sees no line of another's; one who sees no details sees every line without them.
    if (!access.details || access.Shows(record->job.tenant)) jobs.push_back(EndedJobJson(view, *record, access));
  }
  return Dump(json);
}

std::string JobJson(const JobView& view, const PageAccess& access) {
  Json json = view.open.has_value() ? OpenJobJson(view, *view.open, access) : EndedJobJson(view, *view.ended, access);
  json["now_unix_ms"] = Unix(view, view.now);
  json["access"] = AccessJson(access);
  if (view.ended == nullptr) return Dump(json);
  Json stages = Json::array();
  for (const JobRecord::Stage& stage : view.ended->stages)
    stages.push_back({{"stage", stage.name}, {"ms", Millis(stage.wall)}});
  json["stages"] = std::move(stages);
  json["artifacts"] = TextsJson(view.ended->texts);
  json["made"] = TextsJson(view.made);
  json["input"] = view.ended->input;
  json["diagnostics"] = view.ended->diagnostics;
  json["build_id"] = view.ended->build_id;
  json["signer"] = view.ended->signer;
  json["cpu_s"] = view.ended->cpu_seconds > 0 ? Json(view.ended->cpu_seconds) : Json();
  json["peak_memory_bytes"] = view.ended->peak_memory_bytes > 0 ? Json(view.ended->peak_memory_bytes) : Json();
  json["resources"] = ResourcesJson(view.ended->resources);
  json["making"] = MakingJson(view.making);
  json["request"] = view.request_json.empty() ? Json() : Json::parse(view.request_json, nullptr, false);
  return Dump(json);
}

}  // namespace tritond::server
