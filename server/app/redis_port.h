// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_REDIS_PORT_H_
#define SERVER_APP_REDIS_PORT_H_

#include <prometheus/registry.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cache/open/open_cache.h"
#include "server/admission/access.h"
#include "server/app/accept_loop.h"
#include "server/app/config.h"
#include "server/app/descriptor.h"
#include "server/app/tls_watch.h"
#include "server/redis/redis_server.h"
#include "server/redis/value_store.h"

namespace tritond::server {

// The port of --redis-listen, with what its clients store. The parts outlive it.
class RedisPort final {
 public:
  struct Parts {
    const cache::OpenedCache& cache;  // with client_records and client_values
    const AccessPolicy& access;
    prometheus::Registry& registry;
    const TlsWatch* tls;              // null: plain
    size_t connections;               // at most
    std::function<void()> exhausted;  // There was no descriptor for a connection.
    std::function<void(const std::string&)> log;
  };

  // Listens and serves from now on. Unavailable when the address cannot be had; InvalidArgument for unsound TLS files.
  static absl::StatusOr<std::unique_ptr<RedisPort>> Open(const ServerConfig& config, const Parts& parts);

  int port() const { return port_; }
  // Takes changed TLS files, for connections from then on. Not thread-safe.
  absl::Status ReloadTls();
  uint64_t requests() const { return server_->requests(); }
  void ShowState() { server_->ShowState(); }

 private:
  explicit RedisPort(const TlsWatch* tls) : tls_(tls) {}
  void Welcome(Descriptor connection);

  const TlsWatch* const tls_;
  std::string served_;  // TLS texts that are in use
  int port_ = 0;
  std::unique_ptr<ValueStore> values_;
  std::unique_ptr<RedisServer> server_;
  std::unique_ptr<AcceptLoop> loop_;  // last: it calls what is above
};

}  // namespace tritond::server

#endif  // SERVER_APP_REDIS_PORT_H_
