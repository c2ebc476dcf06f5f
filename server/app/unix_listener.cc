// SPDX-License-Identifier: Apache-2.0
#include "server/app/unix_listener.h"

#include <grpcpp/server_posix.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace tritond::server {
namespace {

constexpr int kBacklog = 1024;
constexpr absl::Duration kOutOfDescriptors = absl::Milliseconds(50);

// A descriptor that closes itself unless it is given away.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

absl::Status Failed(const std::string& path, const std::string& what) {
  return absl::UnavailableError(absl::StrCat("cannot listen on unix:", path, ": ", what));
}

bool IsServed(const sockaddr_un& address) {
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return probe.get() >= 0 && connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Open(const std::string& path, mode_t mode,
                                                                 grpc::Server& server, UnixPeers& peers) {
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
  Descriptor wake(eventfd(0, EFD_CLOEXEC));
  if (listening.get() < 0 || wake.get() < 0 ||
      bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      (mode != 0 && chmod(path.c_str(), mode) != 0) || listen(listening.get(), kBacklog) != 0) {
    return Failed(path, std::strerror(errno));
  }
  return std::unique_ptr<UnixListener>(new UnixListener(path, listening.Release(), wake.Release(), server, peers));
}

UnixListener::UnixListener(std::string path, int listening, int wake, grpc::Server& server, UnixPeers& peers)
    : path_(std::move(path)), listening_(listening), wake_(wake), server_(server), peers_(peers) {
  thread_ = std::thread([this] { AcceptLoop(); });
}

UnixListener::~UnixListener() {
  eventfd_write(wake_, 1);
  thread_.join();
  close(listening_);
  close(wake_);
  unlink(path_.c_str());
}

void UnixListener::AcceptLoop() {
  pollfd events[] = {{listening_, POLLIN, 0}, {wake_, POLLIN, 0}};
  while (true) {
    if (poll(events, 2, /*timeout=*/-1) < 0 && errno != EINTR) return;
    if (events[1].revents != 0) return;
    Descriptor connection(accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection.get() < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) absl::SleepFor(kOutOfDescriptors);
      continue;
    }
    ucred user{};
    socklen_t size = sizeof(user);
    if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0) continue;
    peers_.Note(connection.get(), user.uid);
    grpc::AddInsecureChannelFromFd(&server_, connection.Release());
  }
}

}  // namespace tritond::server
