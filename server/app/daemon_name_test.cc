// SPDX-License-Identifier: Apache-2.0
#include "server/app/daemon_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using testing::EndsWith;

TEST(NameOfDaemon, IsTheConfiguredOne) {
  ServerConfig config;
  config.name = "red";
  EXPECT_EQ(NameOfDaemon(config), "red");
}

TEST(NameOfDaemon, ElseHasTheFirstFixedTcpPort) {
  ServerConfig config;
  EXPECT_THAT(NameOfDaemon(config), EndsWith(":7433"));
  config.listen = {"unix:/run/t.sock", "127.0.0.1:0", "0.0.0.0:8000", "0.0.0.0:9000"};
  EXPECT_THAT(NameOfDaemon(config), EndsWith(":8000"));
}

TEST(NameOfDaemon, ElseHasTheProcess) {
  ServerConfig config;
  config.listen = {"127.0.0.1:0"};
  EXPECT_THAT(NameOfDaemon(config), EndsWith(absl::StrCat("/", getpid())));
}

}  // namespace
}  // namespace tritond::server
