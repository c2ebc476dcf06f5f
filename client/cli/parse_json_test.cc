// SPDX-License-Identifier: Apache-2.0
#include "client/cli/parse_json.h"

#include <gtest/gtest.h>

#include <string>

namespace tritond::client {
namespace {

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, ReadsValues) {
  EXPECT_EQ(ParseJson(R"({"a": [1, "b"]})")["a"][1], "b");
  EXPECT_EQ(ParseJson("7"), 7);
}

TEST(ParseJson, TextThatIsNoJsonIsDiscarded) {
  EXPECT_TRUE(ParseJson("").is_discarded());
  EXPECT_TRUE(ParseJson("{\"a\": }").is_discarded());
  EXPECT_TRUE(ParseJson("[1]]").is_discarded());
}

TEST(ParseJson, ValuesThatNestTooDeepAreDiscarded) {
  EXPECT_FALSE(ParseJson(Nested(kMaxJsonDepth)).is_discarded());
  EXPECT_TRUE(ParseJson(Nested(kMaxJsonDepth + 1)).is_discarded());
  EXPECT_TRUE(ParseJson(Nested(1000000)).is_discarded());
}

TEST(ParseJson, BracketsInStringsDoNotCount) {
  EXPECT_EQ(ParseJson("[\"" + std::string(1000, '[') + "\"]")[0].get<std::string>().size(), 1000u);
  EXPECT_EQ(ParseJson("[\"\\\"" + std::string(1000, '{') + "\\\\\"]")[0].get<std::string>().size(), 1002u);
}

}  // namespace
}  // namespace tritond::client
