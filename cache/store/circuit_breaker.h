// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_CIRCUIT_BREAKER_H_
#define CACHE_STORE_CIRCUIT_BREAKER_H_

#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tritond::cache {

// Leaves something that may be away alone for a while. After a few failures in a row (Unavailable, DeadlineExceeded)
// every call fails with Unavailable at once. Then one call tries it: success closes the circuit, failure doubles the
// while, up to a bound. Thread-safe.
class CircuitBreaker final {
 public:
  struct Config {
    int failures = 2;
    absl::Duration first_pause = absl::Seconds(1);
    absl::Duration longest_pause = absl::Seconds(30);
  };
  // The time since some fixed moment, never running backwards; called from any thread.
  using Clock = std::function<absl::Duration()>;

  CircuitBreaker(Config config, Clock clock);

  // What `call` gives (a Status or StatusOr), or Unavailable without a call.
  template <typename Call>
  auto Guard(Call call) -> decltype(call()) {
    if (!Admit()) return Open();
    auto answer = call();
    Record(StatusOf(answer));
    return answer;
  }

  // Whether calls go through: false from the last failure until a success.
  bool closed() const;

 private:
  static absl::Status Open();
  static const absl::Status& StatusOf(const absl::Status& status) { return status; }
  template <typename Answer>
  static const absl::Status& StatusOf(const Answer& answer) {
    return answer.status();
  }
  // Whether a call may go through now.
  bool Admit();
  void Record(const absl::Status& status);

  const Config config_;
  const Clock clock_;
  mutable absl::Mutex mu_;
  int failures_ ABSL_GUARDED_BY(mu_) = 0;  // in a row
  bool trying_ ABSL_GUARDED_BY(mu_) = false;
  absl::Duration pause_ ABSL_GUARDED_BY(mu_);
  absl::Duration until_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_CIRCUIT_BREAKER_H_
