// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_UNIX_PEERS_H_
#define SERVER_RPC_UNIX_PEERS_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace tritond::server {

// Which user is at the other end of each connection that came over a Unix socket. gRPC names such a connection, which
// it was handed, by its descriptor. It keeps the descriptor open as long as a call of the connection lives. So within a
// call the answer cannot be another connection's. Thread-safe.
class UnixPeers final {
 public:
  // What gRPC calls such a connection.
  static std::string NameOf(int fd) { return absl::StrCat("fd:", fd); }
  // Before gRPC is handed the connection.
  void Note(int fd, uid_t user) {
    absl::MutexLock lock(&mu_);
    users_[NameOf(fd)] = user;
  }
  // `peer` as a call's context tells it; nothing when it did not come over a Unix socket.
  std::optional<uid_t> UserOf(absl::string_view peer) const {
    if (!absl::StartsWith(peer, "fd:")) return std::nullopt;
    absl::MutexLock lock(&mu_);
    auto it = users_.find(peer);
    return it == users_.end() ? std::nullopt : std::make_optional(it->second);
  }

 private:
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, uid_t> users_ ABSL_GUARDED_BY(mu_);  // bounded by the process's descriptors
};

}  // namespace tritond::server

#endif  // SERVER_RPC_UNIX_PEERS_H_
