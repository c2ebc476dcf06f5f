// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_AUTOTUNE_EXHAUSTIVE_STRATEGY_H_
#define SERVER_AUTOTUNE_EXHAUSTIVE_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/autotune/strategy.h"

namespace tritond::server {

// Every candidate once, in an order of chance: neighbours in the list, which often resemble each other, do not share a
// turn and its drift.
class ExhaustiveStrategy final : public Strategy {
 public:
  ExhaustiveStrategy(size_t candidates, uint64_t seed) : order_(Shuffled(candidates, seed)) {}
  std::vector<size_t> Explore(const TurnRecord& record) override;

 private:
  const std::vector<size_t> order_;
  size_t next_ = 0;
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_EXHAUSTIVE_STRATEGY_H_
