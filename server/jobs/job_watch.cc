// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_watch.h"

namespace tritond::server {

void JobWatch::Push(v1::Job job) {
  absl::MutexLock lock(&mu_);
  if (!left_) states_.push_back(std::move(job));
}

void JobWatch::Deliver() {
  {
    absl::MutexLock lock(&mu_);
    if (delivering_) return;
    delivering_ = true;
  }
  while (true) {
    v1::Job job;
    {
      absl::MutexLock lock(&mu_);
      if (states_.empty()) {
        delivering_ = false;
        return;
      }
      job = std::move(states_.front());
      states_.pop_front();
    }
    watcher_(job);
  }
}

void JobWatch::Leave() {
  absl::MutexLock lock(&mu_);
  left_ = true;
  states_.clear();
}

}  // namespace tritond::server
