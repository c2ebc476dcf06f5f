// SPDX-License-Identifier: Apache-2.0
#include "compiler/text/check_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::compiler {
namespace {

using testing::HasSubstr;

std::string Complaint(absl::string_view text) {
  auto error = CheckText(text);
  return error ? error->message : "";
}

TEST(CheckText, DefinitionsOfAllKindsAreSeen) {
  EXPECT_EQ(Complaint(R"(
#loc = loc("a.py":1:2)
module {
  tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) -> i32 attributes {noinline = false} {
    %c, %d = tt.split %n : i32 loc("%x")
    %r:2 = scf.for %i = %c to %d step %n iter_args(%a = %c,
        %b = %d) -> (i32, i32) : i32 {  // %unknown
      %s = arith.addi %i, %a : i32
      scf.yield %s, %b : i32, i32
    }
    %w = scf.while (%x = %r#0) : (i32) -> i32 {
      %go = arith.cmpi slt, %x, %r#1 : i32
      scf.condition(%go) %x : i32
    } do {
    ^bb0(%y: i32):
      scf.yield %y : i32
    }
    %q = "tt.reduce"(%w) <{axis = 0 : i32}> ({
    ^bb0(%f: f32 loc("f"), %g: f32):
      tt.reduce.return %f : f32
    }) : (i32) -> i32
    cf.cond_br %go2, ^bb1(%q : i32), ^bb2
  ^bb1(%z: i32):
    tt.return %z : i32
  }
}
)"),
            "undeclared SSA value %go2: nothing before defines it");
}

TEST(CheckText, ValuesOfAnEndedRegionAreGone) {
  EXPECT_THAT(Complaint("scf.if %c { }"), HasSubstr("%c"));
  EXPECT_EQ(Complaint("%c = a.b\nscf.if %c { %x = a.b\n a.b %x, %c : i32 }"), "");
  EXPECT_THAT(Complaint("%c = a.b\nscf.if %c { %x = a.b }\n a.b %x : i32"), HasSubstr("%x"));
}

TEST(CheckText, ElementsOfArraysHaveAWidth) {
  EXPECT_THAT(Complaint("a.b {x = array<index: 4>}"), HasSubstr("no elements of type index"));
  EXPECT_THAT(Complaint("!t = index\na.b {x = array<!t: 4>}"), HasSubstr("no elements of type !t"));
  EXPECT_EQ(Complaint("a.b {x = array<i32: 4>, y = array<f32>} : !llvm.struct<(array<4 x i32>)>"), "");
}

TEST(CheckText, ListsOfNamesMayFollowAType) {
  EXPECT_EQ(Complaint("%c = a.b : i32\n%x, %y = tt.split %c : i32\na.b %y, %x"), "");
  EXPECT_EQ(Complaint("%c = a.b\ncf.assert %c, \"no\"\n%x, %y = tt.split %c : i32\na.b %y, %x"), "");
  EXPECT_EQ(Complaint("%c = a.b\nscf.parallel (%i, %j) = (%c, %c) to (%c, %c) { a.b %i, %j }"), "");
  EXPECT_EQ(Complaint("scf.forall (%i, %j) in (4, 4) { a.b %i, %j }"), "");
  EXPECT_THAT(Complaint("a.b %x, %y = 3"), HasSubstr("%x"));
  EXPECT_THAT(Complaint("%c = a.b : i32\na.b (%c, %y)"), HasSubstr("%y"));
}

TEST(CheckText, ResultNumbersAreSmall) {
  EXPECT_EQ(Complaint("%c:9 = a.b\na.b %c#65535 : i32"), "");
  EXPECT_THAT(Complaint("%c:9 = a.b\na.b %c#65536 : i32"), HasSubstr("result number is above 65535"));
  EXPECT_THAT(Complaint("%c:9 = a.b\na.b %c #2147483647 : i32"), HasSubstr("result number is above 65535"));
  EXPECT_THAT(Complaint("%c:9 = a.b\na.b %c#99999999999999999999 : i32"), HasSubstr("result number is above 65535"));
}

TEST(CheckText, FunctionsDoNotSeeEachOther) {
  EXPECT_THAT(Complaint("tt.func @a(%x: i32) { }\ntt.func @b(%y: i32) { a.b %x : i32 }"), HasSubstr("%x"));
}

TEST(CheckText, TheErrorTellsItsPlace) {
  auto error = CheckText("module {\n  tt.return %x : i32\n}");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where.line, 2);
  EXPECT_EQ(error->where.column, 13);
}

TEST(CheckText, BracketsMayNestButNotForEver) {
  EXPECT_EQ(Complaint(std::string(kMaxNesting, '(')), "");
  for (char bracket : {'(', '[', '{', '<'})
    EXPECT_THAT(Complaint(std::string(kMaxNesting + 1, bracket)), HasSubstr("nest deeper"));
  std::string flat;
  for (int i = 0; i < 1000; ++i) flat += "{}";
  EXPECT_EQ(Complaint(flat), "");
}

TEST(CheckText, NoTextIsTooStrange) {
  for (const char* text : {"", "%", "%,", "%x,", "%x:", "% = % = %", "}}}}", "\"", "%x:2", "^", "//"}) CheckText(text);
}

}  // namespace
}  // namespace tritond::compiler
