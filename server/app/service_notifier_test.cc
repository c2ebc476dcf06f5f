// SPDX-License-Identifier: Apache-2.0
#include "server/app/service_notifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

// A manager's socket of this name, as NOTIFY_SOCKET has it.
class ManagerSocket final {
 public:
  explicit ManagerSocket(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    unlink(name.c_str());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  ~ManagerSocket() { close(fd_); }
  // The next datagram; "" when none has come.
  std::string Read() {
    char text[256];
    const ssize_t size = recv(fd_, text, sizeof(text), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<size_t>(size));
  }

 private:
  const int fd_;
};

TEST(ServiceNotifier, HearsOfEachState) {
  for (const std::string& name : {testing::TempDir() + "/tritond_notify", absl::StrCat("@tritond-notify-", getpid())}) {
    ManagerSocket socket(name);
    const ServiceNotifier manager(name.c_str());
    manager.Tell("READY=1");
    EXPECT_EQ(socket.Read(), "READY=1") << name;
    manager.TellReloading();
    EXPECT_THAT(socket.Read(), testing::MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+")) << name;
    EXPECT_EQ(socket.Read(), "");
  }
}

TEST(ServiceNotifier, WithoutAManagerNothingIsSentAndNoFileStaysOpen) {
  const int before = dup(0);
  close(before);
  for (const char* name : {static_cast<const char*>(nullptr), "", "/nonexistent/socket"})
    ServiceNotifier(name).Tell("READY=1");
  ServiceNotifier(std::string(4096, 'x').c_str()).Tell("READY=1");
  const int after = dup(0);
  close(after);
  EXPECT_EQ(after, before) << "the lowest free descriptor";
}

}  // namespace
}  // namespace tritond::server
