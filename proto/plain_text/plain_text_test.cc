// SPDX-License-Identifier: Apache-2.0
#include "proto/plain_text/plain_text.h"

#include <gtest/gtest.h>

namespace tritond::proto {
namespace {

TEST(PlainText, NamesOfPeopleAndPlacesArePlain) {
  for (const char* text : {"", "team-a", "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80", "a \\x1b b", "\"quoted\" = 1"}) {
    EXPECT_TRUE(IsPlainText(text)) << text;
    EXPECT_EQ(EscapeToPlain(text), text);
  }
}

TEST(PlainText, ControlCharactersAndBrokenTextAreEscapedByteByByte) {
  const struct {
    absl::string_view text, escaped;
  } cases[] = {
      {"a\x1b[2Jb", "a\\x1b[2Jb"},
      {"\n\r\t", "\\x0a\\x0d\\x09"},
      {absl::string_view("\0", 1), "\\x00"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b"
       "31m"},                              // C1: CSI in one character
      {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},  // line separator
      {"\xe2\x80\xae"
       "cba",
       "\\xe2\\x80\\xae"
       "cba"},  // right-to-left override
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xc3", "\\xc3"},                             // cut off
      {"\xc0\x8a", "\\xc0\\x8a"},                    // overlong newline
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond Unicode
      {"\xe2\x82", "\\xe2\\x82"},
      {"\x80ok", "\\x80ok"},
  };
  for (const auto& [text, escaped] : cases) {
    EXPECT_FALSE(IsPlainText(text)) << escaped;
    EXPECT_EQ(EscapeToPlain(text), escaped);
    EXPECT_TRUE(IsPlainText(EscapeToPlain(text))) << escaped;
  }
}

TEST(PlainText, EveryTwoBytesBecomePlain) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text{static_cast<char>(a), static_cast<char>(b)};
      EXPECT_TRUE(IsPlainText(EscapeToPlain(text))) << a << " " << b;
      EXPECT_EQ(IsPlainText(text), EscapeToPlain(text) == text) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace tritond::proto
