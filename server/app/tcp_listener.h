// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_TCP_LISTENER_H_
#define SERVER_APP_TCP_LISTENER_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/app/accept_loop.h"
#include "server/app/connections.h"
#include "server/app/descriptor.h"

namespace tritond::server {

// The listening sockets of one TCP address.
struct TcpSockets {
  std::vector<Descriptor> listening;
  int port = 0;
};

// Listens on HOST:PORT from now on: on each address of the name, and for 0.0.0.0 and [::] on those of both families.
// Port 0 takes a free one. Unavailable when the name is unknown or no address of it can be had.
absl::StatusOr<TcpSockets> ListenOnTcp(const std::string& address);

// What gRPC calls the other end: "ipv4:1.2.3.4:56".
std::string PeerName(const sockaddr_storage& address);
// Whose connections share one part: an IPv4 address, or the /64 of one of IPv6, which is one network's.
std::string PeerGroup(const sockaddr_storage& address);

// Accepts for a gRPC server, so that connections are bounded. The server must be running until this object ends.
class TcpListener final {
 public:
  using HandOver = std::function<void(int listening, int fd)>;
  TcpListener(TcpSockets sockets, Connections& connections, HandOver hand_over);

 private:
  void Welcome(Descriptor connection);

  Connections& connections_;
  const HandOver hand_over_;
  const int first_;  // of the listening sockets
  AcceptLoop loop_;  // last: it calls what is above
};

}  // namespace tritond::server

#endif  // SERVER_APP_TCP_LISTENER_H_
