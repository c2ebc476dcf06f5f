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

// How many values of 16 and of 32 bits the loop of @f carries after packing. `phis` and `body` are of a loop over %a,
// the vector before it, and %b, that of its iteration.
std::pair<int, int> Carried(const std::string& phis, const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "declare <2 x half> @load()\ndeclare void @use(half, half)\n"
      "define void @f(<2 x half> %a, half %other) {\nentry:\n"
      "  %a0 = extractelement <2 x half> %a, i64 0\n  %a1 = extractelement <2 x half> %a, i64 1\n"
      "  br label %loop\nloop:\n" +
          phis +
          "  %b = call <2 x half> @load()\n"
          "  %b0 = extractelement <2 x half> %b, i64 0\n  %b1 = extractelement <2 x half> %b, i64 1\n" +
          body + "  br label %loop\n}\n",
      error, context);
  if (!module) {
    ADD_FAILURE() << error.getMessage().str();
    return {};
  }
  PackPhis(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  int narrow = 0, wide = 0;
  for (llvm::BasicBlock& block : *module->getFunction("f"))
    for (llvm::PHINode& phi : block.phis()) ++(phi.getType()->isVectorTy() ? wide : narrow);
  return {narrow, wide};
}

TEST(PackPhis, ElementsOfOneVectorGoTogether) {
  EXPECT_EQ(
      Carried("  %x = phi half [ %a0, %entry ], [ %b0, %loop ]\n  %y = phi half [ %a1, %entry ], [ %b1, %loop ]\n",
              "  call void @use(half %x, half %y)\n"),
      std::make_pair(0, 1));
}

TEST(PackPhis, AnElementAloneStays) {
  EXPECT_EQ(Carried("  %x = phi half [ %a0, %entry ], [ %b0, %loop ]\n", "  call void @use(half %x, half %x)\n"),
            std::make_pair(1, 0));
}

TEST(PackPhis, ElementsThatChangePlacesOrComeFromElsewhereStay) {
  EXPECT_EQ(
      Carried("  %x = phi half [ %a0, %entry ], [ %b1, %loop ]\n  %y = phi half [ %a1, %entry ], [ %b0, %loop ]\n",
              "  call void @use(half %x, half %y)\n"),
      std::make_pair(2, 0));
  EXPECT_EQ(
      Carried("  %x = phi half [ %other, %entry ], [ %b0, %loop ]\n  %y = phi half [ %a1, %entry ], [ %b1, %loop ]\n",
              "  call void @use(half %x, half %y)\n"),
      std::make_pair(2, 0));
}

