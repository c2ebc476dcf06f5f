// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "tests/fault/attack.h"

namespace tritond::tests {
namespace {

// A connection to a port of this machine, closed by its end.
class Connection final {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // Goes on in the background; one that is refused is as good.
    static_cast<void>(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
  }
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool ok() const { return fd_ >= 0; }
  void Send(absl::string_view bytes) const {
    static_cast<void>(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }

 private:
  const int fd_;
};

// Until the attack's patience is over, or the test.
void Hold(const AttackedDaemon& daemon) {
  for (int i = 0; i < 100 && !daemon.stop; ++i) absl::SleepFor(absl::Milliseconds(20));
}

// More connections than the daemon may have descriptors, by default.
void Flood(const AttackedDaemon& daemon, uint64_t) {
  constexpr int kConnections = 1500;
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < kConnections && !daemon.stop; ++i) {
    connections.push_back(std::make_unique<Connection>(daemon.port));
    if (!connections.back()->ok()) break;  // This process has no more.
  }
  Hold(daemon);
}

// Readers of the status page who ask and then read nothing, and such as do not even end their question.
void ReadSlowly(const AttackedDaemon& daemon, uint64_t) {
  constexpr int kConnections = 200;
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < kConnections; ++i) connections.push_back(std::make_unique<Connection>(daemon.http_port));
  for (int step = 0; step < 20 && !daemon.stop; ++step) {
    for (size_t i = 0; i < connections.size(); ++i) {
      if (step == 0) connections[i]->Send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n");
      if (step == 1 && i % 2 == 0) connections[i]->Send("\r\n");
      if (step > 1 && i % 2 == 1) connections[i]->Send("X");
    }
    absl::SleepFor(absl::Milliseconds(100));
  }
}

// Bytes that are no HTTP/2, and the beginning of some that are.
void TalkNonsense(const AttackedDaemon& daemon, uint64_t number) {
  for (int i = 0; i < 50 && !daemon.stop; ++i) {
    const Connection connection(daemon.port);
    absl::SleepFor(absl::Milliseconds(2));
    connection.Send(i % 2 == 0 ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" : "GET / HTTP/1.0\r\n\r\n");
    std::string noise(1024, '\0');
    for (char& c : noise) c = static_cast<char>(number = number * 6364136223846793005u + 1442695040888963407u);
    connection.Send(noise);
  }
}

}  // namespace

std::vector<Attack> ConnectionAttacks() {
  return {{"Flood", Flood}, {"ReadSlowly", ReadSlowly}, {"TalkNonsense", TalkNonsense}};
}

}  // namespace tritond::tests
