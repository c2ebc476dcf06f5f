// SPDX-License-Identifier: Apache-2.0
#include "client/cc/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"

namespace tritond::client {
namespace {

using testing::UnorderedElementsAre;

std::string First(const std::string& key, const std::vector<std::string>& servers) {
  return servers[RendezvousOrder(key, servers)[0]];
}

TEST(RendezvousOrder, NamesEveryServerOnce) {
  EXPECT_THAT(RendezvousOrder("key", {"a:1", "b:1", "c:1"}), UnorderedElementsAre(0, 1, 2));
  EXPECT_TRUE(RendezvousOrder("key", {}).empty());
}

TEST(RendezvousOrder, TheOrderOfTheListDoesNotCount) {
  for (int i = 0; i < 100; ++i) {
    const std::string key = absl::StrCat("key ", i);
    EXPECT_EQ(First(key, {"a:1", "b:1", "c:1"}), First(key, {"c:1", "a:1", "b:1"}));
  }
}

TEST(RendezvousOrder, KeysSpreadEvenly) {
  std::map<std::string, int> counts;
  for (int i = 0; i < 3000; ++i) ++counts[First(absl::StrCat("key ", i), {"a:1", "b:1", "c:1"})];
  for (const auto& [server, count] : counts) EXPECT_NEAR(count, 1000, 120) << server;
}

TEST(RendezvousOrder, AServerThatGoesMovesOnlyItsOwnKeys) {
  for (int i = 0; i < 300; ++i) {
    const std::string key = absl::StrCat("key ", i);
    const std::string before = First(key, {"a:1", "b:1", "c:1"});
    if (before != "b:1") {
      EXPECT_EQ(First(key, {"a:1", "c:1"}), before);
    }
  }
}

}  // namespace
}  // namespace tritond::client
