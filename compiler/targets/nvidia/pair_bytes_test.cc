// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/test_module.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A function that makes %r of %w, after the pass.
std::string After(const std::string& body) {
  return TextAfter(PairBytes, absl::StrCat("define i16 @f(<4 x i8> %w, <4 x i8> %v) {\n", body, "  ret i16 %r\n}\n"));
}

std::string Pair(const std::string& vector, int low, int high) {
  return absl::StrCat("  %a = extractelement <4 x i8> %w, i32 ", low, "\n  %b = extractelement <4 x i8> ", vector,
                      ", i32 ", high,
                      "\n  %p = insertelement <2 x i8> poison, i8 %a, i32 0\n"
                      "  %q = insertelement <2 x i8> %p, i8 %b, i32 1\n  %r = bitcast <2 x i8> %q to i16\n");
}

TEST(PairBytes, NeighboursAreHalfOfTheirWord) {
  EXPECT_THAT(After(Pair("%w", 2, 3)),
              AllOf(HasSubstr("bitcast <4 x i8> %w to <2 x i16>"), HasSubstr("extractelement <2 x i16> %1, i64 1"),
                    Not(HasSubstr("insertelement"))));
}

TEST(PairBytes, ShufflesAreSeenThrough) {
  EXPECT_THAT(After("  %q = shufflevector <4 x i8> %w, <4 x i8> poison, <2 x i32> <i32 0, i32 1>\n"
                    "  %r = bitcast <2 x i8> %q to i16\n"),
              AllOf(HasSubstr("extractelement <2 x i16> %1, i64 0"), Not(HasSubstr("shufflevector"))));
  EXPECT_THAT(After("  %q = shufflevector <4 x i8> %w, <4 x i8> %v, <2 x i32> <i32 6, i32 7>\n"
                    "  %r = bitcast <2 x i8> %q to i16\n"),
              HasSubstr("bitcast <4 x i8> %v to <2 x i16>"));
}

TEST(PairBytes, OtherPairsStay) {
  for (const std::string& body : {Pair("%w", 1, 2), Pair("%w", 3, 2), Pair("%w", 0, 3), Pair("%v", 2, 3)})
    EXPECT_THAT(After(body), Not(HasSubstr("i16>"))) << body;
}

}  // namespace
}  // namespace tritond::compiler::nvidia
