// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_TASK_THREAD_H_
#define SERVER_COMPILE_TASK_THREAD_H_

#include <deque>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/jobs/task_queue.h"

namespace tritond::server {

// Runs tasks one after the other on a thread of its own, so that what may block on a disk does not block gRPC's
// threads. Thread-safe. The destructor runs what is queued.
class TaskThread final : public TaskQueue {
 public:
  TaskThread();
  ~TaskThread() override;
  // Dropped after Stop.
  void Run(std::function<void()> task) override;
  // Runs what is queued, then ends. Idempotent; not from a task.
  void Stop();

 private:
  void Loop();

  absl::Mutex mu_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_TASK_THREAD_H_
