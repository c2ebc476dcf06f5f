// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/random_strategy.h"

namespace tritond::server {

RandomStrategy::RandomStrategy(size_t candidates, size_t most, uint64_t seed)
    : order_(Shuffled(candidates, seed)), most_(most > 0 ? most : kUsualSample) {}

std::vector<size_t> RandomStrategy::Explore(const TurnRecord& record) {
  std::vector<size_t> chosen;
  for (; next_ < order_.size() && chosen_ < most_ && chosen.size() < kCandidatesOfTurn; ++next_) {
    if (record.IsExcluded(order_[next_])) continue;
    chosen.push_back(order_[next_]);
    ++chosen_;
  }
  return chosen;
}

}  // namespace tritond::server
