// SPDX-License-Identifier: Apache-2.0
// Greedy: a row starts with a pair that no row has. Each other parameter takes the value that adds most new pairs.
#include "tests/conformance/cover_pairs.h"

#include <array>
#include <set>

namespace tritond::conformance {
namespace {

constexpr int kOpen = -1;  // a parameter of a row that has no value yet

class Pairs {
 public:
  explicit Pairs(const std::vector<int>& counts) {
    const int size = static_cast<int>(counts.size());
    for (int i = 0; i < size; ++i)
      for (int j = i + 1; j < size; ++j)
        for (int x = 0; x < counts[i]; ++x)
          for (int y = 0; y < counts[j]; ++y) missing_.insert({i, x, j, y});
  }

  bool empty() const { return missing_.empty(); }
  std::array<int, 4> First() const { return *missing_.begin(); }

  // How many missing pairs `row` would have more with `value` for parameter `i`.
  int NewWith(const std::vector<int>& row, int i, int value) const {
    int count = 0;
    for (int j = 0; j < static_cast<int>(row.size()); ++j)
      if (j != i && row[j] != kOpen) count += missing_.count(PairOf(i, value, j, row[j]));
    return count;
  }

  void Remove(const std::vector<int>& row) {
    for (int i = 0; i < static_cast<int>(row.size()); ++i)
      for (int j = i + 1; j < static_cast<int>(row.size()); ++j) missing_.erase({i, row[i], j, row[j]});
  }

 private:
  static std::array<int, 4> PairOf(int i, int x, int j, int y) {
    return i < j ? std::array{i, x, j, y} : std::array{j, y, i, x};
  }

  std::set<std::array<int, 4>> missing_;
};

// Of values that are as good, the first from `turn` on: they take turns.
int BestValue(const Pairs& pairs, const std::vector<int>& row, int i, int count, int turn) {
  int best = turn % count;
  for (int k = 1; k < count; ++k) {
    const int value = (turn + k) % count;
    if (pairs.NewWith(row, i, value) > pairs.NewWith(row, i, best)) best = value;
  }
  return best;
}

}  // namespace

std::vector<std::vector<int>> CoverPairs(const std::vector<int>& counts) {
  std::vector<std::vector<int>> rows;
  for (Pairs pairs(counts); !pairs.empty(); pairs.Remove(rows.back())) {
    std::vector<int> row(counts.size(), kOpen);
    const auto [i, x, j, y] = pairs.First();
    row[i] = x;
    row[j] = y;
    for (int k = 0; k < static_cast<int>(row.size()); ++k)
      if (row[k] == kOpen) row[k] = BestValue(pairs, row, k, counts[k], static_cast<int>(rows.size()));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace tritond::conformance
