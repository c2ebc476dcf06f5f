// SPDX-License-Identifier: Apache-2.0
#include "server/app/unix_listener.h"

#include <grpcpp/server_posix.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/app/descriptor.h"

namespace tritond::server {
namespace {

constexpr int kBacklog = 1024;

absl::Status Failed(const std::string& path, const std::string& what) {
  return absl::UnavailableError(absl::StrCat("cannot listen on unix:", path, ": ", what));
}

bool IsServed(const sockaddr_un& address) {
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return probe.get() >= 0 && connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Open(const std::string& path, mode_t mode,
                                                                 grpc::Server& server, UnixPeers& peers,
                                                                 Connections& connections) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return Failed(path, "the path's length does not fit");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (IsServed(address)) return Failed(path, "another process serves it (is another tritond running?)");
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode)) return Failed(path, "something that is no socket is there");
    unlink(path.c_str());
  }
  Descriptor listening(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listening.get() < 0 || bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      (mode != 0 && chmod(path.c_str(), mode) != 0) || listen(listening.get(), kBacklog) != 0) {
    return Failed(path, std::strerror(errno));
  }
  return std::unique_ptr<UnixListener>(new UnixListener(path, std::move(listening), server, peers, connections));
}

UnixListener::UnixListener(std::string path, Descriptor listening, grpc::Server& server, UnixPeers& peers,
                           Connections& connections)
    : path_(std::move(path)), server_(server), peers_(peers), connections_(connections) {
  std::vector<Descriptor> sockets;
  sockets.push_back(std::move(listening));
  loop_ = std::make_unique<AcceptLoop>(
      std::move(sockets), AcceptLoop::Calls{[this](Descriptor connection) { Welcome(std::move(connection)); },
                                            [this] { connections_.NoteExhausted(); }});
}

UnixListener::~UnixListener() {
  loop_.reset();
  unlink(path_.c_str());
}

void UnixListener::Welcome(Descriptor connection) {
  ucred user{};
  socklen_t size = sizeof(user);
  if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0) return;
  const std::string name = UnixPeers::NameOf(connection.get());
  connections_.Welcome(std::move(connection), name, absl::StrCat("user ", user.uid), [&](int fd) {
    peers_.Note(fd, user.uid);
    grpc::AddInsecureChannelFromFd(&server_, fd);
  });
}

}  // namespace tritond::server
