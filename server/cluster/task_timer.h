// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_CLUSTER_TASK_TIMER_H_
#define SERVER_CLUSTER_TASK_TIMER_H_

#include <functional>

#include "absl/time/time.h"

namespace tritond::server {

// Runs tasks after a delay, on threads of its own where they may block. Thread-safe. An implementation may drop the
// tasks that it has not run when it stops.
class TaskTimer {
 public:
  virtual ~TaskTimer() = default;
  // Returns at once.
  virtual void RunAfter(absl::Duration delay, std::function<void()> task) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_CLUSTER_TASK_TIMER_H_
