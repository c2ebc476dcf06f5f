// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_CLUSTER_TIMED_THREADS_H_
#define SERVER_CLUSTER_TIMED_THREADS_H_

#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/cluster/task_timer.h"
#include "timing/steady/event.h"

namespace tritond::server {

// A few threads for tasks that may block on a network, now or after a delay. Tasks that are due run in the order of
// their times, as threads get free. Thread-safe.
class TimedThreads final : public TaskTimer {
 public:
  explicit TimedThreads(int threads);
  // Stops.
  ~TimedThreads() override;

  // Dropped after Stop.
  void RunAfter(absl::Duration delay, std::function<void()> task) override;
  // Runs what is due, drops what is not, and ends. Idempotent; not from a task.
  void Stop();

 private:
  void Loop();
  // What is due, taken out; else null, and how long until something is.
  std::function<void()> NextLocked(absl::Duration* wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  timing::Event changed_;
  std::multimap<absl::Time, std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);  // by steady time
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace tritond::server

#endif  // SERVER_CLUSTER_TIMED_THREADS_H_
