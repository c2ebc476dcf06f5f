// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/cover_pairs.h"

#include <gtest/gtest.h>

#include <set>

namespace tritond::conformance {
namespace {

bool HasPair(const std::vector<std::vector<int>>& rows, int i, int x, int j, int y) {
  for (const std::vector<int>& row : rows)
    if (row[i] == x && row[j] == y) return true;
  return false;
}

TEST(CoverPairs, EachPairOfValuesIsInARow) {
  const std::vector<int> counts = {3, 3, 6, 4, 5};
  const std::vector<std::vector<int>> rows = CoverPairs(counts);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < i; ++j)
      for (int x = 0; x < counts[i]; ++x)
        for (int y = 0; y < counts[j]; ++y) EXPECT_TRUE(HasPair(rows, i, x, j, y)) << i << j << x << y;
}

TEST(CoverPairs, RowsAreFew) {
  EXPECT_LE(CoverPairs({3, 3, 6, 4, 5}).size(), 36u);
  EXPECT_LE(CoverPairs({2, 2, 2, 2, 2, 2}).size(), 9u);
}

TEST(CoverPairs, TwoParametersHaveAllCombinations) {
  const std::vector<std::vector<int>> rows = CoverPairs({3, 4});
  EXPECT_EQ(rows.size(), 12u);
  EXPECT_EQ(std::set<std::vector<int>>(rows.begin(), rows.end()).size(), 12u);
}

TEST(CoverPairs, ValuesAreThoseOfTheParameter) {
  for (const std::vector<int>& row : CoverPairs({2, 5, 1})) {
    EXPECT_TRUE(row[0] >= 0 && row[0] < 2);
    EXPECT_TRUE(row[1] >= 0 && row[1] < 5);
    EXPECT_EQ(row[2], 0);
  }
}

}  // namespace
}  // namespace tritond::conformance
