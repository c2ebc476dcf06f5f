// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/scale.md.
//
//   scale_table [DIVISOR [ROW]]      # so many times fewer daemons and clients (default 1); one row, from 1
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/load/simulated_cluster.h"

namespace tritond::tests {
namespace {

struct Row {
  const char* name;
  ClusterScenario scenario;
};

std::vector<Row> Rows(int divisor) {
  std::vector<Row> rows;
  for (bool by_key : {true, false}) {
    ClusterScenario base;
    base.daemons /= divisor;
    base.clients /= divisor;
    base.by_key = by_key;
    ClusterScenario warm = base, parallel = base, restart = base, upgrade = base, shard = base;
    warm.warm = true;
    parallel.parallel = 64;
    restart.restart_every = absl::Milliseconds(500);
    restart.restart_takes = absl::Milliseconds(500);
    upgrade.restart_every = upgrade.restart_takes = absl::Milliseconds(500);
    upgrade.start_spread = absl::Seconds(3 * base.daemons);  // Most clients start after the upgrade.
    upgrade.upgrade = true;
    shard.shard_lost_at = absl::Seconds(60);
    rows.insert(rows.end(), {{"cold, one kernel after the other", base},
                             {"cold, 64 kernels at once", parallel},
                             {"warm", warm},
                             {"cold, daemons restarted one after the other", restart},
                             {"cold, daemons upgraded to a new compiler build one after the other", upgrade},
                             {"cold, a shard of the engine lost for 15 s", shard}});
  }
  return rows;
}

void Print(const Row& row) {
  const ClusterFigures figures = SimulateCluster(row.scenario);
  std::printf("| %s | %s | %llu | %llu | %d | %.1f s | %llu | %.0f |\n", row.name, row.scenario.by_key ? "all" : "one",
              static_cast<unsigned long long>(figures.requests), static_cast<unsigned long long>(figures.compiles),
              figures.most_of_a_key, absl::ToDoubleSeconds(figures.last_answer),
              static_cast<unsigned long long>(figures.peak_operations),
              figures.polls / absl::ToDoubleSeconds(figures.last_answer));
  if (figures.unanswered > 0) std::printf("%d clients had not ended after an hour\n", figures.unanswered);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tritond::tests

int main(int argc, char** argv) {
  const auto rows = tritond::tests::Rows(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
  const size_t only = argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : 0;
  std::puts(
      "| start | clients name | requests | compiles | most of a kernel | last answer | engine, most operations a "
      "second | looks for work a second |\n|---|---|---|---|---|---|---|---|");
  for (size_t i = 0; i < rows.size(); ++i) {
    if (only == 0 || only == i + 1) tritond::tests::Print(rows[i]);
  }
}
