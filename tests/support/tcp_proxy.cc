// SPDX-License-Identifier: Apache-2.0
// Two threads a connection, one for each direction. A stalled direction is not read, so that the kernel's buffers fill
// up and the sender notices no more than a real sender would.
#include "tests/support/tcp_proxy.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tritond::tests {
namespace {

constexpr int kPollMs = 20;
constexpr size_t kBufferBytes = 64 << 10;

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

}  // namespace

TcpProxy::TcpProxy(int target_port) : target_port_(target_port) {
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  listen(listener_, 64);
  accepter_ = std::thread([this] { Accept(); });
}

TcpProxy::~TcpProxy() {
  stopping_ = true;
  accepter_.join();
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mu_);
    threads = std::move(threads_);
  }
  for (std::thread& thread : threads) thread.join();
  close(listener_);
  absl::MutexLock lock(&mu_);
  for (int fd : fds_) close(fd);
}

void TcpProxy::Accept() {
  while (!stopping_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, kPollMs) <= 0) continue;
    const int caller = accept(listener_, nullptr, nullptr);
    const int target = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = Loopback(target_port_);
    const bool connected = connect(target, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    const int one = 1;
    for (int fd : {caller, target}) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    absl::MutexLock lock(&mu_);
    fds_.insert(fds_.end(), {caller, target});
    if (!connected) {
      shutdown(caller, SHUT_RDWR);
      continue;
    }
    threads_.emplace_back([this, caller, target] { Carry(caller, target, to_target_, most_to_target_, no_delay_); });
    threads_.emplace_back([this, caller, target] { Carry(target, caller, to_caller_, no_limit_, delay_ms_); });
  }
}

void TcpProxy::Carry(int from, int to, const std::atomic<bool>& open, const std::atomic<size_t>& most,
                     const std::atomic<int>& delay_ms) {
  std::vector<char> buffer(kBufferBytes);
  size_t carried = 0;
  while (!stopping_) {
    if (!open || (most > 0 && carried >= most)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
      continue;
    }
    pollfd waiting{from, POLLIN, 0};
    if (poll(&waiting, 1, kPollMs) <= 0) continue;
    const ssize_t got = recv(from, buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    carried += static_cast<size_t>(got);
    ssize_t sent = 0;
    while (sent < got && !stopping_) {
      const ssize_t count = send(to, buffer.data() + sent, got - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) {
        sent += count;
      } else if (errno == EAGAIN) {
        pollfd room{to, POLLOUT, 0};
        poll(&room, 1, kPollMs);
      } else {
        break;
      }
    }
    if (sent < got) break;
  }
  shutdown(to, SHUT_RDWR);
  shutdown(from, SHUT_RDWR);
}

}  // namespace tritond::tests
