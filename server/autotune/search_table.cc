// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/tuning.md: every strategy on every landscape.
//
//   search_table [SEARCHES]      # of each kind; default 200
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "server/autotune/sample_statistics.h"
#include "server/autotune/simulated_search.h"

namespace tritond::server {
namespace {

struct Row {
  const char* name;
  StrategyKind strategy;
};
constexpr Row kRows[] = {{"exhaustive", StrategyKind::kExhaustive},
                         {"random", StrategyKind::kRandom},
                         {"successive halving", StrategyKind::kHalving},
                         {"model guided", StrategyKind::kModelGuided}};

void PrintRow(LandscapeKind kind, const Row& row, int searches) {
  SearchConfig config;
  config.strategy = row.strategy;
  std::vector<double> regrets, costs, tried;
  int good = 0, clear = 0, wrong = 0;
  for (int i = 0; i < searches; ++i) {
    const SimulatedResult result = Simulate(kind, Faults(), config, static_cast<uint64_t>(i) * 1000003);
    good += result.right && result.regret <= 0.02;
    wrong += !result.right;
    clear += result.end == SearchEnd::kClear;
    regrets.push_back(result.regret);
    costs.push_back(result.cost_share);
    tried.push_back(result.tried_share);
  }
  std::printf("| %s | %s | %.1f %% | %.2f %% | %.1f %% | %.0f %% | %.1f %% |\n", NameOf(kind).c_str(), row.name,
              100.0 * good / searches, 100 * Median(regrets), 100 * Quantile(regrets, 0.95), 100 * Median(tried),
              100 * Median(costs));
  if (wrong + searches - clear > 0)
    std::fprintf(stderr, "%d of %d were not clear, %d without a right winner\n", searches - clear, searches, wrong);
}

}  // namespace
}  // namespace tritond::server

int main(int argc, char** argv) {
  using namespace tritond::server;
  const int searches = argc > 1 ? std::atoi(argv[1]) : 200;
  if (searches < 1) return 2;
  std::printf("| landscape | strategy | within 2 %% | median loss | 95 of 100 lose at most | tried | cost |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (LandscapeKind kind : kAllLandscapes) {
    for (const Row& row : kRows) PrintRow(kind, row, searches);
  }
}
