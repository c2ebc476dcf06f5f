// SPDX-License-Identifier: Apache-2.0
// Which of several daemons were out of reach lately.
#ifndef CLIENT_CC_REACH_H_
#define CLIENT_CC_REACH_H_

#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tritond::client {

// Daemons by index, the one to ask first in front.
using Order = std::vector<size_t>;

// Thread-safe.
class Reach final {
 public:
  Reach(size_t daemons, std::function<absl::Time()> clock);

  // `status` is what a call to `daemon` gave. One that dropped the call, or is no daemon, rests: for a second, and
  // twice as long each time, up to half a minute.
  void Learn(size_t daemon, const absl::Status& status);

  // Those that rest come last; else as `order` has them.
  Order InReachFirst(Order order) const;

 private:
  struct State {
    absl::Duration rest = absl::ZeroDuration();
    absl::Time until = absl::InfinitePast();
  };

  const std::function<absl::Time()> clock_;
  mutable absl::Mutex mu_;
  std::vector<State> daemons_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::client

#endif  // CLIENT_CC_REACH_H_
