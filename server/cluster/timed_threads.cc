// SPDX-License-Identifier: Apache-2.0
#include "server/cluster/timed_threads.h"

#include <chrono>
#include <utility>

namespace tritond::server {
namespace {

absl::Duration SteadyNow() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

TimedThreads::TimedThreads(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

TimedThreads::~TimedThreads() { Stop(); }

void TimedThreads::RunAfter(absl::Duration delay, std::function<void()> task) {
  absl::MutexLock lock(&mu_);
  if (stopping_) return;
  tasks_.emplace(SteadyNow() + delay, std::move(task));
  changed_.Signal();
}

void TimedThreads::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    tasks_.erase(tasks_.upper_bound(SteadyNow()), tasks_.end());
    changed_.SignalAll();
  }
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void TimedThreads::Loop() {
  while (true) {
    std::function<void()> task;
    {
      absl::MutexLock lock(&mu_);
      while (true) {
        if (tasks_.empty() && stopping_) return;
        const absl::Duration wait = tasks_.empty() ? absl::InfiniteDuration() : tasks_.begin()->first - SteadyNow();
        if (wait <= absl::ZeroDuration()) break;
        changed_.WaitWithTimeout(&mu_, wait);
      }
      task = std::move(tasks_.begin()->second);
      tasks_.erase(tasks_.begin());
    }
    task();
  }
}

}  // namespace tritond::server
