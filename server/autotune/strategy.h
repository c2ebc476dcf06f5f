// SPDX-License-Identifier: Apache-2.0
// Which candidates are worth a look. Search asks, turn for turn, and decides among what was found.
//
//   exhaustive          looks at everything: tens of candidates
//   random              looks at a sample: hundreds, without numbers to learn from
//   successive halving  looks at everything once, at the better half again, …: hundreds, cheap to run but noisy
//   model guided        looks at what a model of the times so far finds promising: tens to thousands with numbers
#ifndef SERVER_AUTOTUNE_STRATEGY_H_
#define SERVER_AUTOTUNE_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/autotune/turn_record.h"

namespace tritond::server {

// Candidates that one turn visits together.
inline constexpr size_t kCandidatesOfTurn = 16;

// One search's. Not thread-safe.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // What the next turn is to visit: at most kCandidatesOfTurn, none of them excluded. Empty: enough has been seen.
  // Search may add known candidates. What it asks for and the budget forbids is asked for again by nobody.
  virtual std::vector<size_t> Explore(const TurnRecord& record) = 0;
  // How often the turn visits each.
  virtual int Rounds() const { return 2; }
};

enum class StrategyKind { kExhaustive, kRandom, kHalving, kModelGuided };

// `features`: one row a candidate, as FeatureTable gives them. `most`: how many candidates may be tried; 0: all.
std::unique_ptr<Strategy> MakeStrategy(StrategyKind kind, std::vector<std::vector<double>> features, size_t most,
                                       uint64_t seed);

// The numbers from 0 to `size` - 1 in an order that the seed gives.
std::vector<size_t> Shuffled(size_t size, uint64_t seed);

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_STRATEGY_H_
