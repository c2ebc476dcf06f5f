// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A loop that carries two halves, of which %next makes new ones, and puts them together after it.
std::string Carried(const std::string& next) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "define i32 @f(i1 %c, half %s) {\nentry:\n  br label %loop\n"
      "loop:\n"
      "  %x = phi half [ 0.0, %entry ], [ %x1, %body ]\n"
      "  %y = phi half [ 1.0, %entry ], [ %y1, %body ]\n"
      "  br i1 %c, label %body, label %end\n"
      "body:\n"
      "  %p = insertelement <2 x half> poison, half %x, i32 0\n"
      "  %v = insertelement <2 x half> %p, half %y, i32 1\n"
      "  %w = bitcast <2 x half> %v to i32\n" +
          next +
          "  br label %loop\n"
          "end:\n"
          "  %q = insertelement <2 x half> poison, half %x, i32 0\n"
          "  %u = insertelement <2 x half> %q, half %y, i32 1\n"
          "  %r = bitcast <2 x half> %u to i32\n"
          "  ret i32 %r\n}\n",
      error, context);
  if (!module) return error.getMessage().str();
  CarryWords(*module);
  if (llvm::verifyModule(*module)) return "broken";
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

constexpr char kProduct[] = "  %w1 = call i32 asm sideeffect \"wgmma.mma_async $0;\", \"=r,0\"(i32 %w)\n";
constexpr char kOtherAssembly[] = "  %w1 = call i32 asm sideeffect \"mma $0;\", \"=r,0\"(i32 %w)\n";
constexpr char kTakenApart[] =
    "  %v1 = bitcast i32 %w1 to <2 x half>\n"
    "  %x1 = extractelement <2 x half> %v1, i32 0\n"
    "  %y1 = extractelement <2 x half> %v1, i32 1\n";

TEST(CarryWords, LoopsCarryTheWordsOfProducts) {
  std::string text = Carried(std::string(kProduct) + kTakenApart);
  EXPECT_THAT(
      text, HasSubstr("phi i32 [ bitcast (<2 x half> <half 0xH0000, half 0xH3C00> to i32), %entry ], [ %w1, %body ]"));
  EXPECT_THAT(text, Not(HasSubstr("half [")));
  EXPECT_THAT(text, Not(HasSubstr("insertelement")));
  EXPECT_THAT(text, Not(HasSubstr("extractelement")));
}

TEST(CarryWords, HalvesThatChangeArePutTogetherAtTheEndOfTheirBlock) {
  std::string text = Carried(std::string(kProduct) +
                             "  %v1 = bitcast i32 %w1 to <2 x half>\n"
                             "  %z = extractelement <2 x half> %v1, i32 0\n"
                             "  %x1 = fadd half %z, %s\n"
                             "  %y1 = extractelement <2 x half> %v1, i32 1\n");
  EXPECT_THAT(text, HasSubstr("= phi i32 ["));
  EXPECT_THAT(text, HasSubstr("insertelement <2 x half> poison, half %x1"));
}

TEST(CarryWords, LeavesFunctionsWithoutProductsAlone) {
  EXPECT_THAT(Carried(std::string(kOtherAssembly) + kTakenApart), HasSubstr("phi half [ 0xH0000, %entry ]"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
