// SPDX-License-Identifier: Apache-2.0
#include "server/app/live_metrics.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include "absl/strings/str_cat.h"
#include "proto/plain_text/plain_text.h"
#include "server/app/compile_metrics.h"

namespace tritond::server {
namespace {

std::string Text(const std::vector<prometheus::MetricFamily>& families) {
  return prometheus::TextSerializer().Serialize(families);
}

size_t SeriesOf(const std::string& text, const std::string& name) {
  size_t count = 0;
  for (size_t at = text.find("\n" + name + "{"); at != std::string::npos; at = text.find("\n" + name + "{", at + 1))
    ++count;
  return count;
}

TEST(LiveMetrics, TellOfWorkersTenantsAndStores) {
  StatusView view;
  view.version = "1.2.3";
  view.not_ready = "no worker is attached";
  view.workers.push_back({"w1", "node/17", "local", "busy", "build", "", {}, {}, 12, 100, 2, absl::FromUnixSeconds(1)});
  view.scheduler.tenants = {{"blue", {3, 1}}};
  view.stores = {{"blobs", "memory", 5, 2, 0}};
  const std::string text = Text(LiveMetrics(view));
  for (const char* line :
       {"tritond_build_info{version=\"1.2.3\"} 1\n", "tritond_ready 0\n", "tritond_workers{state=\"busy\"} 1\n",
        "tritond_workers{state=\"idle\"} 0\n", "tritond_workers_unconfined 1\n",
        "tritond_worker_resident_bytes{worker=\"w1\",name=\"node/17\"} 100\n",
        "tritond_tenant_jobs{tenant=\"blue\",state=\"queued\"} 3\n",
        "tritond_store_entries{store=\"blobs/memory\"} 5\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(LiveMetrics, CountNeitherConfinedWorkersNorThoseThatAreNotAttachedAsUnconfined) {
  StatusView view;
  view.workers.resize(2);
  view.workers[0].id = "w1";
  view.workers[0].confinement = "landlock 7";
  EXPECT_NE(Text(LiveMetrics(view)).find("tritond_workers_unconfined 0\n"), std::string::npos);
}

TEST(LiveMetrics, TellWhichTargetsHaveWorkers) {
  StatusView view;
  view.targets = {{"", false, 2, 0, 0}, {"cuda:80", false, 3, 0, 0}, {"cuda:90", true, 0, 4, 1}};
  const std::string text = Text(LiveMetrics(view));
  for (const char* line :
       {"tritond_target_ready{target=\"cuda:80\"} 0\n", "tritond_target_ready{target=\"cuda:90\"} 1\n",
        "tritond_target_waiting{target=\"other\"} 2\n", "tritond_target_waiting{target=\"cuda:80\"} 3\n",
        "tritond_target_workers{target=\"cuda:90\",build=\"active\"} 4\n",
        "tritond_target_workers{target=\"cuda:90\",build=\"other\"} 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(SeriesOf(text, "tritond_target_ready"), 2u);
}

TEST(LiveMetrics, TellWhichNodesOfTheEngineAreAway) {
  StatusView view;
  EXPECT_NE(Text(LiveMetrics(view)).find("tritond_cluster_nodes{state=\"away\"} 0\n"), std::string::npos);
  view.cluster.emplace();
  view.cluster->nodes = {{"a:1", true, "", false, 8192, 10, 0, absl::Milliseconds(2)},
                         {"b:1", false, "", false, 8192, 7, 3, {}}};
  view.cluster->publish_failures = 4;
  const std::string text = Text(LiveMetrics(view));
  for (const char* line :
       {"tritond_cluster_nodes{state=\"up\"} 1\n", "tritond_cluster_nodes{state=\"away\"} 1\n",
        "tritond_cluster_node_up{node=\"a:1\"} 1\n", "tritond_cluster_node_up{node=\"b:1\"} 0\n",
        "tritond_cluster_node_latency_seconds{node=\"a:1\"} 0.002\n",
        "tritond_cluster_node_calls_total{node=\"b:1\"} 7\n", "tritond_cluster_node_failures_total{node=\"b:1\"} 3\n",
        "tritond_cluster_publish_failures_total 4\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(LiveMetrics, AreBounded) {
  StatusView view;
  for (size_t i = 0; i < 3 * kMaxSeries; ++i) {
    view.workers.push_back({absl::StrCat("w", i), "n", "local", "idle", "", "", {}, {}, 0, 0, 0, absl::Time()});
    view.scheduler.tenants[absl::StrCat("t", i)] = {1, 0};
  }
  const std::string text = Text(LiveMetrics(view));
  EXPECT_EQ(SeriesOf(text, "tritond_worker_busy"), kMaxSeries);
  EXPECT_EQ(SeriesOf(text, "tritond_tenant_jobs"), 2 * kMaxSeries + 2);
  EXPECT_NE(text.find(absl::StrCat("tritond_tenant_jobs{tenant=\"other\",state=\"queued\"} ", 2 * kMaxSeries + 1)),
            std::string::npos);
}

TEST(CompileMetrics, CountByOutcomeStageAndTenant) {
  prometheus::Registry registry;
  CompileMetrics metrics(registry);
  JobRecord record;
  record.job.attempts = 1;
  record.job.tenant = "blue";
  record.stages = {{"ttgir", absl::Milliseconds(20)}};
  metrics.OnEnd(record);
  record.recalled = true;
  metrics.OnEnd(record);
  record.job.status = absl::InvalidArgumentError("no");
  metrics.OnEnd(record);
  for (size_t i = 0; i < 2 * CompileMetrics::kMaxTenants; ++i) {
    record.job.tenant = absl::StrCat("tenant", i);
    metrics.OnEnd(record);
  }
  const std::string text = Text(registry.Collect());
  for (const char* line :
       {"tritond_compiles_total{class=\"interactive\",outcome=\"ok\"} 1\n", "outcome=\"recalled\"} 1\n",
        "outcome=\"invalid_argument\"} 201\n", "tritond_tenant_compiles_total{tenant=\"blue\"} 3\n",
        "tritond_tenant_compiles_total{tenant=\"other\"} 101\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(SeriesOf(text, "tritond_tenant_compiles_total"), CompileMetrics::kMaxTenants + 1);
}

TEST(HideTenants, LeavesTheCallersOwnAndWhatNamesNone) {
  StatusView view;
  view.scheduler.tenants = {{"blue", {3, 1}}, {"red", {2, 0}}};
  const auto text_for = [&](const PageAccess& access) {
    std::vector<prometheus::MetricFamily> families = LiveMetrics(view);
    HideTenants(access, &families);
    return Text(families);
  };
  PageAccess access;
  EXPECT_EQ(text_for(access).find("tenant"), std::string::npos);
  EXPECT_NE(text_for(access).find("tritond_ready"), std::string::npos);
  access.details = true;
  EXPECT_EQ(SeriesOf(text_for(access), "tritond_tenant_jobs"), 6u);
  access.tenant = "blue";
  EXPECT_EQ(SeriesOf(text_for(access), "tritond_tenant_jobs"), 2u);
  EXPECT_EQ(text_for(access).find("\"red\""), std::string::npos);
}

TEST(EscapeLabels, NoValueHasControlCharacters) {
  StatusView view;
  StatusView::Worker worker;
  worker.id = "w1";
  worker.name = "a\nb\x1b[2J\xff";
  worker.state = "idle";
  view.workers.push_back(worker);
  std::vector<prometheus::MetricFamily> families = LiveMetrics(view);
  EscapeLabels(&families);
  bool seen = false;
  for (const prometheus::MetricFamily& family : families) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      for (const auto& label : metric.label) {
        EXPECT_TRUE(proto::IsPlainText(label.value)) << family.name;
        seen |= label.value == "a\\x0ab\\x1b[2J\\xff";
      }
    }
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace tritond::server
