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
  return TextAfter(ExtendBytes,
                   absl::StrCat("define i32 @f(<8 x i8> %w, <2 x i8> %v, i32 %n) {\n", body, "  ret i32 %r\n}\n"));
}

constexpr char kByte6[] = "  %b = extractelement <8 x i8> %w, i32 6\n";
constexpr char kExtended[] = "  %x = zext i8 %b to i32\n";

TEST(ExtendBytes, MultipliedBytesComeOutOfTheirWord) {
  for (const char* product : {"mul i32 %x, 129", "shl i32 %x, 8"}) {
    EXPECT_THAT(After(absl::StrCat(kByte6, kExtended, "  %r = ", product, "\n")),
                AllOf(HasSubstr("bitcast <8 x i8> %w to <2 x i32>"), HasSubstr("extractelement <2 x i32> %1, i64 1"),
                      HasSubstr("@llvm.nvvm.prmt(i32 %2, i32 0, i32 30578)"), Not(HasSubstr("zext"))));
  }
}

TEST(ExtendBytes, OtherBytesStay) {
  constexpr char kOfHalf[] = "  %b = extractelement <2 x i8> %v, i32 1\n";
  constexpr char kAnywhere[] = "  %b = extractelement <8 x i8> %w, i32 %n\n";
  constexpr char kProduct[] = "  %r = mul i32 %x, 129\n", kSum[] = "  %r = add i32 %x, 129\n";
  for (const std::string& body :
       {absl::StrCat(kByte6, kExtended, kSum), absl::StrCat(kByte6, "  %x = sext i8 %b to i32\n", kProduct),
        absl::StrCat(kOfHalf, kExtended, kProduct), absl::StrCat(kAnywhere, kExtended, kProduct)})
    EXPECT_THAT(After(body), Not(HasSubstr("prmt"))) << body;
}

}  // namespace
}  // namespace tritond::compiler::nvidia
