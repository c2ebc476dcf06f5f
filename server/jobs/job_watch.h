// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_JOB_WATCH_H_
#define SERVER_JOBS_JOB_WATCH_H_

#include <deque>
#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/v1/compile.pb.h"

namespace tritond::server {

// The states of a job on their way to one watcher. It hears them one after the other, in the order in which they were
// pushed, on any thread. Thread-safe.
class JobWatch final {
 public:
  using Watcher = std::function<void(const v1::Job&)>;

  explicit JobWatch(Watcher watcher) : watcher_(std::move(watcher)) {}

  // To be called under the lock that orders the states; delivers nothing yet.
  void Push(v1::Job job);
  // Calls the watcher with what has been pushed, without locks. Where a call is under way, on another thread or on
  // this one, the thread that makes it goes on with the rest.
  void Deliver();
  // No call begins from now on.
  void Leave();

 private:
  const Watcher watcher_;
  absl::Mutex mu_;
  std::deque<v1::Job> states_ ABSL_GUARDED_BY(mu_);
  bool delivering_ ABSL_GUARDED_BY(mu_) = false;
  bool left_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tritond::server

#endif  // SERVER_JOBS_JOB_WATCH_H_
