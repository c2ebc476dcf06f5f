// SPDX-License-Identifier: Apache-2.0
#include "server/app/accept_loop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "timing/turns/turns.h"

namespace tritond::server {
namespace {

constexpr int kOutOfDescriptorsMs = 50;

bool IsExhaustion(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS; }

}  // namespace

AcceptLoop::AcceptLoop(std::vector<Descriptor> listening, Calls calls)
    : listening_(std::move(listening)), calls_(std::move(calls)), wake_(eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] { Run(); });
}

AcceptLoop::~AcceptLoop() {
  eventfd_write(wake_.get(), 1);
  thread_.join();
}

void AcceptLoop::Run() {
  timing::GiveWay();
  std::vector<pollfd> events{{wake_.get(), POLLIN, 0}};
  for (const Descriptor& socket : listening_) events.push_back({socket.get(), POLLIN, 0});
  while (true) {
    if (poll(events.data(), events.size(), /*timeout=*/-1) < 0 && errno != EINTR) return;
    if (events[0].revents != 0) return;
    for (size_t i = 1; i < events.size(); ++i) {
      if (events[i].revents != 0) AcceptFrom(events[i].fd);
    }
  }
}

void AcceptLoop::AcceptFrom(int listening) {
  Descriptor connection(accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (connection.get() >= 0) return calls_.welcome(std::move(connection));
  if (!IsExhaustion(errno)) return;  // Gone before it was accepted, say.
  calls_.exhausted();
  pollfd wake{wake_.get(), POLLIN, 0};
  poll(&wake, 1, kOutOfDescriptorsMs);
}

}  // namespace tritond::server
