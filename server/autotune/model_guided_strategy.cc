// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/model_guided_strategy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tritond::server {
namespace {

double SquaredDistance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// How much below `best` a normal variable is expected to end, nothing where it ends above.
double ExpectedImprovement(const RegressionTrees::Prediction& prediction, double best) {
  constexpr double kLeastDeviation = 1e-3;
  const double deviation = std::max(prediction.deviation, kLeastDeviation);
  const double gain = best - prediction.mean, z = gain / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
  const double probability = std::erfc(-z / std::sqrt(2.0)) / 2;
  return gain * probability + deviation * density;
}

}  // namespace

ModelGuidedStrategy::ModelGuidedStrategy(std::vector<std::vector<double>> features, size_t most, uint64_t seed)
    : features_(std::move(features)),
      most_(most > 0 ? most : std::max(kUsualLeast, features_.size() / kUsualShare)),
      random_(seed) {}

std::vector<size_t> ModelGuidedStrategy::Explore(const TurnRecord& record) {
  if (record.tried() >= std::min(most_, features_.size())) return {};
  if (record.tried() == 0) return Begin(record);
  std::vector<std::pair<double, size_t>> rated = Rate(record);
  if (rated.empty()) return {};
  without_promise_ = rated[0].first < kWorthwhile ? without_promise_ + 1 : 0;
  if (without_promise_ >= kPatience) return {};
  const size_t room = most_ - record.tried();
  std::vector<size_t> chosen;
  const size_t guided = std::min({kGuided, room, rated.size()});
  for (size_t i = 0; i < guided; ++i) chosen.push_back(rated[i].second);
  rated.erase(rated.begin(), rated.begin() + static_cast<std::ptrdiff_t>(guided));
  for (size_t i = 0; i < kByChance && chosen.size() < room && !rated.empty(); ++i) {
    std::swap(rated[random_() % rated.size()], rated.back());
    chosen.push_back(rated.back().second);
    rated.pop_back();
  }
  return chosen;
}

// Each next one is the farthest from those before.
std::vector<size_t> ModelGuidedStrategy::Begin(const TurnRecord& record) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<size_t> open;
  for (size_t i = 0; i < features_.size(); ++i) {
    if (!record.IsExcluded(i)) open.push_back(i);
  }
  std::vector<size_t> chosen;
  std::vector<double> distance(features_.size(), kFar);
  while (!open.empty() && chosen.size() < std::min(kFirst, most_)) {
    const auto nearer = [&](size_t a, size_t b) { return distance[a] < distance[b]; };
    const auto next = chosen.empty() ? open.begin() + static_cast<std::ptrdiff_t>(random_() % open.size())
                                     : std::max_element(open.begin(), open.end(), nearer);
    chosen.push_back(*next);
    open.erase(next);
    for (size_t i : open) distance[i] = std::min(distance[i], SquaredDistance(features_[i], features_[chosen.back()]));
  }
  return chosen;
}

std::vector<std::pair<double, size_t>> ModelGuidedStrategy::Rate(const TurnRecord& record) {
  const std::vector<size_t> ranking = record.Ranking();
  // What failed counts as the slowest, so that its surroundings are left alone.
  const double worst = ranking.empty() ? 0 : record.LevelOf(ranking.back());
  const double best = ranking.empty() ? 0 : record.LevelOf(ranking.front());
  std::vector<const std::vector<double>*> rows;
  std::vector<double> values;
  for (size_t i = 0; i < features_.size(); ++i) {
    if (!record.IsTried(i)) continue;
    rows.push_back(&features_[i]);
    values.push_back(record.HasLevel(i) ? record.LevelOf(i) : worst);
  }
  const RegressionTrees trees(rows, values, kTrees, random_());
  std::vector<std::pair<double, size_t>> rated;
  for (size_t i = 0; i < features_.size(); ++i) {
    if (record.IsTried(i) || record.IsExcluded(i)) continue;
    rated.emplace_back(ExpectedImprovement(trees.Predict(features_[i]), best), i);
  }
  std::sort(rated.rbegin(), rated.rend());
  return rated;
}

}  // namespace tritond::server
