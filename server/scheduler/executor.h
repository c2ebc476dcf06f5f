// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_SCHEDULER_EXECUTOR_H_
#define SERVER_SCHEDULER_EXECUTOR_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// How the scheduler reaches workers. Called with the scheduler locked: an implementation must neither block nor call
// back. An order to a worker that is gone is dropped; the scheduler hears of its end by WorkerLost.
class Executor {
 public:
  virtual ~Executor() = default;
  // `deadline`: when the last of the job's waiters gives up.
  virtual void Start(const std::string& worker, uint64_t lease, const JobSpec& job, absl::Time deadline) = 0;
  // Somebody who waits for longer has joined.
  virtual void Extend(const std::string& worker, uint64_t lease, absl::Time deadline) = 0;
  virtual void Cancel(const std::string& worker, uint64_t lease) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_EXECUTOR_H_
