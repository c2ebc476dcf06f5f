// SPDX-License-Identifier: Apache-2.0
// How long jobs run: what the delay before a retry, and hedging, go by. Not thread-safe.
#ifndef SERVER_SCHEDULER_RUN_TIMES_H_
#define SERVER_SCHEDULER_RUN_TIMES_H_

#include <deque>
#include <optional>

#include "absl/time/time.h"

namespace tritond::server {

class RunTimes final {
 public:
  void Record(absl::Duration run_time);
  // Later jobs weigh more; a second before the first.
  absl::Duration mean() const { return mean_; }
  // What 99 of 100 of the latest jobs do not exceed; nullopt before the first.
  std::optional<absl::Duration> Slowest() const;

 private:
  absl::Duration mean_ = absl::Seconds(1);
  std::deque<absl::Duration> latest_;
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_RUN_TIMES_H_
