// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/dial_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace tritond::workers {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class ShuffleAddressesTest : public testing::Test {
 protected:
  DialTarget Shuffle(const std::string& server) {
    return ShuffleAddresses(
        server,
        [this](const std::string& host) {
          asked_.push_back(host);
          return hosts_[host];
        },
        random_);
  }

  std::map<std::string, std::vector<std::string>> hosts_{{"one", {"10.0.0.1"}},
                                                         {"10.0.0.1", {"10.0.0.1"}},
                                                         {"twice", {"10.0.0.1", "10.0.0.1"}},
                                                         {"two", {"10.0.0.1", "10.0.0.2"}},
                                                         {"both", {"10.0.0.1", "fe80::1%eth0"}}};
  std::vector<std::string> asked_;
  std::mt19937 random_{1};
};

TEST_F(ShuffleAddressesTest, ANameOfSeveralAddressesIsDialledInAnyOrderAndStaysWhatACertificateNames) {
  std::map<std::string, int> seen;
  for (int i = 0; i < 100; ++i) {
    const DialTarget dial = Shuffle("two:7433");
    EXPECT_EQ(dial.authority, "two:7433");
    ++seen[dial.target];
  }
  const std::string first = "[::ffff:10.0.0.1]:7433", second = "[::ffff:10.0.0.2]:7433";
  EXPECT_THAT(seen, UnorderedElementsAre(testing::Key("ipv6:" + first + "," + second),
                                         testing::Key("ipv6:" + second + "," + first)));
  for (const auto& [target, times] : seen) EXPECT_GT(times, 25) << target;
}

TEST_F(ShuffleAddressesTest, AddressesOfBothFamiliesAreOneList) {
  EXPECT_THAT(Shuffle("dns:///both:80").target, testing::AnyOf("ipv6:[::ffff:10.0.0.1]:80,[fe80::1%25eth0]:80",
                                                               "ipv6:[fe80::1%25eth0]:80,[::ffff:10.0.0.1]:80"));
  EXPECT_EQ(Shuffle("dns:///both:80").authority, "both:80");
  EXPECT_EQ(Shuffle("dns:both:80").authority, "both:80");
}

TEST_F(ShuffleAddressesTest, ANameOfOneAddressIsLookedUpHereAndStaysWhatACertificateNames) {
  for (const char* server : {"one:7433", "twice:7433"}) {
    EXPECT_EQ(Shuffle(server).target, "ipv6:[::ffff:10.0.0.1]:7433");
    EXPECT_EQ(Shuffle(server).authority, server);
  }
}

TEST(ReachOfDialTarget, IsThePortsOfAddresses) {
  EXPECT_THAT(ReachOf({"10.0.0.1:7433", ""}, false).tcp_ports, ElementsAre(7433));
  EXPECT_THAT(ReachOf({"[::1]:7433", ""}, false).tcp_ports, ElementsAre(7433));
  EXPECT_THAT(ReachOf({"ipv6:[::ffff:10.0.0.1]:80,[fe80::1%25eth0]:81", ""}, false).tcp_ports, ElementsAre(80, 81));
  EXPECT_THAT(ReachOf({"ipv4:10.0.0.1:80", ""}, false).read, ElementsAre());
  EXPECT_FALSE(ReachOf({"ipv4:10.0.0.1:80", ""}, false).any_tcp_port);
}

TEST(ReachOfDialTarget, IsTheSocketOfAPath) {
  for (const char* target : {"unix:/run/a.sock", "unix:///run/a.sock"}) {
    const Reach reach = ReachOf({target, ""}, false);
    EXPECT_THAT(reach.sockets, ElementsAre("/run/a.sock"));
    EXPECT_TRUE(reach.tcp_ports.empty() && !reach.any_tcp_port && !reach.abstract_sockets);
  }
  EXPECT_TRUE(ReachOf({"unix-abstract:a", ""}, false).abstract_sockets);
}

TEST(ReachOfDialTarget, HasTheResolverWhereANameIsLeft) {
  EXPECT_THAT(ReachOf({"name:7433", ""}, false).read, testing::Contains("/etc/resolv.conf"));
  EXPECT_TRUE(ReachOf({"name:7433", ""}, false).any_tcp_port);
  EXPECT_TRUE(ReachOf({"10.0.0.1:7433", ""}, /*proxied=*/true).any_tcp_port);
}

TEST_F(ShuffleAddressesTest, AListIsDialledInAnyOrder) {
  std::map<std::string, int> seen;
  for (int i = 0; i < 100; ++i) ++seen[Shuffle("ipv4:10.0.0.1:80,10.0.0.2:81").target];
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(Shuffle("ipv4:10.0.0.1:80,10.0.0.2:81").authority, "");
  EXPECT_EQ(Shuffle("ipv6:[::1]:80").target, "ipv6:[::1]:80");
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ShuffleAddressesTest, AnythingElseStaysAsItIs) {
  for (const char* server : {"10.0.0.1:7433", "unknown:7433", "two", "two:", "two:https", "[::1]:7433",
                             "unix:/run/tritond.sock", "unix:///two:7433", "dns://10.0.0.53/two:7433", ""}) {
    const DialTarget dial = Shuffle(server);
    EXPECT_EQ(dial.target, server);
    EXPECT_EQ(dial.authority, "") << server;
  }
  EXPECT_THAT(asked_, ElementsAre("10.0.0.1", "unknown"));
}

TEST(ResolveHostTest, GivesNumbersAndNothingForWhatIsNoHost) {
  EXPECT_THAT(ResolveHost("127.0.0.1"), ElementsAre("127.0.0.1"));
  EXPECT_THAT(ResolveHost("no host"), ElementsAre());
}

}  // namespace
}  // namespace tritond::workers
