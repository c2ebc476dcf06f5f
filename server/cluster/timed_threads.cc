// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/timed_threads.h"

#include <utility>

#include "timing/steady/steady_time.h"

namespace tritond::server {

TimedThreads::TimedThreads(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

TimedThreads::~TimedThreads() { Stop(); }

void TimedThreads::RunAfter(absl::Duration delay, std::function<void()> task) {
  absl::MutexLock lock(&mu_);
  if (stopping_) return;
  tasks_.emplace(timing::SteadyNow() + delay, std::move(task));
  changed_.Set();
}

void TimedThreads::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    tasks_.erase(tasks_.upper_bound(timing::SteadyNow()), tasks_.end());
    changed_.Set();
  }
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::function<void()> TimedThreads::NextLocked(absl::Duration* wait) {
  if (tasks_.empty()) {
    *wait = absl::InfiniteDuration();
    return nullptr;
  }
  *wait = tasks_.begin()->first - timing::SteadyNow();
  if (*wait > absl::ZeroDuration()) return nullptr;
  std::function<void()> task = std::move(tasks_.begin()->second);
  tasks_.erase(tasks_.begin());
  return task;
}

void TimedThreads::Loop() {
  while (true) {
    std::function<void()> task;
    absl::Duration wait;
    bool ended;
    {
      absl::MutexLock lock(&mu_);
      task = NextLocked(&wait);
      ended = task == nullptr && stopping_ && tasks_.empty();
      // The event wakes one thread, however much has come: that one wakes the next.
      if (ended || (task != nullptr && (stopping_ || !tasks_.empty()))) changed_.Set();
    }
    if (ended) return;
    if (task != nullptr) {
      task();
    } else {
      changed_.WaitFor(wait);
    }
  }
}

}  // namespace tritond::server
