// SPDX-License-Identifier: Apache-2.0
// When to ask again, and how long to wait before: pure logic, without clock or randomness of its own.
#ifndef CLIENT_CC_RETRY_H_
#define CLIENT_CC_RETRY_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace tritond::client {

struct RetryPolicy {
  int max_attempts = 6;  // the first one included; 1 never retries
  absl::Duration first_delay = absl::Milliseconds(100);
  absl::Duration max_delay = absl::Seconds(5);
};

// How long to wait after `attempts` failed attempts, the last of which gave `error`; none when asking again cannot help
// or the attempts are spent. UNAVAILABLE is always worth another try, as is a call that a server dropped as it ended
// (CANCELLED), RESOURCE_EXHAUSTED only where the server says when (RetryInfo): otherwise the kernel itself exceeds a
// limit. Every call of the service may be repeated. Delays double; `random` in [0, 1) spreads each over [1/2, 1) of its
// length, or over [1, 3/2) of what RetryInfo asks for.
absl::optional<absl::Duration> RetryDelay(const RetryPolicy& policy, const absl::Status& error, int attempts,
                                          double random);

}  // namespace tritond::client

#endif  // CLIENT_CC_RETRY_H_
