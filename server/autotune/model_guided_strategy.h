// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_AUTOTUNE_MODEL_GUIDED_STRATEGY_H_
#define SERVER_AUTOTUNE_MODEL_GUIDED_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "server/autotune/regression_trees.h"
#include "server/autotune/strategy.h"

namespace tritond::server {

// Learns the logarithm of the time from the candidates' numbers, and tries what should improve on the best.
//
// The model is an ensemble of regression trees (regression_trees.h), not a Gaussian process. Kernel times have cliffs:
// one more stage and a block no longer fits beside another, one more register and it spills. Trees cut there; a process
// smooths over them. Trees also need no scale for each feature, take features that mean nothing without harm, and are
// refitted within a millisecond after each turn.
//
// It begins with candidates that are far from each other. Then each turn takes those of the largest expected
// improvement (Jones, Schonlau and Welch, 1998) and, for what the model cannot see, two of chance. It ends when nothing
// promises more than kWorthwhile, several turns in a row.
class ModelGuidedStrategy final : public Strategy {
 public:
  // `most`: how many candidates may be tried; 0: as many as promise something, up to kUsualShare of them.
  ModelGuidedStrategy(std::vector<std::vector<double>> features, size_t most, uint64_t seed);
  std::vector<size_t> Explore(const TurnRecord& record) override;

 private:
  static constexpr int kTrees = 32;
  static constexpr size_t kFirst = 16;          // candidates of the beginning
  static constexpr size_t kGuided = 8;          // candidates of a turn that the model names
  static constexpr size_t kByChance = 2;        // and others
  static constexpr double kWorthwhile = 0.003;  // expected improvement, relative to the best
  static constexpr int kPatience = 3;           // turns without
  static constexpr size_t kUsualLeast = 64;
  static constexpr size_t kUsualShare = 4;  // a quarter

  std::vector<size_t> Begin(const TurnRecord& record);
  // Those that have not been tried, with the improvement that the model expects of each, the largest first.
  std::vector<std::pair<double, size_t>> Rate(const TurnRecord& record);

  const std::vector<std::vector<double>> features_;
  const size_t most_;
  std::mt19937_64 random_;
  int without_promise_ = 0;  // turns
};

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_MODEL_GUIDED_STRATEGY_H_
