// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_NODE_HEALTH_H_
#define CACHE_STORE_NODE_HEALTH_H_

#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/api/stats.h"
#include "cache/store/circuit_breaker.h"

namespace tritond::cache {

// The state of one node of an engine: its circuit breaker and its figures. With the breaker a node that stalls costs no
// time after a few calls, and the answers of others do not hide it. Thread-safe.
//
// The status of a call says how the node took it. Unavailable or DeadlineExceeded: there was no answer.
// FailedPrecondition: it serves nothing as it is, and its message says why. PermissionDenied or ResourceExhausted: it
// serves other commands, but not this one, and its message says why.
class NodeHealth final {
 public:
  // A refusal is remembered for `remember` at least; one of some commands until one of that name is served again, or
  // for kForget.
  static constexpr absl::Duration kRemember = absl::Seconds(10);
  static constexpr absl::Duration kForget = absl::Minutes(5);
  // A node is slow when its round trips have taken longer than kSlow for kSlowAfter, until they take half of that.
  static constexpr absl::Duration kSlow = absl::Milliseconds(100);
  static constexpr absl::Duration kSlowAfter = absl::Seconds(5);

  NodeHealth(std::string address, CircuitBreaker::Config config, CircuitBreaker::Clock clock,
             absl::Duration remember = kRemember);

  // What `call` of a command gives, or Unavailable without a call while the node is left alone. `called` tells which.
  absl::Status Guard(absl::string_view command, const std::function<absl::Status()>& call, bool* called);
  // Whether it is called.
  bool answers() const { return breaker_.closed(); }
  // Without its slots.
  EngineNode Figures() const;

 private:
  void NoteTroubleLocked(absl::string_view command, const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NotePaceLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string address_;
  const CircuitBreaker::Clock clock_;
  const absl::Duration remember_;
  CircuitBreaker breaker_;
  mutable absl::Mutex mu_;
  EngineNode figures_ ABSL_GUARDED_BY(mu_);
  std::string refused_ ABSL_GUARDED_BY(mu_);  // the command, where others are served; "": all are refused
  absl::Duration refused_at_ ABSL_GUARDED_BY(mu_);
  absl::Duration slow_since_ ABSL_GUARDED_BY(mu_) = absl::InfiniteDuration();
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_NODE_HEALTH_H_
