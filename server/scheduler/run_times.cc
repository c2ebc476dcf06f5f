// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/run_times.h"

#include <algorithm>
#include <vector>

namespace tritond::server {
namespace {

constexpr size_t kLatest = 200;

}  // namespace

void RunTimes::Record(absl::Duration run_time) {
  mean_ = mean_ * 0.9 + run_time * 0.1;
  latest_.push_back(run_time);
  if (latest_.size() > kLatest) latest_.pop_front();
}

std::optional<absl::Duration> RunTimes::Slowest() const {
  if (latest_.empty()) return std::nullopt;
  std::vector<absl::Duration> times(latest_.begin(), latest_.end());
  auto p99 = times.begin() + (times.size() - 1) * 99 / 100;
  std::nth_element(times.begin(), p99, times.end());
  return *p99;
}

}  // namespace tritond::server
