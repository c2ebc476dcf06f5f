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

// `text`, which defines @f, after the pass.
std::string Unrolled(const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
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
  std::string after;
  llvm::raw_string_ostream os(after);
  module->print(os, nullptr);
  return after;
}

// @f after the pass. The loop takes as many steps of a search in the 1000 elements at %p as %n says.
std::string After(const Loop& loop) {
  return Unrolled(
      absl::StrCat("define i32 @f(ptr addrspace(1) %p, i32 %i, float %x, i64 %d) {\nentry:\n  br label %head\nhead:\n"
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
                   loop.next, "\n  br label %head\nend:\n  ret i32 %low\n}\n"));
}

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

bool IsUnrolled(const std::string& text) { return Count(text, " phi i32 [ 1000, %entry ]") == 0; }

TEST(UnrollCounted, HalvingTakesAsManyStepsAsThereAreBits) {
  const std::string after = After(Loop{});
  EXPECT_TRUE(IsUnrolled(after)) << after;
  EXPECT_EQ(Count(after, " load float"), 9) << after;  // 1000, 500, 250, 125, 62, 31, 15, 7, 3
}

TEST(UnrollCounted, SearchesDoNotLeaveTheTable) {
  const std::string after = After(Loop{});
  EXPECT_THAT(after, Not(HasSubstr(", 1000\n"))) << after;
}

TEST(UnrollCounted, LeavesLoopsThatCountInSteps) {
  const std::string after = After(Loop{.first = "9", .next = "add i32 %n, -1", .more = "icmp ne i32 %n, 0"});
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
  many.first = "91";
  EXPECT_EQ(Count(After(many), "@$1 ld.global"), 1);
}

// As many copies as the assembler makes of others, if these come out even.
TEST(UnrollCounted, CopiesOfLongLoopsOfMaskedLoads) {
  const std::string load =
      "  %w = call float asm sideeffect \"@$1 ld.global.b32 $0, [$2];\", \"=f,b,l,~{memory}\"(i1 true, ptr "
      "addrspace(1) %q)\n";
  Loop loop{.next = "add i32 %n, -1", .more = "icmp ne i32 %n, 0", .body = load};
  for (auto [iterations, copies] : {std::pair("92", 4), {"90", 2}, {"93", 1}}) {
    loop.first = iterations;
    EXPECT_EQ(Count(After(loop), "@$1 ld.global"), copies) << iterations;
  }
}

// Of a few rows, each a loop over columns.
TEST(UnrollCounted, NestsOfMaskedLoadsThatAreFew) {
  auto nest = [](int rows, int columns) {
    return Unrolled(absl::StrCat(
        "define float @f(ptr addrspace(1) %p, i1 %m) {\nentry:\n  br label %rows\nrows:\n"
        "  %r = phi i32 [ 0, %entry ], [ %r1, %next ]\n  %s = phi float [ 0.0, %entry ], [ %t, %next ]\n"
        "  %a = icmp slt i32 %r, ",
        rows,
        "\n  br i1 %a, label %columns, label %end\ncolumns:\n"
        "  %c = phi i32 [ 0, %rows ], [ %c1, %load ]\n  %t = phi float [ %s, %rows ], [ %u, %load ]\n"
        "  %b = icmp slt i32 %c, ",
        columns,
        "\n  br i1 %b, label %load, label %next\nload:\n  %d = mul i32 %r, 100\n  %i = add i32 %d, %c\n"
        "  %q = getelementptr float, ptr addrspace(1) %p, i32 %i\n"
        "  %v = call float asm sideeffect \"@$1 ld.global.b32 $0, [$2];\", \"=f,b,l,~{memory}\"(i1 %m, ptr "
        "addrspace(1) %q)\n  %u = fadd float %t, %v\n  %c1 = add i32 %c, 1\n  br label %columns\nnext:\n"
        "  %r1 = add i32 %r, 1\n  br label %rows\nend:\n  ret float %s\n}\n"));
  };
  EXPECT_EQ(Count(nest(3, 3), "@$1 ld.global"), 9);
  EXPECT_EQ(Count(nest(30, 3), "@$1 ld.global"), 3);
}

// Nor these, which it calls a function for.
TEST(UnrollCounted, StepsOfLongDivisionsThatAreFew) {
  const std::string divide =
      "  %l = zext i32 %mid to i64\n  %w = udiv i64 %l, %d\n  store i64 %w, ptr addrspace(1) %q\n";
  const Loop few{.first = "9", .next = "add i32 %n, -1", .more = "icmp ne i32 %n, 0", .body = divide};
  EXPECT_EQ(Count(After(few), "= udiv i64"), 9);
  Loop many = few;
  many.first = "91";
  EXPECT_EQ(Count(After(many), "= udiv i64"), 1);
}

TEST(UnrollCounted, LeavesLoopsOfUnknownLength) {
  EXPECT_FALSE(IsUnrolled(After(Loop{.first = "%i"})));
  EXPECT_FALSE(IsUnrolled(After(Loop{.more = "fcmp ogt float %x, 1.0"})));
}

