// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HISTORY_LATENCY_SERIES_H_
#define SERVER_HISTORY_LATENCY_SERIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// How long something took lately, for charts. For each of the last `intervals` it has how often that happened, and the
// median and 95th percentile of its durations, right to 10 %. Durations below a microsecond count as one, those above
// two minutes as two minutes. Constant memory, constant time a record. Thread-safe.
class LatencySeries final {
 public:
  struct Point {
    absl::Time start;  // a multiple of the interval
    uint64_t count = 0;
    absl::Duration p50, p95;  // zero when nothing happened
  };

  LatencySeries(Clock clock, absl::Duration interval, size_t intervals);

  void Record(absl::Duration duration);
  // Oldest first, one for each interval up to the current one, which is not over.
  std::vector<Point> Points() const;

 private:
  static constexpr int kBucketsPerOctave = 4;
  static constexpr int kBuckets = 27 * kBucketsPerOctave;  // from 1 µs to 134 s
  struct Interval {
    int64_t number = -1;  // since the epoch; -1: never used
    std::array<uint32_t, kBuckets> counts{};
  };

  static int BucketOf(absl::Duration duration);
  static absl::Duration Quantile(const Interval& interval, uint64_t count, double quantile);
  int64_t NumberOf(absl::Time time) const;

  const Clock clock_;
  const absl::Duration interval_;
  mutable absl::Mutex mu_;
  std::vector<Interval> ring_ ABSL_GUARDED_BY(mu_);  // interval number modulo size
};

}  // namespace tritond::server

#endif  // SERVER_HISTORY_LATENCY_SERIES_H_
