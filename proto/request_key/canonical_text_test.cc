// SPDX-License-Identifier: Apache-2.0
#include "proto/request_key/canonical_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tritond::proto {
namespace {

using testing::HasSubstr;

std::string Drop(absl::string_view text) {
  absl::StatusOr<CanonicalText> canonical = CanonicalizeText(text, SourceLocations::kDrop);
  return canonical.ok() ? canonical->text : absl::StrCat("refused: ", canonical.status().message());
}

std::string Keep(absl::string_view text) {
  absl::StatusOr<CanonicalText> canonical = CanonicalizeText(text, SourceLocations::kKeep);
  return canonical.ok() ? canonical->text : absl::StrCat("refused: ", canonical.status().message());
}

TEST(CanonicalizeText, DropsTrailingLocationsAndTheirDefinitions) {
  EXPECT_EQ(Drop("#loc = loc(\"k.py\":46:0)\n"
                 "module {\n"
                 "  %0 = arith.addi %a, %b : i32 loc(#loc1)\n"
                 "} loc(#loc)\n"
                 "#loc1 = loc(\"offs\"(#loc))\n"),
            "module {\n  %0 = arith.addi %a, %b : i32\n}");
}

TEST(CanonicalizeText, DropsLocationsOfArguments) {
  EXPECT_EQ(Drop("tt.func @f(%x: i32 loc(\"x\"(#loc)), %y: i32 loc(\"y(\\\")\"(#loc))) {"),
            "tt.func @f(%x: i32, %y: i32) {");
}

TEST(CanonicalizeText, FollowsNestedParentheses) {
  EXPECT_EQ(Drop("a loc(callsite(\"f\"(\"k)(.py\":1:2) at fused<\"m\">[\"g\", unknown])) b"), "a b");
}

TEST(CanonicalizeText, DropsComments) {
  EXPECT_EQ(Drop("// first\n^bb1:  // pred: ^bb0\n  a // loc(\n//\n  b //"), "^bb1:\n  a\n  b");
  EXPECT_EQ(Keep("a loc(x // )\n) b"), "a loc(x\n) b");
}

// MLIR ends a comment at a carriage return as well as at a line feed.
TEST(CanonicalizeText, EndsCommentsWhereMlirEndsThem) {
  EXPECT_EQ(Drop("a // comment\rb"), "a\nb");
  EXPECT_EQ(Drop("a loc(x // (\r) b // )"), "a\n b");
}

TEST(CanonicalizeText, KeepsWhatOnlyLooksLikeALocation) {
  const std::string text =
      "tt.func @loc(%loc: i32) {\n"
      "  %s = tt.print \" loc(#loc1) \\\" loc(x) // \"\n"
      "  %r = tt.loc(%loc) {loc = 1}\n"
      "  tt.call @a.loc(%loc) : (i32) -> i32\n"
      "#location = #tt.thing<loc>";
  EXPECT_EQ(Drop(text), text);
}

TEST(CanonicalizeText, KeepsLocationsThatAreValues) {
  const std::string value = "a.b {where = loc(\"x\"), all = [loc(\"y\"), loc(unknown)]} : i32";
  EXPECT_EQ(Drop(value), value);
  EXPECT_EQ(Drop("a.b {where = loc(\"x\")} loc(\"z\")"), "a.b {where = loc(\"x\")}");
}

// Without its definition the value would be another text, or none.
TEST(CanonicalizeText, KeepsAllLocationsWhereAValueRefersToOne) {
  const std::string text = "#loc1 = loc(\"x\")\na.b {where = #loc1} loc(#loc1)";
  EXPECT_EQ(Drop(text), text);
}

TEST(CanonicalizeText, KeepsNeighboursOfADroppedLocationApart) {
  EXPECT_EQ(Drop("a loc(x)b"), "a b");
  EXPECT_EQ(Drop("!a loc(x)<b>"), "!a <b>");
  EXPECT_EQ(Drop("i32 loc(x),"), "i32,");
}

TEST(CanonicalizeText, NormalizesLineEndsAndKeepsIndentation) {
  EXPECT_EQ(Drop("a  \r\n\n\n  b\t"), "a\n  b");
  EXPECT_EQ(Drop("a   b\n"), "a   b");
  EXPECT_EQ(Drop(" \n // \n"), "");
}

TEST(CanonicalizeText, RefusesTextWithoutTokens) {
  EXPECT_EQ(Drop("a\n b \"x\n"), "refused: line 2, column 4: the string does not end in its line");
  EXPECT_THAT(Drop("\"\\q\""), HasSubstr("line 1, column 2: a string has an unknown escape"));
  EXPECT_THAT(Drop(absl::string_view("\"\0\"", 3)), HasSubstr("a byte of value 0"));
  EXPECT_THAT(Drop(absl::string_view("a\0b", 3)), HasSubstr("line 1, column 2: unexpected byte 0x00"));
  EXPECT_THAT(Drop("a \xc3\xa9"), HasSubstr("unexpected byte 0xc3"));
  EXPECT_THAT(Drop("a % b"), HasSubstr("% is not followed by a name"));
  EXPECT_THAT(Drop("!tt.ptr<i32 // >\n>"), HasSubstr("a comment inside the brackets"));
}

TEST(CanonicalizeText, RefusesALocationThatDoesNotEnd) {
  EXPECT_EQ(Drop("a\n  b loc(fused[x) y"), "a\n  b y");
  EXPECT_EQ(Drop("a\n  b loc((x) y"), "refused: line 2, column 5: the parenthesis of this location is not closed");
}

// Each place of the canonical text leads to the same character of the text as sent.
TEST(CanonicalizeText, LeadsBackToTheTextAsSent) {
  const std::string sent =
      "// kernel\r\n#loc = loc(\"k.py\":46:0)\n\nmodule {\n  func(%x: i32 loc(#loc), %y: i32 loc(#loc) ) {  // args\n\n"
      "\t%z = add %x,\n\n      %y  :  i32 loc(fused[#loc,\n #loc]) \n  } loc(#loc)\n}";
  absl::StatusOr<CanonicalText> canonical = CanonicalizeText(sent, SourceLocations::kDrop);
  ASSERT_TRUE(canonical.ok()) << canonical.status();
  const std::vector<std::string> from = absl::StrSplit(canonical->text, '\n'), to = absl::StrSplit(sent, '\n');
  int compared = 0;
  for (size_t line = 0; line < from.size(); ++line) {
    for (size_t column = 0; column < from[line].size(); ++column) {
      if (from[line][column] == ' ') continue;
      const TextPlace place = canonical->source.ToSource({static_cast<int>(line) + 1, static_cast<int>(column) + 1});
      ASSERT_LE(place.line, static_cast<int>(to.size()));
      ASSERT_LE(place.column, static_cast<int>(to[place.line - 1].size()));
      EXPECT_EQ(to[place.line - 1][place.column - 1], from[line][column]) << line + 1 << ":" << column + 1;
      ++compared;
    }
  }
  EXPECT_GT(compared, 30);
}

// Whatever the text: no crash, and what comes out is canonical.
TEST(CanonicalizeText, KeepsACanonicalText) {
  const std::vector<std::string> pieces = {"loc", "(",  ")", "#loc", "#loc1", "=", "\"",  "\\",  "//", "\n", "\r",
                                           " ",   "a",  "{", "}",    "<",     ">", "!t",  ",",   "->", "x",  ":",
                                           "%v",  "0x", "1", "@f",   "[",     "]", "#-}", "{-#", "\t", "."};
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text;
    for (int n = random() % 14; n >= 0; --n) text += pieces[random() % pieces.size()];
    for (SourceLocations locations : {SourceLocations::kDrop, SourceLocations::kKeep}) {
      absl::StatusOr<CanonicalText> once = CanonicalizeText(text, locations);
      if (!once.ok()) continue;
      ++accepted;
      absl::StatusOr<CanonicalText> twice = CanonicalizeText(once->text, locations);
      ASSERT_TRUE(twice.ok()) << text << "\n=>\n" << once->text << "\n" << twice.status();
      ASSERT_EQ(once->text, twice->text) << text;
      ASSERT_LE(once->text.size(), text.size()) << text;
      ASSERT_TRUE(twice->source.empty()) << text;
    }
  }
  EXPECT_GT(accepted, 50000);
}

}  // namespace
}  // namespace tritond::proto
