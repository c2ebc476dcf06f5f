// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_AUTOTUNE_HALVING_STRATEGY_H_
#define SERVER_AUTOTUNE_HALVING_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/autotune/strategy.h"

namespace tritond::server {

// Successive halving (Jamieson and Talwalkar, 2016). All candidates get one visit, the faster half gets two more, and
// the faster half of these four more. It ends when one turn holds those that are left. Each level costs about the same.
class HalvingStrategy final : public Strategy {
 public:
  HalvingStrategy(size_t candidates, uint64_t seed) : field_(Shuffled(candidates, seed)) {}
  std::vector<size_t> Explore(const TurnRecord& record) override;
  int Rounds() const override { return rounds_; }

 private:
  static constexpr size_t kFew = 8;  // so many are left to the decision

  // Keeps the faster half of those that are left; false when they are few.
  bool Halve(const TurnRecord& record);

  std::vector<size_t> field_;  // of this level
  size_t next_ = 0;
  int rounds_ = 1;
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_HALVING_STRATEGY_H_
