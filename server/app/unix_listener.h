// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_UNIX_LISTENER_H_
#define SERVER_APP_UNIX_LISTENER_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/app/accept_loop.h"
#include "server/app/connections.h"
#include "server/app/descriptor.h"
#include "server/rpc/unix_peers.h"

namespace tritond::server {

// Accepts connections on a Unix socket for a gRPC server, which by itself would not tell whose they are, and notes the
// user of each. Has a thread of its own. The server, the peers and the count of connections outlive it; connections
// outlive it too.
class UnixListener final {
 public:
  // Listens at `path` from now on; a socket there that nobody serves is replaced. With `mode` other than 0 the socket
  // gets it, before anyone can connect. Unavailable when it is served by another, or cannot be made.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Open(const std::string& path, mode_t mode, grpc::Server& server,
                                                            UnixPeers& peers, Connections& connections);
  // Accepts no more, and removes the socket.
  ~UnixListener();

 private:
  UnixListener(std::string path, Descriptor listening, grpc::Server& server, UnixPeers& peers,
               Connections& connections);
  void Welcome(Descriptor connection);

  const std::string path_;
  grpc::Server& server_;
  UnixPeers& peers_;
  Connections& connections_;
  std::unique_ptr<AcceptLoop> loop_;
};

}  // namespace tritond::server

#endif  // SERVER_APP_UNIX_LISTENER_H_
