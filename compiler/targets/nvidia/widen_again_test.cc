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
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kBarrier[] = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

// A kernel after the pass. It makes the floats %f0 and %f1 of a word of halves, stores them, does `between`, and stores
// what `uses` says. So many floats live all the time.
std::string After(const std::string& between, const std::string& uses, int others = 300) {
  std::string before, after;
  for (int i = 0; i < others; ++i) {
    absl::StrAppend(&before, "  %o", i, " = load volatile float, ptr addrspace(1) %p\n");
    absl::StrAppend(&after, "  store volatile float %o", i, ", ptr addrspace(1) %p\n");
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("target datalayout = \"e-i64:64-v16:16-v32:32\"\ndeclare void "
                   "@llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
                   "define void @f(ptr addrspace(1) %p, i1 %c) {\n"
                   "  %v = load <4 x half>, ptr addrspace(1) %p\n",
                   before,
                   "  %h0 = extractelement <4 x half> %v, i64 2\n  %h1 = extractelement <4 x half> %v, i64 3\n"
                   "  %f0 = fpext half %h0 to float\n  %f1 = fpext half %h1 to float\n"
                   "  store volatile float %f0, ptr addrspace(1) %p\n  store volatile float %f1, ptr addrspace(1) %p\n",
                   between, uses, after, "  ret void\n}\n"),
      error, context);
  if (!module) return error.getMessage().str();
  WidenAgain(*module);
  if (llvm::verifyModule(*module)) return "broken";
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, nullptr);
  return text;
}

constexpr char kUses[] =
    "  store volatile float %f0, ptr addrspace(1) %p\n  store volatile float %f1, ptr addrspace(1) %p\n";

// The second word of the vector, disguised, gives both floats once more.
TEST(WidenAgain, BothFloatsOfAWordAreMadeAgainBehindABarrier) {
  EXPECT_THAT(After(kBarrier, kUses),
              AllOf(HasSubstr("bitcast <4 x half> %v to <2 x i32>"), HasSubstr("i64 1"), HasSubstr("prmt.b32"),
                    HasSubstr("extractelement <2 x half> %4, i64 0"), HasSubstr("extractelement <2 x half> %4, i64 1"),
                    Not(HasSubstr("i64 1\n  %5 = extractelement <4 x half>"))));
}

TEST(WidenAgain, SoIsWhatIsMadeOfThem) {
  EXPECT_THAT(After(absl::StrCat("  %n = fcmp uno float %f0, %f0\n  %z = zext i1 %n to i32\n", kBarrier),
                    "  store volatile i32 %z, ptr addrspace(1) %p\n  store volatile float %f1, ptr addrspace(1) %p\n"),
              AllOf(HasSubstr("prmt.b32"), ContainsRegex("fcmp uno float %[0-9]+, %[0-9]+")));
}

TEST(WidenAgain, InAnotherBlockToo) {
  EXPECT_THAT(After("  br i1 %c, label %then, label %end\nthen:\n", absl::StrCat(kUses, "  br label %end\nend:\n")),
              HasSubstr("prmt.b32"));
}

TEST(WidenAgain, OneFloatTakesNoMoreThanTheWord) {
  EXPECT_THAT(After(kBarrier, "  store volatile float %f0, ptr addrspace(1) %p\n"), Not(HasSubstr("prmt.b32")));
}

// The halves themselves take no more than their word.
TEST(WidenAgain, HalvesStay) {
  EXPECT_THAT(After(kBarrier,
                    "  store volatile half %h0, ptr addrspace(1) %p\n  store volatile half %h1, ptr addrspace(1) %p\n"),
              Not(HasSubstr("prmt.b32")));
}

TEST(WidenAgain, WithoutABarrierTheyDoNotWait) { EXPECT_THAT(After("", kUses), Not(HasSubstr("prmt.b32"))); }

TEST(WidenAgain, RegistersForAllAreEnough) {
  EXPECT_THAT(After(kBarrier, kUses, /*others=*/100), Not(HasSubstr("prmt.b32")));
}

TEST(WidenAgain, LoopsWouldMakeThemOverAndOver) {
  EXPECT_THAT(After(absl::StrCat(kBarrier, "  br label %loop\nloop:\n"),
                    absl::StrCat(kUses, "  br i1 %c, label %loop, label %end\nend:\n")),
              Not(HasSubstr("prmt.b32")));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
