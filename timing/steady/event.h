// SPDX-License-Identifier: Apache-2.0
#ifndef TIMING_STEADY_EVENT_H_
#define TIMING_STEADY_EVENT_H_

#include <condition_variable>
#include <mutex>

#include "absl/time/time.h"

namespace tritond::timing {

// Ends the wait of one thread, the one that waits or the next to do so; what is set twice before anybody waits counts
// once. Thread-safe.
class Event final {
 public:
  void Set();
  // Waits until it is set, and takes that back, or until `limit` has passed by the steady clock. True: it was set.
  bool WaitFor(absl::Duration limit);

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  bool set_ = false;  // guarded by mu_
};

}  // namespace tritond::timing

#endif  // TIMING_STEADY_EVENT_H_
