// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/sign_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tritond::server {
namespace {

// The integral of the header, by the trapezoidal rule.
double IntegratedWealth(int k, int n) {
  constexpr int kSteps = 20000;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double p = 0.5 + 0.5 * i / kSteps;
    const double value = 2 * std::pow(2 * p, k) * std::pow(2 * (1 - p), n - k);
    sum += (i == 0 || i == kSteps ? 0.5 : 1.0) * value;
  }
  return sum * 0.5 / kSteps;
}

TEST(SignTest, TheClosedFormIsTheIntegral) {
  for (const auto& [k, n] : {std::pair{0, 0}, {1, 1}, {3, 4}, {7, 7}, {2, 9}, {30, 40}, {60, 100}}) {
    EXPECT_NEAR(LogWealth({k, n}), std::log(IntegratedWealth(k, n)), 1e-4) << k << " of " << n;
  }
}

TEST(SignTest, SevenOfSevenDecideAtFivePercentAndSixDoNot) {
  EXPECT_FALSE(IsDecided({6, 6}, 0.05));
  EXPECT_TRUE(IsDecided({7, 7}, 0.05));
  EXPECT_FALSE(IsDecided({0, 7}, 0.05));
  EXPECT_FALSE(IsDecided({0, 0}, 0.05));
}

TEST(SignTest, ThousandsOfTrialsDoNotOverflow) {
  EXPECT_TRUE(std::isfinite(LogWealth({6000, 10000})));
  EXPECT_TRUE(IsDecided({6000, 10000}, 1e-9));
  EXPECT_FALSE(IsDecided({5000, 10000}, 0.05));
}

TEST(SignTest, LookingAfterEveryTossFindsAFairCoinUnfairAtMostAsOftenAsStated) {
  constexpr int kCoins = 2000, kTosses = 300;
  std::mt19937_64 random(1);
  int wrong = 0;
  for (int coin = 0; coin < kCoins; ++coin) {
    Signs signs;
    for (bool decided = false; !decided && signs.trials < kTosses;) {
      ++signs.trials;
      signs.successes += static_cast<int>(random() & 1);
      decided = IsDecided(signs, 0.05);
      wrong += decided;
    }
  }
  EXPECT_GT(wrong, 0);  // Else the test would be needlessly slow to decide.
  EXPECT_LE(wrong, kCoins * 0.05);
}

}  // namespace
}  // namespace tritond::server
