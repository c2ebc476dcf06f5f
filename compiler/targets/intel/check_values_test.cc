// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/check_values.h"

#include "absl/strings/str_cat.h"
#include "compiler/targets/intel/spirv_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler::intel {
namespace {

using ::testing::HasSubstr;

constexpr char kTypes[] =
    "; Version: 1.4\n; Generator: 0x0\n; Bound: 40\n"
    "%1 = OpTypeInt 32 0\n%2 = OpTypeInt 64 0\n%3 = OpTypeBool\n%4 = OpTypePointer CrossWorkgroup %1\n"
    "%10 = OpConstant %1 7\n%11 = OpConstant %2 !0x00000007 !0x00000000\n%12 = OpConstantTrue %3\n"
    "%13 = OpConstantNull %4\n";

std::string Check(const std::string& line) {
  absl::StatusOr<std::string> binary = AssembleSpirv(absl::StrCat(kTypes, line, "\n"));
  if (!binary.ok()) return binary.status().ToString();
  absl::StatusOr<SpirvWords> module = SpirvWords::Parse(*binary);
  return module.ok() ? std::string(CheckValues(*module).message()) : module.status().ToString();
}

TEST(CheckValues, TakesWhatIsRight) {
  for (const char* line :
       {"%20 = OpIAdd %1 %10 %10", "%20 = OpShiftLeftLogical %1 %10 %11", "%20 = OpIEqual %3 %11 %11",
        "%20 = OpSelect %1 %12 %10 %10", "OpStore %13 %10 Aligned 4", "!0x00031fff !0x00000063 !0x00000063"})
    EXPECT_EQ(Check(line), "") << line;
}

TEST(CheckValues, NamesOperandsOfOtherTypes) {
  for (const char* line :
       {"%20 = OpIAdd %1 %10 %11", "%20 = OpBitwiseAnd %1 %11 %10", "%20 = OpShiftLeftLogical %1 %11 %10",
        "%20 = OpIEqual %3 %10 %11", "%20 = OpSelect %1 %12 %11 %10", "OpStore %13 %11 Aligned 4", "OpStore %10 %10"})
    EXPECT_THAT(Check(line), testing::AnyOf(HasSubstr("is not of the type"), HasSubstr("is no pointer"))) << line;
}

TEST(CheckValues, NamesIdsThatAreWrong) {
  EXPECT_THAT(Check("%10 = OpIAdd %1 %10 %10"), HasSubstr("id 10 is defined more than once"));
  EXPECT_THAT(Check("%40 = OpIAdd %1 %10 %10"), HasSubstr("id 40 is not below the bound"));
  EXPECT_THAT(Check("%20 = OpIAdd %1 %10 %30"), HasSubstr("id 30 is not defined"));
}

}  // namespace
}  // namespace tritond::compiler::intel
