// SPDX-License-Identifier: Apache-2.0
#include "client/cli/name_prefix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::client {
namespace {

using testing::EndsWith;

TEST(ExpandPrefix, GivesTheOnlyNameThatBeginsSo) {
  EXPECT_EQ(*ExpandPrefix("ab", {"abcd", "acbd", "b"}), "abcd");
  EXPECT_EQ(*ExpandPrefix("b", {"abcd", "b", "b"}), "b");
  EXPECT_EQ(*ExpandPrefix("job-1", {"job-12", "job-1"}), "job-1");
}

TEST(ExpandPrefix, NamesSeveralAndSaysThatThereIsNone) {
  const absl::Status several = ExpandPrefix("a", {"ab", "ac", "ad", "ae", "af", "ag", "b"}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(several));
  EXPECT_THAT(std::string(several.message()), EndsWith("several: ab, ac, ad, ae and 2 more"));
  EXPECT_THAT(std::string(ExpandPrefix("a", {"ab", "ac"}).status().message()), EndsWith("several: ab, ac"));
  EXPECT_TRUE(absl::IsNotFound(ExpandPrefix("c", {"ab"}).status()));
  EXPECT_TRUE(absl::IsNotFound(ExpandPrefix("abc", {"ab"}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ExpandPrefix("", {"ab"}).status()));
}

TEST(IsDigest, IsSixtyFourLowercaseHexDigits) {
  EXPECT_TRUE(IsDigest(std::string(60, '0') + "abcf"));
  for (const std::string& word :
       {std::string(63, '0'), std::string(65, '0'), std::string(64, 'A'), std::string(64, 'g')})
    EXPECT_FALSE(IsDigest(word)) << word;
}

}  // namespace
}  // namespace tritond::client
