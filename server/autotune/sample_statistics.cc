// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tritond::server {

double Quantile(std::vector<double> samples, double quantile) {
  const double place = quantile * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(samples.begin(), at, samples.end());
  const double low = *at;
  if (below + 1 >= samples.size()) return low;
  return low + (place - static_cast<double>(below)) * (*std::min_element(at + 1, samples.end()) - low);
}

double Median(std::vector<double> samples) { return Quantile(std::move(samples), 0.5); }

double InterquartileRange(const std::vector<double>& samples) {
  return Quantile(samples, 0.75) - Quantile(samples, 0.25);
}

}  // namespace tritond::server
