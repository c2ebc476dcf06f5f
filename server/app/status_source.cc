// SPDX-License-Identifier: Apache-2.0
#include "server/app/status_source.h"

#include <google/protobuf/util/json_util.h>
#include <prometheus/metric_family.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/time_util.h"
#include "proto/request_key/request_key.h"
#include "server/compile/stage_name.h"
#include "timing/steady/steady_time.h"

namespace tritond::server {
namespace {

constexpr size_t kJobsShown = 100;
constexpr char kCacheRequests[] = "tritond_cache_requests_total";

uint64_t Count(const prometheus::Counter& counter) { return static_cast<uint64_t>(counter.Value()); }

std::string StateName(v1::Worker::State state) {
  switch (state) {
    case v1::Worker::STATE_STARTING:
      return "starting";
    case v1::Worker::STATE_IDLE:
      return "idle";
    case v1::Worker::STATE_BUSY:
      return "busy";
    case v1::Worker::STATE_DRAINING:
      return "draining";
    case v1::Worker::STATE_BACKING_OFF:
      return "waits to start again";
    default:
      return "";
  }
}

StatusView::Worker ToWorker(const v1::Worker& worker, const Scheduler::Stats& stats, absl::Time now) {
  StatusView::Worker out;
  out.id = worker.id();
  out.name = worker.name().empty() ? absl::StrCat("pid ", worker.pid()) : worker.name();
  out.where = worker.local() ? "local" : worker.host();
  out.state = StateName(worker.state());
  out.build_id = worker.build_id();
  out.last_death = worker.last_death();
  for (const v1::Hello::Target& target : worker.targets()) out.targets.push_back(target.name());
  for (const v1::Hello::Device& device : worker.devices())
    out.devices.push_back(
        absl::StrCat(device.name(), " ", device.lost().empty() ? device.model() : "out of service: " + device.lost()));
  auto done = stats.done.find(worker.id());
  if (done != stats.done.end()) out.jobs_done = done->second;
  out.resident_bytes = worker.resident_bytes();
  out.confinement = worker.confinement();
  out.deaths = worker.deaths();
  if (worker.has_attached()) {
    using google::protobuf::util::TimeUtil;
    out.attached = timing::FromWallTime(absl::FromUnixNanos(TimeUtil::TimestampToNanoseconds(worker.attached())), now);
  }
  return out;
}

std::string StateName(v1::CandidateReport::State state) {
  switch (state) {
    case v1::CandidateReport::STATE_COMPILED:
      return "compiled";
    case v1::CandidateReport::STATE_REJECTED:
      return "rejected";
    case v1::CandidateReport::STATE_WRONG:
      return "wrong";
    case v1::CandidateReport::STATE_TIMED:
      return "timed";
    case v1::CandidateReport::STATE_SKIPPED:
      return "skipped";
    default:
      return "failed";
  }
}

StatusView::Tuning ToTuning(const TuningGlimpse& glimpse) {
  StatusView::Tuning out;
  out.key = glimpse.key;
  out.label = glimpse.label;
  out.tenant = glimpse.tenant;
  out.device = glimpse.device;
  out.started = glimpse.started;
  out.state = !glimpse.end.has_value() ? "running" : glimpse.end->ok() ? "done" : std::string(glimpse.end->message());
  for (const v1::CandidateReport& report : glimpse.candidates) {
    if (glimpse.winner == report.index()) out.winner = static_cast<int>(out.candidates.size());
    out.candidates.push_back(
        {report.name(), StateName(report.state()), report.reason(), report.median_us(), report.spread_us()});
  }
  return out;
}

// Whatever cache counts under the name that they share is a level; a new one appears by itself.
std::vector<StatusView::CacheLevel> Levels(const prometheus::Registry& registry) {
  std::map<std::string, StatusView::CacheLevel> levels;
  for (const prometheus::MetricFamily& family : registry.Collect()) {
    if (family.name != kCacheRequests) continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::map<std::string, std::string> labels;
      for (const auto& label : metric.label) labels[label.name] = label.value;
      if (labels["op"] != "get") continue;
      StatusView::CacheLevel& level = levels[labels["cache"]];
      const std::string& outcome = labels["outcome"];
      (outcome == "hit"    ? level.hits
       : outcome == "miss" ? level.misses
                           : level.errors) += static_cast<uint64_t>(metric.counter.value);
    }
  }
  std::vector<StatusView::CacheLevel> list;
  for (auto& [name, level] : levels) {
    level.name = name;
    list.push_back(std::move(level));
  }
  return list;
}

StatusView::Cluster ToCluster(const std::string& name, const ClusterLink& link) {
  const SingleFlight::Stats flights = link.flight_stats();
  const WorkSharing::Stats sharing = link.sharing_stats();
  StatusView::Cluster out;
  out.name = name;
  out.nodes = link.nodes();
  out.leases_held = flights.held;
  out.leases_granted = flights.granted;
  out.leases_lost = flights.lost;
  out.unleased = flights.alone;
  out.following = flights.following;
  out.followed = flights.followed;
  out.jobs_offered = sharing.offered;
  out.jobs_taken = sharing.taken;
  out.publish_failures = flights.publish_failures;
  return out;
}

std::vector<StatusView::Target> Targets(CompileBroker& broker, const JobStore& jobs) {
  std::map<std::string, StatusView::Target> targets;
  targets[""];
  for (const TargetCatalog::Standing& standing : broker.targets().Standings())
    targets[standing.target] = {"", standing.ready, standing.waiting, standing.workers, standing.of_others};
  for (const auto& [name, waiting] : jobs.WaitingForWorkers())
    targets[targets.count(name) > 0 ? name : ""].waiting += waiting;
  std::vector<StatusView::Target> list;
  for (auto& [name, target] : targets) {
    target.name = name;
    list.push_back(std::move(target));
  }
  return list;
}

std::string RequestJson(const v1::CompileRequest& request) {
  nlohmann::json json{{"target", request.target()}, {"input", StageName(request.input())}};
  const v1::LaunchAbi& abi = request.abi();
  json["launch_abi"] = !abi.global_scratch() ? "none" : abi.profile_scratch() ? "both" : "global";
  json["descriptor_flags"] = abi.descriptor_flags();
  if (abi.host_tensor_maps()) json["host_tensor_maps"] = true;
  json["debug_info"] = request.debug_info();
  for (int output : request.outputs()) json["outputs"].push_back(StageName(static_cast<v1::Stage>(output)));
  json["options"] = nlohmann::json::parse(proto::CanonicalOptions(request.options()), nullptr, false);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

StatusView StatusSource::Status() const {
  CompileBroker& broker = parts_.broker;
  const Metrics& metrics = broker.metrics();
  StatusView view;
  view.version = broker.config().version;
  view.addresses = parts_.addresses;
  view.now = broker.Now();
  view.wall_ahead = timing::ToWallTime(view.now, view.now) - view.now;
  view.started = broker.started();
  view.draining = broker.scheduler().draining();
  view.not_ready = parts_.not_ready();
  view.degraded = parts_.degraded();
  view.tls_refused = parts_.tls != nullptr && !parts_.tls->problem().empty();
  view.scheduler = broker.scheduler().GetStats();
  view.requests = {{"hit", Count(metrics.hits)},
                   {"miss", Count(metrics.misses)},
                   {"joined", Count(metrics.joined)},
                   {"error_hit", Count(metrics.error_hits)},
                   {"failed", Count(metrics.failures)},
                   {"refused", Count(metrics.refused)},
                   {"cancelled", Count(metrics.cancelled)},
                   {"lookup_miss", Count(metrics.lookup_misses)},
                   {"rejected", view.scheduler.rejected}};
  view.saved_cpu_seconds = metrics.saved_cpu_seconds.Value();
  view.workers_lost = Count(metrics.workers_lost);
  view.open_jobs = parts_.jobs.open();
  view.quarantined = broker.scheduler().Quarantined().size();
  view.stored_results = broker.store().index().size();
  view.stored_bytes = broker.store().index().size_bytes();
  view.stored_limit_bytes = broker.config().store.stored_bytes;
  for (v1::Worker& worker : broker.pool().List()) {
    broker.devices().Describe(&worker);
    view.workers.push_back(ToWorker(worker, view.scheduler, view.now));
  }
  view.targets = Targets(broker, parts_.jobs);
  view.levels = Levels(parts_.registry);
  view.stores = parts_.cache.stats();
  view.latency = {{"hit", broker.activity().hits().Points()},
                  {"queue", broker.activity().waits().Points()},
                  {"compile", broker.activity().runs().Points()}};
  for (const TuningGlimpse& glimpse : parts_.tunings.Latest()) view.tunings.push_back(ToTuning(glimpse));
  if (broker.cluster() != nullptr) view.cluster = ToCluster(broker.config().name, *broker.cluster());
  view.jobs = broker.activity().jobs().Latest(kJobsShown);
  return view;
}

std::optional<JobView> StatusSource::Job(const std::string& id) const {
  JobView view;
  view.now = parts_.broker.Now();
  view.wall_ahead = timing::ToWallTime(view.now, view.now) - view.now;
  view.open = parts_.broker.scheduler().FindOpen(id);
  if (view.open.has_value()) return view;
  view.ended = parts_.broker.activity().jobs().Find(id);
  if (view.ended == nullptr) return std::nullopt;
  absl::StatusOr<v1::CompileRequest> request = parts_.texts.Request(*view.ended);
  if (request.ok()) view.request_json = RequestJson(*request);
  view.made = parts_.texts.Made(*view.ended);
  view.making = parts_.texts.Making(id);
  return view;
}

}  // namespace tritond::server
