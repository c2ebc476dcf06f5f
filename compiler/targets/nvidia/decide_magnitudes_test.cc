// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/decide_magnitudes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;

// The text of a function with this body after the pass. It branches on %c.
std::string Decided(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "declare void @use(i1)\ndeclare float @llvm.nvvm.fabs.ftz.f32(float)\n"
      "define void @f(i32 %i, i8 %b, float %y, i1 %s) {\n" +
          body +
          "\n  br i1 %c, label %large, label %end\nlarge:\n  call void @use(i1 %s)\n  br label %end\nend:\n  ret "
          "void\n}\n",
      error, context);
  if (!module) return error.getMessage().str();
  llvm::FunctionAnalysisManager analyses;
  DecideMagnitudes().run(*module->getFunction("f"), analyses);
  if (llvm::verifyModule(*module)) return "broken";
  std::string text;
  llvm::raw_string_ostream(text) << *module->getFunction("f");
  return text;
}

constexpr char kAngle[] =
    "  %f = sitofp i32 %i to float\n  %u = fmul float %f, 0x3E00000000000000\n"  // 2^-31
    "  %x = fmul float %u, 8.0\n  %m = call float @llvm.nvvm.fabs.ftz.f32(float %x)\n";

TEST(DecideMagnitudes, KnowsWhatScaledIntegersDoNotReach) {
  EXPECT_THAT(Decided(kAngle + std::string("  %c = fcmp oge float %m, 105615.0")), HasSubstr("br i1 false"));
  EXPECT_THAT(Decided(kAngle + std::string("  %c = fcmp ult float %m, 105615.0")), HasSubstr("br i1 true"));
  EXPECT_THAT(Decided(kAngle + std::string("  %c = fcmp oeq float %m, 0x7FF0000000000000")), HasSubstr("br i1 false"));
  EXPECT_THAT(Decided(kAngle + std::string("  %c = fcmp ogt float %x, -9.0")), HasSubstr("br i1 true"));
}

TEST(DecideMagnitudes, GoesByTheBitsOfIntegers) {
  const std::string body = "  %h = and i8 %b, 15\n  %f = uitofp i8 %h to float\n";
  EXPECT_THAT(Decided(body + "  %c = fcmp ogt float %f, 16.0"), HasSubstr("br i1 false"));
  EXPECT_THAT(Decided(body + "  %c = fcmp ogt float %f, 15.0"), HasSubstr("br i1 %c"));
}

TEST(DecideMagnitudes, AddsAndSelects) {
  const std::string body = "  %f = sitofp i8 %b to float\n  %a = fadd float %f, 3.0\n";
  EXPECT_THAT(Decided(body + "  %z = select i1 %s, float %a, float -140.0\n  %c = fcmp olt float %z, 141.0"),
              HasSubstr("br i1 true"));
  EXPECT_THAT(Decided(body + "  %z = select i1 %s, float %a, float -140.0\n  %c = fcmp olt float %z, 139.0"),
              HasSubstr("br i1 %c"));
}

// It may be anything, also NaN.
TEST(DecideMagnitudes, KnowsNothingOfOtherNumbers) {
  EXPECT_THAT(Decided("  %x = fmul float %y, 0x3E00000000000000\n  %c = fcmp oge float %x, 105615.0"),
              HasSubstr("br i1 %c"));
  EXPECT_THAT(Decided("  %c = fcmp oge float %y, 0x7FF0000000000000"), HasSubstr("br i1 %c"));
}

TEST(DecideMagnitudes, LeavesWhatNoBranchAsks) {
  EXPECT_THAT(Decided(kAngle + std::string("  %l = fcmp oge float %m, 105615.0\n  call void @use(i1 %l)\n"
                                           "  %c = fcmp oge float %y, 0.0")),
              HasSubstr("@use(i1 %l)"));
}

// The bound is reached, or nearly.
TEST(DecideMagnitudes, LeavesRoomForRounding) {
  EXPECT_THAT(Decided(kAngle + std::string("  %c = fcmp ogt float %m, 8.0")), HasSubstr("br i1 %c"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
