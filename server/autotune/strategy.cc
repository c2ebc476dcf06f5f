// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/strategy.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "server/autotune/exhaustive_strategy.h"
#include "server/autotune/halving_strategy.h"
#include "server/autotune/model_guided_strategy.h"
#include "server/autotune/random_strategy.h"

namespace tritond::server {

std::vector<size_t> Shuffled(size_t size, uint64_t seed) {
  std::vector<size_t> order(size);
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 random(seed);
  for (size_t left = size; left > 1; --left) std::swap(order[left - 1], order[random() % left]);
  return order;
}

std::unique_ptr<Strategy> MakeStrategy(StrategyKind kind, std::vector<std::vector<double>> features, size_t most,
                                       uint64_t seed) {
  const size_t size = features.size();
  switch (kind) {
    case StrategyKind::kExhaustive:
      return std::make_unique<ExhaustiveStrategy>(size, seed);
    case StrategyKind::kRandom:
      return std::make_unique<RandomStrategy>(size, most, seed);
    case StrategyKind::kHalving:
      return std::make_unique<HalvingStrategy>(size, seed);
    case StrategyKind::kModelGuided:
      break;
  }
  return std::make_unique<ModelGuidedStrategy>(std::move(features), most, seed);
}

}  // namespace tritond::server
