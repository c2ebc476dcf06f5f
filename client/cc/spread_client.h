// SPDX-License-Identifier: Apache-2.0
// Several daemons as one. A compile goes to the daemon that its request prefers (client/cc/rendezvous.h), so that equal
// requests of all clients meet in one queue and one cache. That one may be out of reach, drain, be full, or lack the
// target, a worker or an assembler for it. Then the client asks the next one at once, and waits only when none can
// help. A daemon that could not be reached is asked last for a while.
#ifndef CLIENT_CC_SPREAD_CLIENT_H_
#define CLIENT_CC_SPREAD_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cc/client.h"

namespace tritond::client {

struct Daemon {
  std::string name;  // its address; distinct
  std::unique_ptr<Client> client;
};

struct SpreadOptions {
  RetryPolicy retry;  // one attempt: every daemon once
  std::function<void(absl::Duration)> sleep = absl::SleepFor;
  std::function<absl::Time()> clock = absl::Now;
};

// `daemons` is not empty. Jobs stay where they were submitted: calls about one look for it everywhere. What concerns a
// daemon as a whole (Describe, GetStats, ListWorkers, bundles, tuning) goes to the first that can be reached.
std::unique_ptr<Client> MakeSpreadClient(std::vector<Daemon> daemons, SpreadOptions options);

}  // namespace tritond::client

#endif  // CLIENT_CC_SPREAD_CLIENT_H_
