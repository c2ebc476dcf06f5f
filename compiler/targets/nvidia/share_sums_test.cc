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

// The body of a function of %r, %c and %n after the pass.
std::string After(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("declare void @use(i32)\ndefine void @f(i32 %r, i32 %c, i32 %n) {\n", body, "  ret void\n}\n"),
      error, context);
  if (!module) return error.getMessage().str();
  ShareSums(*module);
  if (llvm::verifyModule(*module)) return "broken";
  std::string text;
  llvm::raw_string_ostream os(text);
  module->getFunction("f")->print(os);
  return text;
}

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

constexpr char kUses[] = "  call void @use(i32 %x)\n  call void @use(i32 %y)\n  call void @use(i32 %z)\n";

TEST(ShareSums, EqualDistancesAreOne) {
  const std::string after =
      After(absl::StrCat("  %r8 = or disjoint i32 %r, 8\n  %c8 = add nsw i32 %c, 8\n"
                         "  %x = sub nsw i32 %r, %c\n  %y = sub nsw i32 %r8, %c8\n  %z = sub nsw i32 %r8, %c\n",
                         kUses));
  EXPECT_EQ(Count(after, " = sub i32 %r, %c"), 1) << after;
  EXPECT_EQ(Count(after, " = "), 2) << after;  // the distance, and that plus 8
  EXPECT_EQ(Count(after, "(i32 %1)"), 2) << after;
  EXPECT_THAT(after, AllOf(HasSubstr("= add i32 %1, 8"), Not(HasSubstr("nsw"))));
}

TEST(ShareSums, NumbersPassOtherTerms) {
  const std::string after = After(absl::StrCat(
      "  %r8 = add i32 %r, 8\n  %c8 = or disjoint i32 %c, 8\n  %rn = sub i32 %r, %n\n  %r8n = sub i32 %r8, %n\n"
      "  %x = sub i32 %rn, %c\n  %y = sub i32 %r8n, %c8\n  %z = sub i32 %rn, %c8\n",
      kUses));
  EXPECT_EQ(Count(after, " = sub"), 2) << after;
  EXPECT_THAT(after, HasSubstr(", -8"));
}

TEST(ShareSums, BitsThatNoTwoShareAreSums) {
  const std::string after = After(
      absl::StrCat("  %r8 = or disjoint i32 %r, 8\n  %r8n = or disjoint i32 %n, %r8\n  %rn = or disjoint i32 %n, %r\n"
                   "  %c8 = or disjoint i32 %c, 8\n"
                   "  %x = sub i32 %rn, %c\n  %y = sub i32 %r8n, %c8\n  %z = sub i32 %r8n, %c\n",
                   kUses));
  EXPECT_EQ(Count(after, " = sub"), 1) << after;
}

TEST(ShareSums, SumsOfWhichNoTwoAreEqualStay) {
  const std::string after =
      After(absl::StrCat("  %c1 = add nsw i32 %c, 1\n  %c2 = add nsw i32 %c, 2\n"
                         "  %x = sub nsw i32 %r, %c\n  %y = sub nsw i32 %r, %c1\n  %z = sub nsw i32 %r, %c2\n",
                         kUses));
  EXPECT_EQ(Count(after, " = sub nsw"), 3) << after;
}

// A loop of so many sums of %n and what the entry adds to %c.
std::string LoopOf(int sums, const std::string& product = "wgmma.mma_async") {
  std::string entry, loop = absl::StrCat("  call void asm sideeffect \"", product, "\", \"\"()\n");
  for (int i = 1; i <= sums; ++i) {
    absl::StrAppend(&entry, "  %c", i, " = or disjoint i32 %c, ", i, "\n");
    absl::StrAppend(&loop, "  %x", i, " = add nsw i32 %c", i, ", %i\n  call void @use(i32 %x", i, ")\n");
  }
  return absl::StrCat(
      entry, "  br label %loop\nloop:\n  %i = phi i32 [ %n, %0 ], [ %j, %loop ]\n", loop,
      "  %j = add i32 %i, 64\n  %ends = icmp eq i32 %j, %r\n  br i1 %ends, label %end, label %loop\nend:\n");
}

TEST(ShareSums, ALoopKeepsOneTermForManySums) {
  const std::string after = After(LoopOf(4));
  EXPECT_EQ(Count(after, "= add i32 %c, %i"), 1) << after;
  EXPECT_THAT(after, AllOf(HasSubstr(", 4\n"), Not(HasSubstr("disjoint"))));
}

TEST(ShareSums, TermsOfALoopStayWhereTheyAreFewOrThereAreRegisters) {
  const std::string few = After(LoopOf(3)), others = After(LoopOf(4, "mma.sync"));
  EXPECT_EQ(Count(few, "= add nsw i32 %c"), 3) << few;
  EXPECT_EQ(Count(few, "disjoint"), 3) << few;
  EXPECT_EQ(Count(others, "= add nsw i32 %c"), 4) << others;
}

TEST(ShareSums, AnOrThatMayCarryIsNoSum) {
  const std::string after =
      After(absl::StrCat("  %r8 = or i32 %r, 8\n  %c8 = or i32 %c, 8\n"
                         "  %x = sub i32 %r, %c\n  %y = sub i32 %r8, %c8\n  %z = sub i32 %r8, %c\n",
                         kUses));
  EXPECT_EQ(Count(after, " = sub"), 3) << after;
}

}  // namespace
}  // namespace tritond::compiler::nvidia
