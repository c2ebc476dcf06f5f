// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_TASK_QUEUE_H_
#define SERVER_JOBS_TASK_QUEUE_H_

#include <functional>

namespace tritond::server {

// Runs tasks one after the other, in the order in which they come. Thread-safe.
class TaskQueue {
 public:
  virtual ~TaskQueue() = default;
  // Perhaps before it returns. A queue that has ended drops the task.
  virtual void Run(std::function<void()> task) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_JOBS_TASK_QUEUE_H_
