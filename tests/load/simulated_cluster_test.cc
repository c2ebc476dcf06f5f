// SPDX-License-Identifier: Apache-2.0
// What docs/scale.md promises of a large cluster, on a smaller one.
#include "tests/load/simulated_cluster.h"

#include <gtest/gtest.h>

namespace tritond::tests {
namespace {

ClusterScenario Small(bool by_key) {
  ClusterScenario scenario;
  scenario.daemons = 20;
  scenario.workers = 4;
  scenario.clients = 400;
  scenario.groups = 4;
  scenario.kernels = 60;
  scenario.parallel = 8;
  scenario.by_key = by_key;
  scenario.start_spread = absl::Seconds(2);
  return scenario;
}

// Every client has every kernel.
void ExpectAllAnswered(const ClusterScenario& scenario, const ClusterFigures& figures) {
  EXPECT_EQ(figures.unanswered, 0);
  EXPECT_EQ(figures.requests, uint64_t{1} * scenario.clients * scenario.kernels);
}

class Clients : public testing::TestWithParam<bool> {};

TEST_P(Clients, CompileEachKernelOnceOnAColdCluster) {
  const ClusterScenario scenario = Small(GetParam());
  const ClusterFigures figures = SimulateCluster(scenario);
  ExpectAllAnswered(scenario, figures);
  EXPECT_EQ(figures.compiles, 60u);
  EXPECT_EQ(figures.most_of_a_key, 1);
  // A daemon looks, follows a compile of some hundred milliseconds, and reads.
  EXPECT_LT(figures.operations, uint64_t{20} * scenario.kernels * (GetParam() ? 1 : scenario.daemons));
  EXPECT_LT(figures.last_answer, absl::Seconds(30));
}

TEST_P(Clients, CompileNothingOnAWarmCluster) {
  ClusterScenario scenario = Small(GetParam());
  scenario.warm = true;
  const ClusterFigures figures = SimulateCluster(scenario);
  ExpectAllAnswered(scenario, figures);
  EXPECT_EQ(figures.compiles, 0u);
  // A look, the result and its artifact: once for each daemon that is asked for the kernel.
  EXPECT_EQ(figures.operations, uint64_t{3} * scenario.kernels * (GetParam() ? 1 : scenario.daemons));
}

TEST_P(Clients, AreAnsweredThroughARollingRestartAndOnlyLostCompilesComeAgain) {
  ClusterScenario scenario = Small(GetParam());
  scenario.restart_every = absl::Milliseconds(200);
  scenario.restart_takes = absl::Milliseconds(300);
  const ClusterFigures figures = SimulateCluster(scenario);
  ExpectAllAnswered(scenario, figures);
  EXPECT_GT(figures.lost, 0u);
  // A daemon may die after its compile and before it has handed the result over.
  EXPECT_LE(figures.compiles, scenario.kernels + 2 * figures.lost + 2);
  EXPECT_LT(figures.last_answer, absl::Minutes(2));
}

TEST_P(Clients, AreAnsweredThroughAnUpgradeOfTheCompilerThatCompilesEachKernelOnceMore) {
  ClusterScenario scenario = Small(GetParam());
  scenario.start_spread = absl::Seconds(30);  // Half of them start after the upgrade.
  scenario.restart_every = absl::Milliseconds(200);
  scenario.restart_takes = absl::Milliseconds(300);
  scenario.upgrade = true;
  const ClusterFigures figures = SimulateCluster(scenario);
  ExpectAllAnswered(scenario, figures);
  // Kernels of daemons that are upgraded before anybody asks for them are compiled by the new build alone.
  EXPECT_GE(figures.compiles, uint64_t{1} * scenario.kernels + scenario.kernels / 2);
  EXPECT_LE(figures.compiles, 2 * scenario.kernels + 2 * figures.lost + 2);
  EXPECT_LE(figures.most_of_a_key, 2) << "a compile that a killed daemon had begun comes again";
}

TEST_P(Clients, AreAnsweredThoughAShardOfTheEngineIsLost) {
  ClusterScenario scenario = Small(GetParam());
  scenario.shards = 3;
  scenario.shard_lost_at = absl::Milliseconds(500);
  const ClusterFigures figures = SimulateCluster(scenario);
  ExpectAllAnswered(scenario, figures);
  // Without leases each daemon that is asked compiles for itself, and perhaps what another one offers. Where clients
  // name all daemons, one is asked.
  EXPECT_LE(figures.most_of_a_key, GetParam() ? 1 : 2 * scenario.daemons);
  EXPECT_GE(figures.compiles, 60u);
}

TEST(Simulation, GivesTheSameTwice) {
  const ClusterFigures one = SimulateCluster(Small(false)), two = SimulateCluster(Small(false));
  EXPECT_EQ(one.operations, two.operations);
  EXPECT_EQ(one.polls, two.polls);
  EXPECT_EQ(one.last_answer, two.last_answer);
}

INSTANTIATE_TEST_SUITE_P(Asking, Clients, testing::Bool(),
                         [](const auto& info) { return info.param ? "TheKeysDaemon" : "OneDaemon"; });

}  // namespace
}  // namespace tritond::tests
