// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REDIS_REDIS_SERVER_H_
#define SERVER_REDIS_REDIS_SERVER_H_

#include <prometheus/registry.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/admission/access.h"
#include "server/redis/redis_limits.h"
#include "server/redis/value_store.h"

namespace tritond::server {

// PEM texts. `client_ca` empty: clients are not asked for certificates.
struct RedisTls {
  std::string certificate, key, client_ca;
};

// Serves stored values to clients of the Redis protocol, over connections that others accept. Has a thread for all
// sockets, and a few that wait for the disk. Where there are more connections than a limit, the one goes that has
// waited longest for its peer, of the peer that has most. Thread-safe.
class RedisServer final {
 public:
  // `values`, `access` and `registry` must outlive this. `version`: the daemon's.
  RedisServer(ValueStore& values, const AccessPolicy& access, prometheus::Registry& registry, std::string version,
              const RedisLimits& limits);
  // Closes all connections; waits for commands that run.
  ~RedisServer();

  // Connections from now on must speak TLS, with these. InvalidArgument when OpenSSL does not take them: those from
  // before stay.
  absl::Status UseTls(const RedisTls& tls);
  // Serves the stream socket `fd`, which must not block, and owns it.
  void Welcome(int fd, RedisPeer peer);

  // Commands so far, those of PING and the like included.
  uint64_t requests() const;
  // Brings the metrics that tell a state up to date.
  void ShowState();

 private:
  class Loop;
  const std::unique_ptr<Loop> loop_;
};

}  // namespace tritond::server

#endif  // SERVER_REDIS_REDIS_SERVER_H_
