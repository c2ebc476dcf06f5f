// SPDX-License-Identifier: Apache-2.0
#include "server/app/access_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace tritond::server {
namespace {

using testing::HasSubstr;

absl::StatusOr<AccessRules> Read(const std::string& text) {
  const std::string path =
      testing::TempDir() + "/tritond_access_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml";
  std::ofstream(path) << text;
  return ReadAccessFile(path);
}

const std::string kDigest(64, 'a');

TEST(ReadAccessFile, TakesEveryEntry) {
  absl::StatusOr<AccessRules> rules = Read(
      "anonymous: read\nunix: compile\n"
      "users:\n  - {user: root, role: read, tenant: ops}\n"
      "  - {user: 1234, role: admin}\ntokens:\n  - {sha256: " +
      kDigest +
      ", role: prebuild, tenant: ci}\ncertificates:\n"
      "  - {common_name: \"node-*\", role: worker}\n");
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_EQ(rules->anonymous.role, Role::kRead);
  EXPECT_EQ(rules->unix_socket.role, Role::kCompile);
  ASSERT_EQ(rules->users.size(), 2u);
  EXPECT_EQ(rules->users[0].uid, 0u);
  EXPECT_EQ(rules->users[0].caller.tenant, "ops");
  EXPECT_EQ(rules->users[1].uid, 1234u);
  ASSERT_EQ(rules->tokens.size(), 1u);
  EXPECT_EQ(rules->tokens[0].sha256, kDigest);
  EXPECT_EQ(rules->tokens[0].caller.role, Role::kPrebuild);
  EXPECT_EQ(rules->tokens[0].caller.tenant, "ci");
  ASSERT_EQ(rules->certificates.size(), 1u);
  EXPECT_EQ(rules->certificates[0].common_name, "node-*");
}

TEST(ReadAccessFile, AFileWithoutRulesLetsNoCallerIn) {
  for (const char* text : {"{}", "tokens: []\n"}) {
    absl::StatusOr<AccessRules> rules = Read(text);
    ASSERT_TRUE(rules.ok()) << rules.status();
    EXPECT_EQ(rules->anonymous.role, Role::kNone);
    EXPECT_EQ(rules->unix_socket.role, Role::kNone);
  }
}

TEST(ReadAccessFile, NamesWhatIsWrong) {
  const auto error = [](const std::string& text) { return std::string(Read(text).status().message()); };
  EXPECT_THAT(error("anonymous: root"), HasSubstr("\"root\" is no role"));
  EXPECT_THAT(error("everyone: admin"), HasSubstr("unknown entry everyone"));
  EXPECT_THAT(error("users: [{user: no-such-user, role: read}]"), HasSubstr("users[0]: this machine has no user"));
  EXPECT_THAT(error("tokens: [{sha256: abc, role: read}]"), HasSubstr("tokens[0]: sha256"));
  EXPECT_THAT(error("tokens: [{token: abc}]"), HasSubstr("tokens[0]: unknown entry token"));
  EXPECT_THAT(error("certificates: [{role: read}]"), HasSubstr("certificates[0]: common_name"));
  EXPECT_THAT(error("certificates: {common_name: x}"), HasSubstr("must be a list"));
  EXPECT_THAT(error(""), HasSubstr("is empty"));
  EXPECT_THAT(error("# unix: none"), HasSubstr("is empty"));
  EXPECT_THAT(error("["), HasSubstr("tritond_access_"));
  EXPECT_TRUE(absl::IsNotFound(ReadAccessFile("/nonexistent/access.yaml").status()));
}

}  // namespace
}  // namespace tritond::server
