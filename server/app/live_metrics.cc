// SPDX-License-Identifier: Apache-2.0
#include "server/app/live_metrics.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/plain_text/plain_text.h"
#include "server/compile/metrics.h"

namespace tritond::server {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Families {
 public:
  // The metric's values follow. It is a counter if its name ends in _total, else a gauge.
  void Begin(const char* name, const char* help) {
    list_.emplace_back();
    list_.back().name = name;
    list_.back().help = help;
    list_.back().type =
        absl::EndsWith(name, "_total") ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  }
  void Value(double value, const Labels& labels = {}) {
    prometheus::ClientMetric& metric = list_.back().metric.emplace_back();
    for (const auto& [name, text] : labels) metric.label.push_back({name, text});
    (list_.back().type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  }
  std::vector<prometheus::MetricFamily> Take() {
    std::vector<prometheus::MetricFamily> filled;
    for (prometheus::MetricFamily& family : list_) {
      if (!family.metric.empty()) filled.push_back(std::move(family));
    }
    return filled;
  }

 private:
  std::vector<prometheus::MetricFamily> list_;
};

void AddDaemon(const StatusView& view, Families* out) {
  out->Begin("tritond_build_info", "Version of the daemon, in a label.");
  out->Value(1, {{"version", view.version}});
  out->Begin("tritond_start_time_seconds", "Start time of the daemon, since 1970.");
  out->Value(absl::ToDoubleSeconds(view.started - absl::UnixEpoch()));
  out->Begin("tritond_ready", "1: a compile can succeed.");
  out->Value(view.not_ready.empty() ? 1 : 0);
  out->Begin("tritond_draining", "1: the daemon refuses new compiles.");
  out->Value(view.draining ? 1 : 0);
  out->Begin("tritond_tls_refused", "1: changed TLS files are not valid; the earlier ones stay in use.");
  out->Value(view.tls_refused ? 1 : 0);
  out->Begin("tritond_open_jobs", "Submitted jobs that have not ended.");
  out->Value(static_cast<double>(view.open_jobs));
  out->Begin("tritond_quarantined", "Kernels in quarantine, because they killed workers or an admin put them there.");
  out->Value(static_cast<double>(view.quarantined));
  out->Begin("tritond_stored_limit_bytes", "Limit of stored bytes, before compression; 0: no limit.");
  out->Value(static_cast<double>(view.stored_limit_bytes));
}

void AddQueues(const StatusView& view, Families* out) {
  out->Begin("tritond_oldest_wait_seconds", "Waiting time of the oldest queued job, by class.");
  for (int i = 0; i < kJobClasses; ++i) {
    out->Value(absl::ToDoubleSeconds(view.scheduler.classes[i].oldest_wait),
               {{"class", JobClassName(static_cast<JobClass>(i))}});
  }
  SchedulerStats::Tenant other;
  size_t named = 0;
  out->Begin("tritond_tenant_jobs", "Jobs by tenant and state, for tenants with jobs.");
  std::map<std::string, SchedulerStats::Tenant> tenants = view.scheduler.tenants;
  tenants[""];  // Always there, so that the metric is.
  for (const auto& [tenant, jobs] : tenants) {
    if (++named > kMaxSeries) {
      other.queued += jobs.queued;
      other.running += jobs.running;
      continue;
    }
    out->Value(static_cast<double>(jobs.queued), {{"tenant", tenant}, {"state", "queued"}});
    out->Value(static_cast<double>(jobs.running), {{"tenant", tenant}, {"state", "running"}});
  }
  if (named <= kMaxSeries) return;
  out->Value(static_cast<double>(other.queued), {{"tenant", "other"}, {"state", "queued"}});
  out->Value(static_cast<double>(other.running), {{"tenant", "other"}, {"state", "running"}});
}

// One value for each of the first workers.
template <typename Value>
void AddWorkerValues(const StatusView& view, const char* name, const char* help, Value value, Families* out) {
  out->Begin(name, help);
  for (size_t i = 0; i < view.workers.size() && i < kMaxSeries; ++i) {
    const StatusView::Worker& worker = view.workers[i];
    if (!worker.id.empty()) out->Value(value(worker), {{"worker", worker.id}, {"name", worker.name}});
  }
}

void AddWorkers(const StatusView& view, Families* out) {
  std::map<std::string, double> states{{"idle", 0}, {"busy", 0}};
  double unconfined = 0;
  for (const StatusView::Worker& worker : view.workers) {
    ++states[worker.state];
    unconfined += !worker.id.empty() && worker.devices.empty() &&
                  worker.confinement.empty();  // Devices run, and compile nothing.
  }
  out->Begin("tritond_workers", "Workers by state.");
  for (const auto& [state, count] : states) out->Value(count, {{"state", absl::StrReplaceAll(state, {{" ", "_"}})}});
  out->Begin("tritond_workers_unconfined",
             "Attached workers without Landlock and namespaces, confined by file permissions alone.");
  out->Value(unconfined);
  AddWorkerValues(
      view, "tritond_worker_resident_bytes", "Resident memory of a worker, from its last heartbeat.",
      [](const StatusView::Worker& worker) { return static_cast<double>(worker.resident_bytes); }, out);
  AddWorkerValues(
      view, "tritond_worker_jobs_total", "Ended compiles of a worker since it attached.",
      [](const StatusView::Worker& worker) { return static_cast<double>(worker.jobs_done); }, out);
  AddWorkerValues(
      view, "tritond_worker_busy", "1: the worker compiles.",
      [](const StatusView::Worker& worker) { return worker.state == "busy" ? 1.0 : 0.0; }, out);
}

void AddTargets(const StatusView& view, Families* out) {
  const auto each = [&view](const auto& add) {
    for (size_t i = 0; i < view.targets.size() && i < kMaxSeries; ++i) add(view.targets[i]);
  };
  out->Begin("tritond_target_ready", "1: a worker of the target's active compiler build is attached.");
  each([out](const StatusView::Target& target) {
    if (!target.name.empty()) out->Value(target.ready ? 1 : 0, {{"target", target.name}});
  });
  out->Begin(
      "tritond_target_waiting",
      "Calls and submitted jobs that wait for a worker of the target; other: targets that no worker has offered.");
  each([out](const StatusView::Target& target) {
    out->Value(static_cast<double>(target.waiting), {{"target", target.name.empty() ? "other" : target.name}});
  });
  out->Begin("tritond_target_workers", "Workers of the target, with the active compiler build and with others.");
  each([out](const StatusView::Target& target) {
    if (target.name.empty()) return;
    out->Value(static_cast<double>(target.workers), {{"target", target.name}, {"build", "active"}});
    out->Value(static_cast<double>(target.of_others), {{"target", target.name}, {"build", "other"}});
  });
}

void AddStores(const StatusView& view, Families* out) {
  const auto name_of = [](const cache::StoreStats& store) { return absl::StrCat(store.cache, "/", store.store); };
  out->Begin("tritond_store_entries", "Entries of a store; estimated on disk.");
  for (const auto& store : view.stores) out->Value(static_cast<double>(store.entries), {{"store", name_of(store)}});
  out->Begin("tritond_store_bytes", "Size of a store; estimated on disk.");
  for (const auto& store : view.stores) out->Value(static_cast<double>(store.size_bytes), {{"store", name_of(store)}});
  out->Begin("tritond_store_capacity_bytes", "Limit of the size of a store; 0: no limit.");
  for (const auto& store : view.stores) {
    out->Value(static_cast<double>(store.capacity_bytes), {{"store", name_of(store)}});
  }
}

// One value for each of the first nodes of the engine.
template <typename Value>
void AddNodeValues(const std::vector<cache::EngineNode>& nodes, const char* name, const char* help, Value value,
                   Families* out) {
  out->Begin(name, help);
  for (size_t i = 0; i < nodes.size() && i < kMaxSeries; ++i) out->Value(value(nodes[i]), {{"node", nodes[i].address}});
}

void AddEngine(const StatusView& view, Families* out) {
  std::vector<cache::EngineNode> nodes;
  if (view.cluster.has_value()) nodes = view.cluster->nodes;
  const size_t away = cache::NodesAway(nodes).size();
  out->Begin("tritond_cluster_nodes", "Nodes of the cluster's engine, by state.");
  out->Value(static_cast<double>(nodes.size() - away), {{"state", "up"}});
  out->Value(static_cast<double>(away), {{"state", "away"}});
  out->Begin("tritond_cluster_publish_failures_total", "Results that the engine did not store.");
  out->Value(view.cluster.has_value() ? static_cast<double>(view.cluster->publish_failures) : 0);
  AddNodeValues(
      nodes, "tritond_cluster_node_up", "1: the node works.",
      [](const cache::EngineNode& node) { return node.answers ? 1.0 : 0.0; }, out);
  AddNodeValues(
      nodes, "tritond_cluster_node_latency_seconds", "Recent latency of a round trip to a node.",
      [](const cache::EngineNode& node) { return absl::ToDoubleSeconds(node.latency); }, out);
  AddNodeValues(
      nodes, "tritond_cluster_node_calls_total", "Calls to a node.",
      [](const cache::EngineNode& node) { return static_cast<double>(node.calls); }, out);
  AddNodeValues(
      nodes, "tritond_cluster_node_failures_total", "Calls that a node refused or did not answer.",
      [](const cache::EngineNode& node) { return static_cast<double>(node.failures); }, out);
}

}  // namespace

std::vector<prometheus::MetricFamily> LiveMetrics(const StatusView& view) {
  Families families;
  AddDaemon(view, &families);
  AddQueues(view, &families);
  AddWorkers(view, &families);
  AddTargets(view, &families);
  AddStores(view, &families);
  AddEngine(view, &families);
  return families.Take();
}

void HideTenants(const PageAccess& access, std::vector<prometheus::MetricFamily>* families) {
  const auto hidden = [&access](const prometheus::ClientMetric& metric) {
    return std::any_of(metric.label.begin(), metric.label.end(),
                       [&access](const auto& label) { return label.name == "tenant" && !access.Shows(label.value); });
  };
  for (prometheus::MetricFamily& family : *families) {
    family.metric.erase(std::remove_if(family.metric.begin(), family.metric.end(), hidden), family.metric.end());
  }
  families->erase(std::remove_if(families->begin(), families->end(),
                                 [](const prometheus::MetricFamily& family) { return family.metric.empty(); }),
                  families->end());
}

void EscapeLabels(std::vector<prometheus::MetricFamily>* families) {
  for (prometheus::MetricFamily& family : *families) {
    for (prometheus::ClientMetric& metric : family.metric) {
      for (auto& label : metric.label) {
        if (!proto::IsPlainText(label.value)) label.value = proto::EscapeToPlain(label.value);
      }
    }
  }
}

}  // namespace tritond::server
