// SPDX-License-Identifier: Apache-2.0
// For the scheduler's tests.
#ifndef SERVER_SCHEDULER_RECORDING_EXECUTOR_H_
#define SERVER_SCHEDULER_RECORDING_EXECUTOR_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/scheduler/executor.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// Notes what the scheduler orders, and does nothing. Not thread-safe.
class RecordingExecutor final : public Executor {
 public:
  struct Order {
    std::string worker;
    uint64_t lease = 0;
    std::string key;  // "" of an extension
    absl::Time deadline;
  };

  void Start(const std::string& worker, uint64_t lease, const JobSpec& job, absl::Time deadline) override {
    started.push_back({worker, lease, job.key, deadline});
  }
  void Extend(const std::string& worker, uint64_t lease, absl::Time deadline) override {
    extended.push_back({worker, lease, "", deadline});
  }
  void Cancel(const std::string&, uint64_t lease) override { cancelled.push_back(lease); }

  std::vector<Order> started, extended;
  std::vector<uint64_t> cancelled;  // leases
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_RECORDING_EXECUTOR_H_