TEST(UnrollCounted, LeavesLargeLoops) {
  std::string body;
  for (int i = 0; i < 300; ++i) absl::StrAppend(&body, "  store volatile i32 ", i, ", ptr addrspace(1) %p\n");
  EXPECT_FALSE(IsUnrolled(After(Loop{.body = body})));
}

TEST(UnrollCounted, LeavesLoopsOfTheMatrixUnits) {
  EXPECT_FALSE(IsUnrolled(After(Loop{.body = "  call void asm sideeffect \"wgmma.mma_async\", \"\"()\n"})));
}

// A loop of products that read a slot of three.
struct Products {
  std::string iterations = "9";
  std::string first = "1";    // slot
  std::string after = "0.0";  // is added to what a product gives
  std::string sum = "%made";  // that the next product adds to
  int words = 1;              // that a thread keeps in the loop
  std::string body;
};

std::string After(const Products& loop) {
  return Unrolled(
      absl::StrCat("define float @f(i32 %i, ptr %p) \"nvvm.reqntid\"=\"128\" \"tritond.shared\"=\"65536\" {\nentry:\n  "
                   "%kept = load <",
                   loop.words,
                   " x i32>, ptr %p\n  br label %head\nhead:\n  %n = phi i32 [ 0, %entry ], [ %n1, %body ]\n"
                   "  %slot = phi i32 [ ",
                   loop.first, ", %entry ], [ %slot1, %body ]\n  %c = phi float [ 0.0, %entry ], [ ", loop.sum,
                   ", %body ]\n  %more = icmp slt i32 %n, ", loop.iterations,
                   "\n  br i1 %more, label %body, label %end\nbody:\n  %next = add i32 %slot, 1\n"
                   "  %last = icmp eq i32 %next, 3\n  %slot1 = select i1 %last, i32 0, i32 %next\n"
                   "  %made = call float asm sideeffect \"wgmma.mma_async\", \"=f,r,0\"(i32 %slot, float %c)\n"
                   "  %other = fadd float %made, ",
                   loop.after, "\n", loop.body, "  store volatile <", loop.words,
                   " x i32> %kept, ptr %p\n  %n1 = add i32 %n, 1\n  br label %head\nend:\n  ret float %c\n}\n"));
}

TEST(UnrollCounted, ProductsHaveACopyForEachSlot) {
  const std::string after = After(Products{});
  for (const int slot : {0, 1, 2}) EXPECT_EQ(Count(after, absl::StrCat("(i32 ", slot, ", float")), 1) << after;
  EXPECT_EQ(Count(after, "wgmma"), 3) << after;
}

// Shared memory has room for three blocks, which leave a thread 170 registers.
TEST(UnrollCounted, ProductsTakeNoRegistersOfBlocks) {
  const std::string few = After(Products{.words = 120});
  EXPECT_EQ(Count(few, "wgmma"), 3) << few;
  EXPECT_THAT(few, HasSubstr("\"nvvm.minctasm\"=\"3\"")) << few;
  EXPECT_EQ(Count(After(Products{.words = 160}), "wgmma"), 1);
}

TEST(UnrollCounted, ProductsMayEndInAnySlot) {
  const std::string after = After(Products{.iterations = "10"});
  EXPECT_EQ(Count(after, "wgmma"), 3) << after;
  EXPECT_EQ(Count(After(Products{.iterations = "2"}), "wgmma"), 2);
}

TEST(UnrollCounted, LeavesProductsOfUnknownNumberOrSlots) {
  EXPECT_EQ(Count(After(Products{.iterations = "%i"}), "wgmma"), 1);
  EXPECT_EQ(Count(After(Products{.first = "%i"}), "wgmma"), 1);
}

TEST(UnrollCounted, ProductsThatDivideTheirCounter) {
  auto after = [](const std::string& iterations, const std::string& divided, const std::string& sum = "%made") {
    return After(Products{.iterations = iterations,
                          .first = "%i",
                          .sum = sum,
                          .body = absl::StrCat("  %d = sdiv i32 ", divided, ", 7\n  %r = srem i32 ", divided,
                                               ", 7\n  store volatile i32 %d, ptr %p\n"
                                               "  store volatile i32 %r, ptr %p\n")});
  };
  EXPECT_EQ(Count(after("10", "%n"), "wgmma"), 10);
  EXPECT_THAT(after("10", "%n"), Not(HasSubstr("sdiv")));
  EXPECT_EQ(Count(after("10", "%slot"), "wgmma"), 1);
  EXPECT_EQ(Count(after("1000", "%n"), "wgmma"), 1);
  EXPECT_EQ(Count(after("10", "%n", "%other"), "wgmma"), 1);
}

// See keep_loops.cc.
TEST(UnrollCounted, LeavesAccumulatorsThatThreadsChange) {
  EXPECT_EQ(Count(After(Products{.after = "1.0", .sum = "%other"}), "wgmma"), 1);
}

}  // namespace
}  // namespace tritond::compiler::nvidia
