// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/test_module.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// The function after the pass: it has the body, and takes two dividends and two divisors.
std::string After(const std::string& body) {
  return TextAfter(BranchDivisions,
                   absl::StrCat("declare void @use(i64)\ndefine void @f(i64 %x, i64 %y, i64 %d, i64 %e, ptr %a) {\n",
                                body, "  ret void\n}\n"));
}

std::string Divide(const std::string& result, const std::string& op, const std::string& x, const std::string& d) {
  return absl::StrCat("  %", result, " = ", op, " i64 %", x, ", %", d, "\n");
}

std::string Use(const std::string& x) { return absl::StrCat("  call void @use(i64 %", x, ")\n"); }

TEST(BranchDivisions, DividendsAskOnce) {
  const std::string after = After(Divide("q", "sdiv", "x", "d") + Divide("p", "sdiv", "y", "d") + Use("q") + Use("p"));
  EXPECT_EQ(Count(after, "br i1"), 1) << after;
  EXPECT_EQ(Count(after, "= or i64"), 2) << after;
  EXPECT_EQ(Count(after, "= udiv i32"), 2) << after;
  EXPECT_EQ(Count(after, "= sdiv i64"), 2) << after;
  EXPECT_EQ(Count(after, "= phi i64"), 2) << after;
}

TEST(BranchDivisions, RemaindersTakeTheQuotients) {
  const std::string after = After(Divide("q", "sdiv", "x", "d") + Divide("r", "srem", "x", "d") +
                                  Divide("s", "srem", "y", "d") + Use("q") + Use("r") + Use("s"));
  EXPECT_EQ(Count(after, "br i1"), 1) << after;
  EXPECT_EQ(Count(after, "= udiv i32"), 2) << after;
  EXPECT_EQ(Count(after, "= mul i32"), 2) << after;
  EXPECT_EQ(Count(after, "= phi i64"), 3) << after;
}

TEST(BranchDivisions, WhatTakesThemFollows) {
  const std::string after = After(Divide("q", "udiv", "x", "d") + "  %v = add i64 %q, 1\n  %z = add i64 %y, 1\n" +
                                  Divide("p", "udiv", "z", "d") + Use("v") + Use("p"));
  EXPECT_EQ(Count(after, "br i1"), 1) << after;
  EXPECT_LT(after.find("%z = add"), after.find("br i1")) << after;
  EXPECT_GT(after.find("%v = add"), after.find("phi i64")) << after;
}

TEST(BranchDivisions, OneDividendIsLeftToLlvm) {
  EXPECT_THAT(After(Divide("q", "sdiv", "x", "d") + Divide("r", "srem", "x", "d") + Use("q") + Use("r")),
              Not(HasSubstr("br i1")));
}

TEST(BranchDivisions, OtherDivisorsAskForThemselves) {
  const std::string each = Divide("q", "udiv", "x", "d") + Divide("p", "udiv", "y", "e") + Use("q") + Use("p");
  EXPECT_THAT(After(each), Not(HasSubstr("br i1")));
  const std::string both = Divide("q", "udiv", "x", "d") + Divide("p", "udiv", "y", "d") +
                           Divide("r", "udiv", "q", "e") + Divide("s", "udiv", "p", "e") + Use("r") + Use("s");
  EXPECT_EQ(Count(After(both), "br i1"), 2) << After(both);
}

TEST(BranchDivisions, QuotientsAreNoDividendsOfTheSameBranch) {
  EXPECT_THAT(After(Divide("q", "udiv", "x", "d") + Divide("p", "udiv", "q", "d") + Use("p")), Not(HasSubstr("br i1")));
}

TEST(BranchDivisions, LoadedDividendsAskForThemselves) {
  EXPECT_THAT(After(Divide("q", "udiv", "x", "d") + Use("q") + "  %z = load i64, ptr %a\n" +
                    Divide("p", "udiv", "z", "d") + Use("p")),
              Not(HasSubstr("br i1")));
}

// As where each element is computed to its end before the next one.
TEST(BranchDivisions, ElementsTakeTurns) {
  const std::string after = After(Divide("q", "udiv", "x", "d") + Divide("r", "urem", "q", "e") + Use("r") +
                                  Divide("p", "udiv", "y", "d") + Divide("s", "urem", "p", "e") + Use("s"));
  EXPECT_EQ(Count(after, "br i1"), 2) << after;
  EXPECT_EQ(Count(after, "= udiv i32"), 4) << after;
}

TEST(BranchDivisions, ConstantsAndShortNumbersStay) {
  EXPECT_THAT(After("  %q = udiv i64 %x, 7\n  %p = udiv i64 %y, 7\n" + Use("q") + Use("p")), Not(HasSubstr("br i1")));
  EXPECT_THAT(
      After("  %a = trunc i64 %x to i32\n  %b = trunc i64 %y to i32\n  %c = trunc i64 %d to i32\n"
            "  %q = udiv i32 %a, %c\n  %p = udiv i32 %b, %c\n  %s = add i32 %q, %p\n  %t = zext i32 %s to i64\n" +
            Use("t")),
      Not(HasSubstr("br i1")));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
