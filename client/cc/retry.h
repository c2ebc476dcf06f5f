// SPDX-License-Identifier: Apache-2.0
// When to ask again, and how long to wait before: pure logic, without clock or randomness of its own.
#ifndef CLIENT_CC_RETRY_H_
#define CLIENT_CC_RETRY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace tritond::client {

struct RetryPolicy {
  // The first one included; 1 never retries. With the delays below a daemon that restarts is waited for 10 to 20 s.
  int max_attempts = 10;
  absl::Duration first_delay = absl::Milliseconds(100);
  absl::Duration max_delay = absl::Seconds(5);
};

// Whether the server's end dropped the call. It was not reached (UNAVAILABLE), or it gave up its calls as it ended
// (UNAVAILABLE with a reason). Or its transport cut the call off: CANCELLED without a reason, which is no answer of the
// service.
bool DroppedByServer(const absl::Status& error);

// Whether the same call may succeed later, or at another daemon. So may a dropped one, and RESOURCE_EXHAUSTED where the
// server says when (RetryInfo): otherwise the kernel itself exceeds a limit. Not NO_WORKER: the daemon has waited for a
// worker as long as it is set to. Every call of the service may be repeated.
bool MayAskAgain(const absl::Status& error);

// Whether what answered was no tritond: a proxy's error page, or a server of something else. Every answer of the
// service has an ErrorInfo.
bool IsForeign(const absl::Status& error);

// Whether the answer holds for the daemon that gave it, as it is now, rather than for the kernel. It lacks the target,
// a worker or an assembler that another daemon may have, or it is no daemon at all. Asking the same one again does not
// help.
bool AnotherMayHelp(const absl::Status& error);

// Whether the error says that the kernel itself does not compile, or exceeds a limit: so it would be everywhere.
bool IsAboutTheKernel(const absl::Status& error);

// The reason of the ErrorInfo; "" without one.
std::string ReasonOf(const absl::Status& error);

// How long to wait after `attempts` failed attempts, the last of which gave `error`. None when asking again cannot help
// (MayAskAgain) or the attempts are spent. Delays double; `random` in [0, 1) spreads each over [1/2, 1) of its length,
// or over [1, 3/2) of what RetryInfo asks for.
absl::optional<absl::Duration> RetryDelay(const RetryPolicy& policy, const absl::Status& error, int attempts,
                                          double random);

}  // namespace tritond::client

#endif  // CLIENT_CC_RETRY_H_
