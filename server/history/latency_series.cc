// SPDX-License-Identifier: Apache-2.0
// Buckets grow by a factor of 2^(1/4): a duration taken for the middle of its bucket is at most 9 % off.
#include "server/history/latency_series.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tritond::server {

LatencySeries::LatencySeries(Clock clock, absl::Duration interval, size_t intervals)
    : clock_(std::move(clock)), interval_(interval), ring_(intervals) {}

int LatencySeries::BucketOf(absl::Duration duration) {
  const double micros = std::max(absl::ToDoubleMicroseconds(duration), 1.0);
  return std::min(static_cast<int>(std::log2(micros) * kBucketsPerOctave), kBuckets - 1);
}

int64_t LatencySeries::NumberOf(absl::Time time) const { return (time - absl::UnixEpoch()) / interval_; }

void LatencySeries::Record(absl::Duration duration) {
  const int bucket = BucketOf(duration);
  const int64_t number = NumberOf(clock_());
  absl::MutexLock lock(&mu_);
  Interval& interval = ring_[number % ring_.size()];
  if (interval.number != number) interval = Interval{number, {}};
  ++interval.counts[bucket];
}

absl::Duration LatencySeries::Quantile(const Interval& interval, uint64_t count, double quantile) {
  uint64_t left = static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count)));
  for (int i = 0; i < kBuckets; ++i) {
    if (interval.counts[i] >= left && left > 0) return absl::Microseconds(std::exp2((i + 0.5) / kBucketsPerOctave));
    left -= std::min<uint64_t>(left, interval.counts[i]);
  }
  return absl::ZeroDuration();
}

std::vector<LatencySeries::Point> LatencySeries::Points() const {
  const int64_t now = NumberOf(clock_());
  absl::MutexLock lock(&mu_);
  const int64_t size = static_cast<int64_t>(ring_.size());
  std::vector<Point> points;
  for (int64_t number = std::max<int64_t>(now - size + 1, 0); number <= now; ++number) {
    Point& point = points.emplace_back();
    point.start = absl::UnixEpoch() + interval_ * number;
    const Interval& interval = ring_[number % size];
    if (interval.number != number) continue;
    point.count = std::accumulate(interval.counts.begin(), interval.counts.end(), uint64_t{0});
    point.p50 = Quantile(interval, point.count, 0.5);
    point.p95 = Quantile(interval, point.count, 0.95);
  }
  return points;
}

}  // namespace tritond::server
