// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace tritond::workers {
namespace {

using testing::HasSubstr;
using testing::Not;

absl::StatusOr<Credentials> ReadToken(const std::string& text) {
  CredentialFiles files;
  files.token = testing::TempDir() + "/tritond_token_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(files.token) << text;
  return ReadCredentials(files);
}

TEST(ReadCredentials, TakesATokenWithoutItsNewline) {
  const auto credentials = ReadToken("a-token~!\r\n");
  ASSERT_TRUE(credentials.ok()) << credentials.status();
  EXPECT_EQ(credentials->token, "a-token~!");
}

TEST(ReadCredentials, NamesTheFileOfATokenThatNoHeaderCarriesAndDoesNotQuoteIt) {
  for (const char* text : {"secret\nmore\n", "secr\xc3\xa9t", "secret more", "secret\x01"}) {
    const absl::Status status = ReadToken(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("tritond_token_"));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secr")));
  }
}

}  // namespace
}  // namespace tritond::workers