// A loop that carries two halves, of which %next makes new ones, and puts them together after it.
std::string AfterPacking(const std::string& next) {
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
  PackPhis(*module);
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

TEST(PackPhis, LoopsCarryTheWordsOfProducts) {
  std::string text = AfterPacking(std::string(kProduct) + kTakenApart);
  EXPECT_THAT(text, HasSubstr("phi <2 x half> [ <half 0xH0000, half 0xH3C00>, %entry ], [ %v1, %body ]"));
  EXPECT_THAT(text, Not(HasSubstr("half [")));
  EXPECT_THAT(text, Not(HasSubstr("insertelement")));
  EXPECT_THAT(text, Not(HasSubstr("extractelement")));
}

TEST(PackPhis, HalvesThatChangeArePutTogetherAtTheEndOfTheirBlock) {
  std::string text = AfterPacking(std::string(kProduct) +
                                  "  %v1 = bitcast i32 %w1 to <2 x half>\n"
                                  "  %z = extractelement <2 x half> %v1, i32 0\n"
                                  "  %x1 = fadd half %z, %s\n"
                                  "  %y1 = extractelement <2 x half> %v1, i32 1\n");
  EXPECT_THAT(text, HasSubstr("= phi <2 x half> ["));
  EXPECT_THAT(text, HasSubstr("insertelement <2 x half> poison, half %x1"));
}

TEST(PackPhis, LeavesFunctionsWithoutProductsAlone) {
  EXPECT_THAT(AfterPacking(std::string(kOtherAssembly) + kTakenApart), HasSubstr("phi half [ 0xH0000, %entry ]"));
}

TEST(PackPhis, WordsAreTakenApartWhereTheyAreUsed) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "declare <2 x half> @load()\ndeclare void @use(half, half)\n"
      "define void @f(<2 x half> %a, i1 %c) {\nentry:\n"
      "  %a0 = extractelement <2 x half> %a, i64 0\n  %a1 = extractelement <2 x half> %a, i64 1\n"
      "  br label %head\nhead:\n"
      "  %x = phi half [ %a0, %entry ], [ %b0, %body ]\n  %y = phi half [ %a1, %entry ], [ %b1, %body ]\n"
      "  br i1 %c, label %body, label %exit\nbody:\n"
      "  %b = call <2 x half> @load()\n"
      "  %b0 = extractelement <2 x half> %b, i64 0\n  %b1 = extractelement <2 x half> %b, i64 1\n"
      "  call void @use(half %x, half %y)\n  br label %head\nexit:\n  ret void\n}\n",
      error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  PackPhis(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (llvm::BasicBlock& block : *module->getFunction("f")) {
    const auto extracts =
        llvm::count_if(block, [](llvm::Instruction& i) { return llvm::isa<llvm::ExtractElementInst>(i); });
    if (block.getName() == "head") EXPECT_EQ(extracts, 0);
    if (block.getName() == "body") EXPECT_EQ(extracts, 2);  // those of %b have no uses left
  }
}

// Two branches meet: one loads a word, the other one two halves. `word` is how the first makes its vector.
std::string AfterMeeting(const std::string& word) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "define half @f(i1 %c, ptr addrspace(1) %p, half %l, half %h) {\nentry:\n"
      "  br i1 %c, label %wide, label %narrow\nwide:\n" +
          word +
          "  %x0 = extractelement <2 x half> %v, i64 0\n"
          "  %y0 = extractelement <2 x half> %v, i64 1\n"
          "  br label %meet\nnarrow:\n  br label %meet\nmeet:\n"
          "  %x = phi half [ %x0, %wide ], [ %l, %narrow ]\n"
          "  %y = phi half [ %y0, %wide ], [ %h, %narrow ]\n"
          "  %s = fadd half %x, %y\n  ret half %s\n}\n",
      error, context);
  if (!module) return error.getMessage().str();
  PackPhis(*module);
  if (llvm::verifyModule(*module)) return "broken";
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

TEST(PackPhis, AWordThatABranchLoadsIsTakenApartAfterIt) {
  const std::string cast = "  %v = bitcast i32 %w to <2 x half>\n";
  for (const char* load :
       {"  %w = load i32, ptr addrspace(1) %p\n",
        "  %w = call i32 asm sideeffect \"ld.global.b32 $0, [$1];\", \"=r,l\"(ptr addrspace(1) %p)\n"}) {
    std::string text = AfterMeeting(load + cast);
    EXPECT_THAT(text, HasSubstr("phi <2 x half> [ %v, %wide ]"));
    EXPECT_THAT(text, HasSubstr("insertelement <2 x half> poison, half %l"));
    EXPECT_THAT(text, Not(HasSubstr("phi half")));
  }
}

TEST(PackPhis, OtherWordsOfABranchStay) {
  EXPECT_THAT(AfterMeeting("  %v = insertelement <2 x half> splat (half 0xH3C00), half %l, i64 0\n"),
              HasSubstr("phi half"));
}

// How many words and halves a loop carries that computes each of `count` halves anew, after packing.
std::pair<int, int> CarriedOf(int count) {
  std::string phis, body;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    phis += "  %x" + n + " = phi half [ %other, %entry ], [ %y" + n + ", %loop ]\n";
    body += "  %y" + n + " = fadd half %x" + n + ", %other\n";
  }
  return Carried(phis, body);
}

TEST(PackPhis, HalvesGoTogetherWhereRegistersAreTooFew) {
  EXPECT_EQ(CarriedOf(300), std::make_pair(300, 0));
  EXPECT_EQ(CarriedOf(401), std::make_pair(1, 200));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
