// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/sign_test.h"

#include <cmath>

namespace tritond::server {
namespace {

// std::lgamma writes a global.
double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

double LogChoose(int n, int k) { return LogGamma(n + 1.0) - LogGamma(k + 1.0) - LogGamma(n - k + 1.0); }

}  // namespace

double LogWealth(const Signs& signs) {
  const int n = signs.trials, k = signs.successes;
  // The largest term leads, so that no sum overflows.
  const double largest = LogChoose(n + 1, k < (n + 1) / 2 ? k : (n + 1) / 2);
  double sum = 0;
  for (int j = 0; j <= k; ++j) sum += std::exp(LogChoose(n + 1, j) - largest);
  const double log_beta = -LogChoose(n, k) - std::log(n + 1.0);
  return log_beta + largest + std::log(sum);
}

bool IsDecided(const Signs& signs, double error) {
  // Fewer successes than failures decide nothing, and most pairs end here.
  if (2 * signs.successes <= signs.trials) return false;
  return LogWealth(signs) >= -std::log(error);
}

}  // namespace tritond::server
