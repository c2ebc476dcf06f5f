// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/exhaustive_strategy.h"

namespace tritond::server {

std::vector<size_t> ExhaustiveStrategy::Explore(const TurnRecord& record) {
  std::vector<size_t> chosen;
  for (; next_ < order_.size() && chosen.size() < kCandidatesOfTurn; ++next_) {
    if (!record.IsExcluded(order_[next_])) chosen.push_back(order_[next_]);
  }
  return chosen;
}

}  // namespace tritond::server
