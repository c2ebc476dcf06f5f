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

// libdevice's function in short; `bound` says where the forms meet.
std::string Tanh(const std::string& bound) {
  return absl::StrCat(
      "declare float @llvm.fabs.f32(float)\ndeclare float @llvm.exp2.f32(float)\ndeclare void @use(float)\n"
      "declare void @stop()\n"
      "define internal float @__nv_tanhf(float %a) alwaysinline {\n"
      "  %m = call float @llvm.fabs.f32(float %a)\n  %e = call float @llvm.exp2.f32(float %m)\n"
      "  %one = fcmp oge float %m, 9.0\n  %l = select i1 %one, float 1.0, float %e\n"
      "  %p = fmul float %a, %a\n  %large = fcmp oge float %m, ",
      bound, "\n  %r = select i1 %large, float %l, float %p\n  ret float %r\n}\n");
}

// The functions after the pass: @f has the body, and takes four numbers.
std::string After(const std::string& body, const std::string& bound = "0.5") {
  return TextAfter(BranchTanh, absl::StrCat(Tanh(bound), "define void @f(float %a, float %b, float %c, float %d) {\n",
                                            body, "  ret void\n}\n"));
}

std::string Call(const std::string& result, const std::string& x) {
  return absl::StrCat("  %", result, "t = call float @__nv_tanhf(float %", x, ")\n  %", result, " = fmul float %",
                      result, "t, 3.0\n");
}

std::string Use(const std::string& x) { return absl::StrCat("  call void @use(float %", x, ")\n"); }

const std::string& Uses() {
  static const auto* uses = new std::string(Use("w") + Use("x") + Use("y") + Use("z"));
  return *uses;
}

TEST(BranchTanh, SeveralElementsAskOnce) {
  const std::string after = After(Call("w", "a") + Call("x", "b") + Call("y", "c") + Call("z", "d") + Uses());
  EXPECT_EQ(Count(after, "br i1"), 1) << after;
  EXPECT_EQ(Count(after, "call float @llvm.maximumnum.f32("), 3) << after;
  EXPECT_EQ(Count(after, "call float @__nv_tanhf("), 4) << after;
  EXPECT_EQ(Count(after, "phi float"), 4) << after;
  // NaN is of the polynomial.
  EXPECT_THAT(after, HasSubstr("= fcmp oge float %7, 5.000000e-01\n  br i1 %8, label %9, label %10")) << after;
  // The other form is gone from the copy.
  EXPECT_THAT(after, HasSubstr("select i1 false, float %l, float %p")) << after;
}

TEST(BranchTanh, ConversionsBetweenThemFollow) {
  const std::string after = After(Call("w", "a") + "  %v = fadd float %w, 1.0\n" + Call("x", "b") +
                                  "  %c2 = fmul float %c, %c\n" + Call("y", "c2") + Call("z", "d") + Use("v") + Uses());
  EXPECT_EQ(Count(after, "br i1"), 1) << after;
  EXPECT_LT(after.find("%c2 = fmul"), after.find("br i1")) << after;
  EXPECT_GT(after.find("%v = fadd"), after.find("phi float")) << after;
}

TEST(BranchTanh, ManyElementsAskByParts) {
  std::string body;
  for (int i = 0; i < 40; ++i)
    absl::StrAppend(&body, "  %a", i, " = fadd float %a, ", i, ".0\n",
                    Call(absl::StrCat("w", i), absl::StrCat("a", i)));
  for (int i = 0; i < 40; ++i) absl::StrAppend(&body, Use(absl::StrCat("w", i)));
  const std::string after = After(body);
  EXPECT_EQ(Count(after, "br i1"), 3) << after;
  EXPECT_EQ(Count(after, "phi float"), 40) << after;
}

TEST(BranchTanh, FewElementsDoNotPay) {
  EXPECT_THAT(After(Call("w", "a") + Call("x", "b") + Call("y", "c") + Use("w") + Use("x") + Use("y")),
              Not(HasSubstr("br i1")));
}

TEST(BranchTanh, CallsStayOnTheirSideOfEffects) {
  EXPECT_THAT(
      After(Call("w", "a") + Call("x", "b") + "  call void @stop()\n" + Call("y", "c") + Call("z", "d") + Uses()),
      Not(HasSubstr("br i1")));
}

TEST(BranchTanh, ArgumentsAreNoResultsOfTheSameBranch) {
  EXPECT_THAT(After(Call("w", "a") + Call("x", "b") + Call("y", "x") + Call("z", "d") + Uses()),
              Not(HasSubstr("br i1")));
}

TEST(BranchTanh, OnlyScaledResultsAreLikelySmall) {
  std::string body;
  for (const char* x : {"a", "b", "c", "d"})
    absl::StrAppend(&body, "  %t", x, " = call float @__nv_tanhf(float %", x, ")\n  %p", x, " = fmul float %t", x,
                    ", %", x, "\n");
  EXPECT_THAT(After(body), Not(HasSubstr("br i1")));
}

TEST(BranchTanh, UnknownFormsStay) {
  EXPECT_THAT(After(Call("w", "a") + Call("x", "b") + Call("y", "c") + Call("z", "d") + Uses(), "2.0"),
              Not(HasSubstr("br i1")));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
