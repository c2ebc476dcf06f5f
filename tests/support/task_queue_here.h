// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_TASK_QUEUE_HERE_H_
#define TESTS_SUPPORT_TASK_QUEUE_HERE_H_

#include "server/jobs/task_queue.h"

namespace tritond::tests {

// Runs each task at once, on the thread that brings it.
class TaskQueueHere final : public server::TaskQueue {
 public:
  void Run(std::function<void()> task) override { task(); }
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_TASK_QUEUE_HERE_H_
