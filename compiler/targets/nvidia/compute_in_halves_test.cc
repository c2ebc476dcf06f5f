// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A function after the pass that makes the floats %x and %y of halves, and rounds them to two.
std::string After(const std::string& half, const std::string& body, const std::string& more = "") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::string name = half == "half" ? "f16x2" : "bf16x2";
  auto module = llvm::parseAssemblyString(
      absl::StrCat("declare <2 x ", half, "> @llvm.nvvm.ff2", name, ".rn(float, float)\ndefine <2 x ", half, "> @f(",
                   half, " %a, ", half, " %b, ", half, " %c, ", half, " %d, float %f, ptr %p) {\n", body,
                   "  %r = call <2 x ", half, "> @llvm.nvvm.ff2", name, ".rn(float %y, float %x)\n", more,
                   "  ret <2 x ", half, "> %r\n}\n"),
      error, context);
  if (!module) return error.getMessage().str();
  ComputeInHalves(*module);
  if (llvm::verifyModule(*module)) return "broken";
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, nullptr);
  return text;
}

constexpr char kExtended[] =
    "  %a1 = fpext half %a to float\n  %b1 = fpext half %b to float\n"
    "  %c1 = fpext half %c to float\n  %d1 = fpext half %d to float\n";

TEST(ComputeInHalves, SumsAreMultiplyAddsByOne) {
  EXPECT_THAT(
      After("half", absl::StrCat(kExtended, "  %x = fadd float %a1, %b1\n  %y = fadd float %c1, %d1\n")),
      AllOf(HasSubstr("insertelement <2 x half> poison, half %a, i64 0"), HasSubstr("half %c, i64 1"),
            HasSubstr("fma.rn.f16x2"), HasSubstr("splat (half 0xH3C00)"), Not(HasSubstr("call <2 x half> @llvm"))));
}

TEST(ComputeInHalves, DifferencesSubtractTheSecondOperand) {
  EXPECT_THAT(
      After("half", absl::StrCat(kExtended, "  %x = fsub float %a1, %b1\n  %y = fsub float %c1, %d1\n")),
      AllOf(HasSubstr("%1 = insertelement <2 x half> poison, half %b, i64 0"), HasSubstr("splat (half 0xHBC00)")));
}

// The products of a constant that is a half, of bf16, whose bits are moved.
TEST(ComputeInHalves, ProductsAddZeroOfTheirSign) {
  constexpr char kBody[] =
      "  %i = bitcast bfloat %a to i16\n  %j = zext i16 %i to i32\n  %k = shl i32 %j, 16\n  %a1 = bitcast i32 %k to "
      "float\n"
      "  %c1 = fpext bfloat %c to float\n  %x = fmul float %a1, 2.5\n  %y = fmul float %c1, 0.0\n";
  EXPECT_THAT(After("bfloat", kBody), AllOf(HasSubstr("fma.rn.bf16x2"), HasSubstr("splat (bfloat 0xR8000)")));
}

TEST(ComputeInHalves, OthersStayAsTheyAre) {
  const std::string extended = kExtended;
  const std::string sums = extended + "  %x = fadd float %a1, %b1\n";
  for (const std::string& body : {
           sums + "  %y = fsub float %c1, %d1\n",                 // different operations
           sums + "  %y = fadd float %c1, %f\n",                  // no half
           sums + "  %y = fadd float %c1, 0x3FB99999A0000000\n",  // 0.1 is none
           extended + "  %x = fdiv float %a1, %b1\n  %y = fdiv float %c1, %d1\n",
           extended + "  %x = fadd float %a1, %b1\n  %y = fadd float %c1, %d1\n  store float %x, ptr %p\n",
       })
    EXPECT_THAT(After("half", body), Not(HasSubstr("fma.rn"))) << body;
}

}  // namespace
}  // namespace tritond::compiler::nvidia
