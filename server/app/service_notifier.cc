// SPDX-License-Identifier: Apache-2.0
#include "server/app/service_notifier.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace tritond::server {

void ServiceNotifier::Tell(absl::string_view state) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  socket_.copy(address.sun_path, socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  close(fd);
}

void ServiceNotifier::TellReloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  Tell(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000));
}

}  // namespace tritond::server
