// SPDX-License-Identifier: Apache-2.0
#include "server/app/connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "server/app/accept_loop.h"
#include "server/app/tcp_listener.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;

class ConnectionsTest : public testing::Test {
 protected:
  // Adds a connection and returns the other end; this one is as gRPC would have it.
  Descriptor Add(const std::string& name, const std::string& peer = "peer") {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    connections_.Welcome(Descriptor(ends[0]), name, peer, [this](int fd) { grpc_[fd] = Descriptor(fd); });
    last_ = ends[0];
    return Descriptor(ends[1]);
  }
  static bool IsShutDown(const Descriptor& other_end) {
    char byte = 0;
    return recv(other_end.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  absl::Time now_ = absl::UnixEpoch();
  prometheus::Registry registry_;
  std::vector<std::string> log_;
  Connections connections_{16, [this] { return now_; }, registry_,
                           [this](const LogEvent& event) { log_.push_back(event.message); }};
  std::map<int, Descriptor> grpc_;
  int last_ = -1;
};

TEST_F(ConnectionsTest, ASilentOneMakesRoomAndThePageSaysSo) {
  std::vector<Descriptor> others;
  for (int i = 0; i < 16; ++i) others.push_back(Add(absl::StrCat(i)));
  EXPECT_EQ(connections_.Trouble(), "");
  connections_.OnAdmitted("0", Need::kCompile);
  others.push_back(Add("16"));
  EXPECT_FALSE(IsShutDown(others[0]));
  EXPECT_TRUE(IsShutDown(others[1]));
  EXPECT_EQ(connections_.size(), 16);
  EXPECT_THAT(connections_.Trouble(), HasSubstr("room for 16 (--max-connections)"));
  EXPECT_EQ(log_.size(), 1);
  now_ += absl::Minutes(2);
  EXPECT_EQ(connections_.Trouble(), "");
}

TEST_F(ConnectionsTest, OneThatResetsTooManyCallsIsClosedAndTheLogSaysSoOnce) {
  const Descriptor first = Add("first"), second = Add("second"), honest = Add("honest");
  for (const char* name : {"first", "second"})
    for (int i = 0; i <= ConnectionTable::kMostResets; ++i) connections_.OnReset(name);
  EXPECT_TRUE(IsShutDown(first));
  EXPECT_TRUE(IsShutDown(second));
  EXPECT_FALSE(IsShutDown(honest));
  EXPECT_EQ(connections_.size(), 1);
  ASSERT_EQ(log_.size(), 1);
  EXPECT_THAT(log_[0], HasSubstr("first is closed: it resets calls"));
  EXPECT_EQ(connections_.Trouble(), "") << "there is room";
}

TEST_F(ConnectionsTest, ThoseThatGrpcHasClosedAreForgotten) {
  std::vector<Descriptor> others;
  for (int i = 0; i < 3; ++i) others.push_back(Add(absl::StrCat(i)));
  grpc_.erase(last_);
  EXPECT_EQ(connections_.size(), 3);
  connections_.Sweep();
  EXPECT_EQ(connections_.size(), 2);
}

TEST_F(ConnectionsTest, AnotherFileUnderAnEndedOnesDescriptorIsLeftAlone) {
  const Descriptor other = Add("ended");
  const int fd = last_;
  grpc_.erase(fd);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Descriptor end(ends[1]);
  if (ends[0] != fd) dup2(ends[0], fd);
  std::vector<Descriptor> others;
  for (int i = 0; i < 16; ++i) others.push_back(Add(absl::StrCat(i)));
  EXPECT_FALSE(IsShutDown(end));
  close(fd);
}

TEST_F(ConnectionsTest, AReusedDescriptorIsTheNewConnection) {
  for (int i = 0; i < 100; ++i) {
    const Descriptor other = Add(absl::StrCat(i));
    grpc_.erase(last_);
  }
  EXPECT_EQ(connections_.size(), 1);
}

TEST_F(ConnectionsTest, WhileTooManyAreBeingClosedNewOnesAreRefused) {
  std::vector<Descriptor> others;  // What makes room for them stays open: nobody closes it.
  for (int i = 0; i < 16 + 32; ++i) others.push_back(Add(absl::StrCat(i)));
  const Descriptor refused = Add("one more");
  EXPECT_TRUE(IsShutDown(refused));
  EXPECT_EQ(grpc_.size(), 16 + 32);
}

TEST_F(ConnectionsTest, WithoutDescriptorsItIsNotReadyForAWhile) {
  connections_.NoteExhausted();
  EXPECT_THAT(connections_.Exhausted(), HasSubstr("file descriptors"));
  now_ += absl::Seconds(11);
  EXPECT_EQ(connections_.Exhausted(), "");
}

TEST(AcceptLoop, AcceptsAtALowerPriorityThanCallsAreServed) {
  absl::StatusOr<TcpSockets> sockets = ListenOnTcp("127.0.0.1:0");
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  absl::Notification accepted;
  int priority = -1;
  AcceptLoop loop(std::move(sockets->listening), {[&](Descriptor) {
                                                    priority = getpriority(PRIO_PROCESS, 0);
                                                    accepted.Notify();
                                                  },
                                                  [] {}});
  const Descriptor caller(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(sockets->port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  accepted.WaitForNotification();
  EXPECT_EQ(priority, std::min(getpriority(PRIO_PROCESS, 0) + 5, 19));
}

TEST(TcpListener, NamesPeersAsGrpcDoesAndGroupsThem) {
  sockaddr_storage address{};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(56);
  ipv4.sin_addr.s_addr = htonl(0x01020304);
  EXPECT_EQ(PeerName(address), "ipv4:1.2.3.4:56");
  EXPECT_EQ(PeerGroup(address), "1.2.3.4");
  sockaddr_storage other{};
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(other);
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(56);
  ipv6.sin6_addr = in6addr_loopback;
  EXPECT_EQ(PeerName(other), "ipv6:%5B::1%5D:56");
  sockaddr_storage neighbour = other;
  reinterpret_cast<sockaddr_in6&>(neighbour).sin6_addr.s6_addr[15] = 2;
  EXPECT_EQ(PeerGroup(other), PeerGroup(neighbour));
  reinterpret_cast<sockaddr_in6&>(neighbour).sin6_addr.s6_addr[7] = 2;
  EXPECT_NE(PeerGroup(other), PeerGroup(neighbour));
}

}  // namespace
}  // namespace tritond::server
