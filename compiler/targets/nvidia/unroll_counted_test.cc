// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/unroll_counted.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Loop {
  std::string first = "1000";               // of %n
  std::string next = "lshr i32 %n, 1";      // of %n
  std::string more = "icmp ugt i32 %n, 1";  // whether there is an iteration for %n
  std::string body;
};

// @f after the pass. The loop takes as many steps of a search in the 1000 elements at %p as %n says.
std::string After(const Loop& loop) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("define i32 @f(ptr addrspace(1) %p, i32 %i, float %x) {\nentry:\n  br label %head\nhead:\n"
                   "  %n = phi i32 [ ",
                   loop.first,
                   ", %entry ], [ %next, %step ]\n"
                   "  %low = phi i32 [ 0, %entry ], [ %low1, %step ]\n"
                   "  %high = phi i32 [ 1000, %entry ], [ %high1, %step ]\n"
                   "  %more = ",
                   loop.more,
                   "\n  br i1 %more, label %body, label %end\nbody:\n"
                   "  %sum = add i32 %low, %high\n  %mid = lshr i32 %sum, 1\n"
                   "  %inside = icmp ult i32 %mid, 1000\n  br i1 %inside, label %load, label %step\nload:\n"
                   "  %q = getelementptr float, ptr addrspace(1) %p, i32 %mid\n"
                   "  %y = load float, ptr addrspace(1) %q\n",
                   loop.body,
                   "  br label %step\nstep:\n  %z = phi float [ %y, %load ], [ 0.0, %body ]\n"
                   "  %above = fcmp ogt float %x, %z\n  %above1 = add i32 %mid, 1\n"
                   "  %low1 = select i1 %above, i32 %above1, i32 %low\n"
                   "  %high1 = select i1 %above, i32 %high, i32 %mid\n"
                   "  %next = ",
                   loop.next, "\n  br label %head\nend:\n  ret i32 %low\n}\n"),
      error, context);
  if (!module) return error.getMessage().str();
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::Function& function = *module->getFunction("f");
  UnrollCounted().run(function, functions);
  if (llvm::verifyModule(*module)) return "broken";
  std::string text;
  llvm::raw_string_ostream os(text);
  function.print(os);
  return text;
}

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

bool IsUnrolled(const std::string& text) { return Count(text, " phi i32 [ 1000, %entry ]") == 0; }

TEST(UnrollCounted, HalvingTakesAsManyStepsAsThereAreBits) {
  const std::string after = After({});
  EXPECT_TRUE(IsUnrolled(after)) << after;
  EXPECT_EQ(Count(after, " load float"), 9) << after;  // 1000, 500, 250, 125, 62, 31, 15, 7, 3
}

TEST(UnrollCounted, SearchesDoNotLeaveTheTable) {
  const std::string after = After({});
  EXPECT_THAT(after, Not(HasSubstr(", 1000\n"))) << after;
}

TEST(UnrollCounted, LeavesLoopsThatCountInSteps) {
  const std::string after = After({.first = "9", .next = "add i32 %n, -1", .more = "icmp ne i32 %n, 0"});
  EXPECT_FALSE(IsUnrolled(after)) << after;
  EXPECT_EQ(Count(after, " load float"), 1) << after;
}

// The assembler does not unroll these.
TEST(UnrollCounted, StepsOfMaskedLoadsThatAreFew) {
  const std::string load =
      "  %w = call float asm sideeffect \"@$1 ld.global.b32 $0, [$2];\", \"=f,b,l,~{memory}\"(i1 true, ptr "
      "addrspace(1) %q)\n";
  const Loop few{.first = "9", .next = "add i32 %n, -1", .more = "icmp ne i32 %n, 0", .body = load};
  const std::string after = After(few);
  EXPECT_TRUE(!absl::StrContains(after, "phi i32 [ 9, %entry ]")) << after;
  EXPECT_EQ(Count(after, "@$1 ld.global"), 9) << after;
  Loop many = few;
  many.first = "90";
  EXPECT_EQ(Count(After(many), "@$1 ld.global"), 1);
}

TEST(UnrollCounted, LeavesLoopsOfUnknownLength) {
  EXPECT_FALSE(IsUnrolled(After({.first = "%i"})));
  EXPECT_FALSE(IsUnrolled(After({.more = "fcmp ogt float %x, 1.0"})));
}

TEST(UnrollCounted, LeavesLargeLoops) {
  std::string body;
  for (int i = 0; i < 300; ++i) absl::StrAppend(&body, "  store volatile i32 ", i, ", ptr addrspace(1) %p\n");
  EXPECT_FALSE(IsUnrolled(After({.body = body})));
}

TEST(UnrollCounted, LeavesLoopsOfTheMatrixUnits) {
  EXPECT_FALSE(IsUnrolled(After({.body = "  call void asm sideeffect \"wgmma.mma_async\", \"\"()\n"})));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
