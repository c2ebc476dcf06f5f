// SPDX-License-Identifier: Apache-2.0
#include "server/app/redis_port.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/app/tcp_listener.h"
#include "server/web/page_access.h"

namespace tritond::server {
namespace {

RedisLimits LimitsOf(const ServerConfig& config, size_t connections) {
  RedisLimits limits;
  limits.request_bytes = config.redis_max_request_mb << 20;
  limits.memory_bytes = config.redis_memory_mb << 20;
  limits.connections = connections;
  return limits;
}

bool IsLocal(const sockaddr_storage& address) {
  return IsLoopbackAddress(PeerGroup(address)) ||
         (address.ss_family == AF_INET6 &&
          IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RedisPort>> RedisPort::Open(const ServerConfig& config, const Parts& parts) {
  absl::StatusOr<TcpSockets> sockets = ListenOnTcp(config.redis_listen);
  if (!sockets.ok())
    return absl::Status(sockets.status().code(), absl::StrCat("--redis-listen: ", sockets.status().message()));
  std::unique_ptr<RedisPort> port(new RedisPort(parts.tls));
  port->port_ = sockets->port;
  port->values_ = std::make_unique<ValueStore>(
      *parts.cache.client_records, *parts.cache.client_values,
      TenantIndex::Limits{config.redis_max_stored_mb << 20, config.redis_max_tenant_mb << 20}, absl::Now);
  const absl::Status stock = port->values_->TakeStock();
  if (!stock.ok()) parts.log(absl::StrCat("redis: cannot take stock: ", stock.ToString()));
  port->server_ = std::make_unique<RedisServer>(*port->values_, parts.access, parts.registry, TRITOND_VERSION,
                                                LimitsOf(config, parts.connections));
  if (absl::Status tls = port->ReloadTls(); !tls.ok()) return tls;
  port->loop_ = std::make_unique<AcceptLoop>(
      std::move(sockets->listening),
      AcceptLoop::Calls{[port = port.get()](Descriptor connection) { port->Welcome(std::move(connection)); },
                        parts.exhausted});
  return port;
}

absl::Status RedisPort::ReloadTls() {
  if (tls_ == nullptr) return absl::OkStatus();
  TlsTexts texts = tls_->served();
  std::string served = absl::StrCat(texts.certificate, texts.key, texts.client_ca);
  if (served == served_) return absl::OkStatus();
  absl::Status used = server_->UseTls({std::move(texts.certificate), std::move(texts.key), std::move(texts.client_ca)});
  if (used.ok()) served_ = std::move(served);
  return used;
}

void RedisPort::Welcome(Descriptor connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getpeername(connection.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return;  // Gone again.
  const int on = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  server_->Welcome(connection.Release(), {PeerGroup(address), IsLocal(address)});
}

}  // namespace tritond::server
