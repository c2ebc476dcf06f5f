// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/regression_trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tritond::server {
namespace {

constexpr size_t kLargestLeaf = 2;

// The sums of a part of a node, from which its squared error follows.
struct Part {
  double count = 0, sum = 0, squares = 0;
  void Add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  double Error() const { return count == 0 ? 0 : squares - sum * sum / count; }
};

// In [0, 1); the same on every machine.
double Uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

}  // namespace

RegressionTrees::RegressionTrees(const std::vector<const std::vector<double>*>& rows, const std::vector<double>& values,
                                 int trees, uint64_t seed)
    : trees_(trees) {
  std::mt19937_64 random(seed);
  std::vector<size_t> all(rows.size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (Tree& tree : trees_) Grow({rows, values}, all, random, &tree);
}

RegressionTrees::Split RegressionTrees::ChooseSplit(const Data& data, const std::vector<size_t>& members,
                                                    std::mt19937_64& random) {
  Split best;
  double least = std::numeric_limits<double>::infinity();
  const int features = static_cast<int>(data.rows[members[0]]->size());
  for (int feature = 0; feature < features; ++feature) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (size_t member : members) {
      low = std::min(low, (*data.rows[member])[feature]);
      high = std::max(high, (*data.rows[member])[feature]);
    }
    if (low >= high) continue;
    const double threshold = high - Uniform(random) * (high - low);  // above `low`, so that no part is empty
    Part below, rest;
    for (size_t member : members) {
      ((*data.rows[member])[feature] < threshold ? below : rest).Add(data.values[member]);
    }
    const double error = below.Error() + rest.Error();
    if (error < least) {
      least = error;
      best = {feature, threshold};
    }
  }
  return best;
}

int RegressionTrees::Grow(const Data& data, std::vector<size_t> members, std::mt19937_64& random, Tree* tree) {
  const int self = static_cast<int>(tree->size());
  Node node;
  for (size_t member : members) node.mean += data.values[member] / static_cast<double>(members.size());
  tree->push_back(node);
  if (members.size() <= kLargestLeaf) return self;
  const Split split = ChooseSplit(data, members, random);
  if (split.feature < 0) return self;
  const auto middle = std::partition(members.begin(), members.end(), [&](size_t member) {
    return (*data.rows[member])[split.feature] < split.threshold;
  });
  node.feature = split.feature;
  node.threshold = split.threshold;
  node.low = Grow(data, {members.begin(), middle}, random, tree);
  node.high = Grow(data, {middle, members.end()}, random, tree);
  (*tree)[self] = node;
  return self;
}

RegressionTrees::Prediction RegressionTrees::Predict(const std::vector<double>& row) const {
  Part part;
  for (const Tree& tree : trees_) {
    const Node* node = &tree[0];
    while (node->feature >= 0) node = &tree[row[node->feature] < node->threshold ? node->low : node->high];
    part.Add(node->mean);
  }
  return {part.sum / part.count, std::sqrt(std::max(0.0, part.Error() / part.count))};
}

}  // namespace tritond::server
