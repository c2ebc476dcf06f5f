// SPDX-License-Identifier: Apache-2.0
// Whole searches on simulated devices. Part of the tests.
#ifndef SERVER_AUTOTUNE_SIMULATED_SEARCH_H_
#define SERVER_AUTOTUNE_SIMULATED_SEARCH_H_

#include <cstdint>

#include "server/autotune/simulated_device.h"

namespace tritond::server {

struct SimulatedResult {
  SearchEnd end = SearchEnd::kNone;
  bool right = false;      // the winner runs, and computes what it should
  double regret = 0;       // how much longer the winner takes than the best, cold and without noise: 0.02 is 2 %
  double regret_seen = 0;  // than the best of those that the search tried
  double tried_share = 0;  // of the candidates
  double cost_share = 0;   // of the device time that SimulatedDevice::NaiveSeconds says
  double device_seconds = 0;
};

// One search; every seed is another problem, device and search.
SimulatedResult Simulate(LandscapeKind kind, const Faults& faults, SearchConfig config, uint64_t seed);

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_SIMULATED_SEARCH_H_
