// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_NODE_HEALTH_H_
#define CACHE_STORE_NODE_HEALTH_H_

#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/api/stats.h"
#include "cache/store/circuit_breaker.h"

namespace tritond::cache {

// How one node of an engine does: its circuit breaker, so that a node that stalls costs no time after a few calls and
// the others' answers do not hide it, and its figures. Thread-safe.
class NodeHealth final {
 public:
  NodeHealth(std::string address, CircuitBreaker::Config config, CircuitBreaker::Clock clock);

  // What `call` gives, or Unavailable without a call while the node is left alone. `called` tells which.
  absl::Status Guard(const std::function<absl::Status()>& call, bool* called);
  bool answers() const { return breaker_.closed(); }
  // Without its slots.
  EngineNode Figures() const;

 private:
  const std::string address_;
  const CircuitBreaker::Clock clock_;
  CircuitBreaker breaker_;
  mutable absl::Mutex mu_;
  EngineNode figures_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_NODE_HEALTH_H_
