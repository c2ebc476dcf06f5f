// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

// @f after the pass. Its block %join has two numbers of a branch; %join and %end are both always executed.
std::string After(const std::string& in_end, const std::string& in_join = "", const std::string& in_other = "") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("declare void @use(float)\ndeclare float @near(float) #0\n"
                   "define void @f(i1 %c, float %x, float %y, ptr addrspace(1) %p) {\n"
                   "entry:\n  br i1 %c, label %slow, label %join\n"
                   "slow:\n  %z = fmul float %x, %y\n  br label %join\n"
                   "join:\n  %r = phi float [ %x, %entry ], [ %z, %slow ]\n"
                   "  %q = phi float [ %y, %entry ], [ %x, %slow ]\n",
                   in_join,
                   "  br i1 %c, label %other, label %end\n"
                   "other:\n",
                   in_other, "  call void @use(float %x)\n  br label %end\nend:\n", in_end,
                   "  ret void\n}\nattributes #0 = { convergent nounwind willreturn memory(none) }\n"),
      error, context);
  if (!module) return error.getMessage().str();
  UndoSinking(*module);
  if (llvm::verifyModule(*module)) return "broken";
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, nullptr);
  return text;
}

// Whether `text` is in front of the last branch.
bool IsEarly(const std::string& after, const std::string& text) {
  return after.find(text) < after.find("br i1 %c, label %other");
}

TEST(UndoSinking, TwoNumbersWaitAsOne) {
  const std::string after = After("  %a = fmul float %r, %r\n  %b = fadd float %a, %q\n  call void @use(float %b)\n");
  EXPECT_TRUE(IsEarly(after, "%a = fmul")) << after;
  EXPECT_TRUE(IsEarly(after, "%b = fadd")) << after;
}

TEST(UndoSinking, WhatTakesAsMuchStays) {
  const std::string after = After("  %a = fmul float %r, %r\n  call void @use(float %a)\n");
  EXPECT_FALSE(IsEarly(after, "%a = fmul")) << after;
}

TEST(UndoSinking, WhatOthersNeedWaitsAnyway) {
  const std::string after = After("  %b = fadd float %r, %q\n  call void @use(float %b)\n  call void @use(float %q)\n");
  EXPECT_FALSE(IsEarly(after, "%b = fadd")) << after;
}

TEST(UndoSinking, LoadsAreNotWaitedForEarly) {
  const std::string after =
      After("  %b = fadd float %r, %l\n  call void @use(float %b)\n", "  %l = load float, ptr addrspace(1) %p\n");
  EXPECT_FALSE(IsEarly(after, "%b = fadd")) << after;
}

TEST(UndoSinking, WhatThreadsDoTogetherStays) {
  const std::string after =
      After("  %b = fadd float %r, %q\n  %n = call float @near(float %b)\n  call void @use(float %n)\n");
  EXPECT_TRUE(IsEarly(after, "%b = fadd")) << after;
  EXPECT_FALSE(IsEarly(after, "%n = call")) << after;
}

// The block that may not be executed makes its values itself.
TEST(UndoSinking, NothingIsComputedInVain) {
  const std::string after = After("", "", "  %b = fadd float %r, %q\n  call void @use(float %b)\n");
  EXPECT_FALSE(IsEarly(after, "%b = fadd")) << after;
}

// A tile decides what is live.
TEST(UndoSinking, LeavesFunctionsOfTheMatrixUnits) {
  const std::string after = After("  %b = fadd float %r, %q\n  call void @use(float %b)\n", "",
                                  "  call void asm sideeffect \"wgmma.mma_async\", \"\"()\n");
  EXPECT_FALSE(IsEarly(after, "%b = fadd")) << after;
}

}  // namespace
}  // namespace tritond::compiler::nvidia
