// SPDX-License-Identifier: Apache-2.0
// Order statistics of samples. They bear outliers, which timings always have.
#ifndef SERVER_AUTOTUNE_SAMPLE_STATISTICS_H_
#define SERVER_AUTOTUNE_SAMPLE_STATISTICS_H_

#include <vector>

namespace tritond::server {

// The value below which `quantile` (0 to 1) of the samples lie, interpolated between neighbours. `samples` is not
// empty.
double Quantile(std::vector<double> samples, double quantile);

// Quantile 0.5.
double Median(std::vector<double> samples);

// The interquartile range: the distance between the quantiles 0.25 and 0.75.
double InterquartileRange(const std::vector<double>& samples);

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_SAMPLE_STATISTICS_H_
