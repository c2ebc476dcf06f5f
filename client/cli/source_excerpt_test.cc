// SPDX-License-Identifier: Apache-2.0
#include "client/cli/source_excerpt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tritond::client {
namespace {

using testing::HasSubstr;

TEST(SourceExcerpt, PutsTheCaretUnderTheColumn) {
  EXPECT_EQ(SourceExcerpt("one\n  two\nthree", 2, 3, false), "     2 |   two\n       |   ^\n");
  EXPECT_EQ(SourceExcerpt("one", 1, 1, false), "     1 | one\n       | ^\n");
  EXPECT_EQ(SourceExcerpt("one\r\n", 1, 4, false), "     1 | one\n       |    ^\n");
  EXPECT_EQ(SourceExcerpt("one", 1, 1, true), "     1 | one\n       | \x1b[1;32m^\x1b[0m\n");
}

TEST(SourceExcerpt, IsEmptyForAPlaceOutsideOfTheText) {
  const std::vector<std::pair<int, int>> places = {{0, 1}, {1, 0}, {-1, 1}, {1, 5}, {3, 1}, {1, 2147483647}};
  for (const auto& [line, column] : places)
    EXPECT_EQ(SourceExcerpt("one\ntwo", line, column, false), "") << line << ":" << column;
  EXPECT_EQ(SourceExcerpt("", 1, 2, false), "");
}

TEST(SourceExcerpt, CountsCharactersThatTakeSeveralBytes) {
  EXPECT_EQ(SourceExcerpt("\xc3\xa4\xc3\xb6 x", 1, 6, false), "     1 | \xc3\xa4\xc3\xb6 x\n       |    ^\n");
}

TEST(SourceExcerpt, MovesNoCursor) {
  EXPECT_EQ(SourceExcerpt("\t\tx", 1, 3, false), "     1 |   x\n       |   ^\n");
  EXPECT_EQ(SourceExcerpt("\x1b[2Jx", 1, 5, false), "     1 | \\x1b[2Jx\n       |        ^\n");
}

TEST(SourceExcerpt, CutsLongLines) {
  const std::string line = absl::StrCat(std::string(500, 'a'), "!", std::string(500, 'b'));
  const std::string excerpt = SourceExcerpt(line, 1, 501, false);
  EXPECT_LT(excerpt.size(), 300u);
  EXPECT_THAT(excerpt, HasSubstr(absl::StrCat("| ...", std::string(80, 'a'), "!", std::string(39, 'b'), "...\n")));
  EXPECT_THAT(excerpt, HasSubstr(absl::StrCat("| ", std::string(83, ' '), "^\n")));
}

}  // namespace
}  // namespace tritond::client
