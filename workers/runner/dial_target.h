// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_DIAL_TARGET_H_
#define WORKERS_RUNNER_DIAL_TARGET_H_

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "workers/sandbox/reach.h"

namespace tritond::workers {

// The numeric addresses of a host, without ports; none when it has no address.
using Resolver = std::function<std::vector<std::string>(const std::string& host)>;

// The system's. Blocks.
std::vector<std::string> ResolveHost(const std::string& host);

// What gRPC is given to dial.
struct DialTarget {
  std::string target;
  std::string authority;  // what the daemon's certificate has to name; empty: as gRPC takes it from the target
};

// gRPC dials the addresses of a name in the same order everywhere, so all workers behind one name would attach to one
// daemon. For a HOST:PORT with several addresses, and a list of them ("ipv4:A:1,B:2"), this gives each worker an order
// of its own. Where the first does not answer, gRPC goes on with the next. A HOST:PORT of one address becomes that
// address, so that gRPC looks no name up: it could not within the sandbox. Anything else stays as it is.
DialTarget ShuffleAddresses(const std::string& server, const Resolver& resolve, std::mt19937& random);

// What gRPC has to reach to dial it: the ports or the socket. Where names are left for it to look up (`proxied`, or
// another kind of target) also the system's resolver.
Reach ReachOf(const DialTarget& dial, bool proxied);

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_DIAL_TARGET_H_
