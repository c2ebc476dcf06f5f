// SPDX-License-Identifier: Apache-2.0
// What a device is asked to do next, and what it did.
#ifndef SERVER_AUTOTUNE_TURN_H_
#define SERVER_AUTOTUNE_TURN_H_

#include <cstddef>
#include <vector>

namespace tritond::server {

// Some candidates, timed in turns: every round visits each of them once. A hot GPU clocks down, so that only times of
// one round compare well. Odd rounds go backwards: what drifts steadily cancels between a round and the next.
struct Turn {
  std::vector<size_t> candidates;  // in the order of the first round, none twice
  int rounds = 2;
  int samples = 3;  // a visit's timed launches; an untimed one goes before them
  // A visit ends with its first sample if that is longer: slow candidates would take most of the budget.
  double stop_above_us = 0;   // 0: never
  double device_seconds = 0;  // the turn ends after the visit that reaches this; 0: no limit
};

// The candidates of a round in the order in which they are visited.
std::vector<size_t> OrderOf(const Turn& turn, int round);

struct Visit {
  size_t candidate = 0;
  int round = 0;                   // of its turn
  std::vector<double> samples_us;  // empty: the candidate failed, and is measured no more
};

struct TurnReport {
  std::vector<Visit> visits;  // those that took place
  double device_seconds = 0;  // all that the turn cost, untimed launches included
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_TURN_H_
