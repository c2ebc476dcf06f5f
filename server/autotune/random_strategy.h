// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_AUTOTUNE_RANDOM_STRATEGY_H_
#define SERVER_AUTOTUNE_RANDOM_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/autotune/strategy.h"

namespace tritond::server {

// A sample without replacement. Unless told otherwise it has 59 candidates: with probability 0.95 one of them is among
// the best 5 %, since 0.95^59 < 0.05.
class RandomStrategy final : public Strategy {
 public:
  static constexpr size_t kUsualSample = 59;

  // `most`: 0 for the usual sample.
  RandomStrategy(size_t candidates, size_t most, uint64_t seed);
  std::vector<size_t> Explore(const TurnRecord& record) override;

 private:
  const std::vector<size_t> order_;
  const size_t most_;
  size_t next_ = 0;
  size_t chosen_ = 0;
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_RANDOM_STRATEGY_H_
