// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/simulated_search.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace tritond::server {
namespace {

// Ends a search that would go on for ever.
constexpr int kMostTurns = 10000;

}  // namespace

SimulatedResult Simulate(LandscapeKind kind, const Faults& faults, SearchConfig config, uint64_t seed) {
  config.seed = seed;
  const Landscape landscape = MakeLandscape(kind, seed);
  SimulatedDevice device(landscape, faults, seed + 1);
  Search search(config, FeatureTable(landscape.numbers));
  for (int i = 0; i < kMostTurns; ++i) {
    const std::optional<Turn> turn = search.Next();
    if (!turn.has_value()) break;
    search.Report(device.Run(*turn));
    for (size_t wrong : device.wrong_seen()) search.Exclude(wrong);
  }
  SimulatedResult result;
  result.end = search.end();
  result.device_seconds = search.record().device_seconds();
  result.cost_share = result.device_seconds / device.NaiveSeconds();
  result.tried_share = static_cast<double>(search.record().tried()) / static_cast<double>(landscape.time_us.size());
  const std::optional<size_t> winner = search.Winner();
  if (!winner.has_value()) return result;
  double best_seen = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < landscape.time_us.size(); ++i) {
    if (search.record().IsTried(i) && device.IsGood(i)) best_seen = std::min(best_seen, landscape.time_us[i]);
  }
  result.right = device.IsGood(*winner);
  result.regret = landscape.time_us[*winner] / device.BestTime() - 1;
  result.regret_seen = landscape.time_us[*winner] / best_seen - 1;
  return result;
}

}  // namespace tritond::server
