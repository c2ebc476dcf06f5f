// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/regression_trees.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

// The first feature decides, with a cliff at 0.5; the second means nothing.
class RegressionTreesTest : public testing::Test {
 protected:
  RegressionTreesTest() {
    for (int i = 0; i <= 20; ++i)
      for (int j = 0; j < 3; ++j) {
        table_.push_back({i / 20.0, j / 2.0});
        values_.push_back(i < 10 ? 1 : 5);
      }
    for (const std::vector<double>& row : table_) rows_.push_back(&row);
  }
  std::vector<std::vector<double>> table_;
  std::vector<const std::vector<double>*> rows_;
  std::vector<double> values_;
};

TEST_F(RegressionTreesTest, ACliffStaysACliff) {
  const RegressionTrees trees(rows_, values_, 32, 1);
  EXPECT_NEAR(trees.Predict({0.44, 0.3}).mean, 1, 1e-9);
  EXPECT_NEAR(trees.Predict({0.51, 0.3}).mean, 5, 1e-9);
}

TEST_F(RegressionTreesTest, TheyAreSureAwayFromTheCliffAndNotAtIt) {
  const RegressionTrees trees(rows_, values_, 64, 1);
  EXPECT_LT(trees.Predict({0.1, 0.5}).deviation, 1e-9);
  EXPECT_GT(trees.Predict({0.475, 0.5}).deviation, 0.5);
}

TEST_F(RegressionTreesTest, TheSameSeedGivesTheSameTrees) {
  const RegressionTrees a(rows_, values_, 8, 7), b(rows_, values_, 8, 7);
  for (double x = 0; x < 1; x += 0.013) EXPECT_EQ(a.Predict({x, 0}).mean, b.Predict({x, 0}).mean);
}

TEST_F(RegressionTreesTest, WithoutFeaturesTheyPredictTheMean) {
  const std::vector<double> none;
  const RegressionTrees trees({&none, &none, &none, &none}, {1, 2, 3, 6}, 4, 1);
  EXPECT_DOUBLE_EQ(trees.Predict({}).mean, 3);
}

TEST_F(RegressionTreesTest, ASingleRowIsAnswered) {
  const std::vector<double> row = {0.5};
  EXPECT_DOUBLE_EQ(RegressionTrees({&row}, {4}, 4, 1).Predict({0.9}).mean, 4);
}

}  // namespace
}  // namespace tritond::server
