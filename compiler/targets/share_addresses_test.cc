// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/share_addresses.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A function of two pointers, two numbers of 32 bits and one of 10, after `pass`.
std::string After(void (*pass)(llvm::Module&), const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("target datalayout = \"e-p3:32:32-i64:64-n16:32:64\"\n"
                   "define void @f(ptr %p, ptr %q, i32 %x, i32 %y, i32 range(i32 0, 1024) %t, i1 %c, "
                   "ptr addrspace(3) %s) {\n",
                   body, "\n  ret void\n}\n"),
      error, context);
  EXPECT_TRUE(module) << error.getMessage().str() << " in line " << error.getLineNo();
  if (!module) return "";
  pass(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

// Stores to `%p` at two indices, which `indices` calls %i and %j.
std::string TwoStores(const std::string& indices) {
  return After(ShareAddresses, indices + R"(
  %a = getelementptr float, ptr %p, i64 %i
  store float 1.0, ptr %a
  %b = getelementptr float, ptr %p, i64 %j
  store float 2.0, ptr %b)");
}

TEST(ShareAddresses, ANumberIsAddedToTheAddressBefore) {
  const std::string text = TwoStores("  %i = sext i32 %x to i64\n  %j = add i64 %i, 6");
  EXPECT_THAT(text, HasSubstr("%b = getelementptr i8, ptr %a, i64 24"));
}

TEST(ShareAddresses, AlsoOneThatIsLess) {
  const std::string text = TwoStores("  %w = sext i32 %x to i64\n  %i = add i64 %w, 6\n  %j = sub i64 %i, 8");
  EXPECT_THAT(text, HasSubstr("%b = getelementptr i8, ptr %a, i64 -32"));
}

TEST(ShareAddresses, ASumOf32BitsThatMayOverflowIsNoSumOf64) {
  const std::string sum =
      "  %u = add i32 %x, %y\n  %v = FLAGS i32 %u, 2\n  %i = sext i32 %u to i64\n  %j = sext i32 %v to i64";
  for (const char* flags : {"add", "add nsw", "add nuw nsw"}) {
    const std::string text = TwoStores(absl::StrReplaceAll(sum, {{"FLAGS", flags}}));
    EXPECT_THAT(text, HasSubstr("%b = getelementptr float, ptr %p")) << flags;
  }
}

TEST(ShareAddresses, ASumThatIsKnownNotToOverflowIs) {
  // 1023 * 64 + 512 < 2^31.
  const std::string sum =
      "  %u = mul i32 %t, 64\n  %v = add i32 %u, 512\n  %i = EXT i32 %u to i64\n  %j = EXT i32 %v to i64";
  for (const char* extension : {"sext", "zext"}) {
    const std::string text = TwoStores(absl::StrReplaceAll(sum, {{"EXT", extension}}));
    EXPECT_THAT(text, HasSubstr("%b = getelementptr i8, ptr %a, i64 2048")) << extension;
  }
}

// From -2 to 2 it does not leave the range of %t by much. An index of any size may overflow.
TEST(ShareAddresses, WhatCountsIterationsHasARange) {
  const std::string loop =
      "  br label %head\nhead:\n  %n = phi i32 [-2, %0], [%m, %body]\n  %more = icmp slt i32 %n, 3\n"
      "  br i1 %more, label %body, label %end\nbody:\n  %m = add i32 %n, 1\n"
      "  %w = add i32 INDEX, %n\n  %v = add i32 INDEX, 128\n  %z = add i32 %v, %n\n"
      "  %i = sext i32 %w to i64\n  %j = sext i32 %z to i64\n"
      "  %a = getelementptr float, ptr %p, i64 %i\n  store float 1.0, ptr %a\n"
      "  %b = getelementptr float, ptr %p, i64 %j\n  store float 2.0, ptr %b\n  br label %head\nend:\n";
  EXPECT_THAT(After(ShareAddresses, absl::StrReplaceAll(loop, {{"INDEX", "%t"}})),
              HasSubstr("%b = getelementptr i8, ptr %a, i64 512"));
  EXPECT_THAT(After(ShareAddresses, absl::StrReplaceAll(loop, {{"INDEX", "%x"}})),
              HasSubstr("%b = getelementptr float, ptr %p"));
}

TEST(ShareAddresses, ANumberThatFillsZeroBitsNeverCarries) {
  const std::string text =
      TwoStores("  %u = shl i32 %x, 3\n  %v = or i32 %u, 5\n  %i = sext i32 %u to i64\n  %j = sext i32 %v to i64");
  EXPECT_THAT(text, HasSubstr("%b = getelementptr i8, ptr %a, i64 20"));
}

TEST(ShareAddresses, AlsoInASumThatMayOverflow) {
  const std::string text = TwoStores(R"(
  %l = shl i32 %x, 3
  %m = shl i32 %y, 4
  %u = add i32 %l, %m
  %v = add i32 %u, 7
  %i = sext i32 %u to i64
  %j = sext i32 %v to i64)");
  EXPECT_THAT(text, HasSubstr("%b = getelementptr i8, ptr %a, i64 28"));
}

TEST(ShareAddresses, BitsOfAShiftThatMayOverflowStayApart) {
  // (%x * 128 | %t & 15 | 16) * 64
  const std::string text = TwoStores(R"(
  %l = shl i32 %x, 7
  %m = and i32 %t, 15
  %u = or i32 %l, %m
  %v = or disjoint i32 %m, 16
  %w = or i32 %l, %v
  %us = shl i32 %u, 6
  %ws = shl i32 %w, 6
  %i = sext i32 %us to i64
  %j = sext i32 %ws to i64)");
  EXPECT_THAT(text, HasSubstr("%b = getelementptr i8, ptr %a, i64 4096"));
}

TEST(ShareAddresses, SumsOfAShiftThatMayOverflowDoNot) {
  const std::string text = TwoStores(R"(
  %u = add i32 %t, 16
  %us = shl i32 %t, 26
  %ws = shl i32 %u, 26
  %i = sext i32 %us to i64
  %j = sext i32 %ws to i64)");
  EXPECT_THAT(text, HasSubstr("%b = getelementptr float, ptr %p"));
}

TEST(ShareAddresses, TermsCountInAnyOrder) {
  const std::string text = After(ShareAddresses, R"(
  %u = sext i32 %x to i64
  %v = sext i32 %y to i64
  %d = getelementptr float, ptr %p, i64 %u
  %a = getelementptr float, ptr %d, i64 %v
  store float 1.0, ptr %a
  %e = getelementptr float, ptr %p, i64 %v
  %g = getelementptr i8, ptr %e, i64 8
  %b = getelementptr float, ptr %g, i64 %u
  store float 2.0, ptr %b)");
  EXPECT_THAT(text, HasSubstr("%b = getelementptr i8, ptr %a, i64 8"));
}

TEST(ShareAddresses, OtherPointersAndFactorsStayApart) {
  const std::string text = After(ShareAddresses, R"(
  %i = sext i32 %x to i64
  %a = getelementptr float, ptr %p, i64 %i
  store float 1.0, ptr %a
  %b = getelementptr float, ptr %q, i64 %i
  store float 2.0, ptr %b
  %d = getelementptr half, ptr %p, i64 %i
  store float 3.0, ptr %d)");
  EXPECT_THAT(text, HasSubstr("%b = getelementptr float, ptr %q, i64 %i"));
  EXPECT_THAT(text, HasSubstr("%d = getelementptr half, ptr %p, i64 %i"));
}

constexpr char kTwoBranches[] = R"(
  %i = sext i32 %x to i64
  br i1 %c, label %yes, label %no
yes:
  %a = getelementptr float, ptr %p, i64 %i
  store float 1.0, ptr %a
  br label %no
no:
  %j = add i64 %i, 1
  %b = getelementptr float, ptr BASE, i64 INDEX
  store float 2.0, ptr %b)";

TEST(ShareAddresses, AnAddressThatIsNotAlwaysComputedIsNoBase) {
  const std::string body = absl::StrReplaceAll(kTwoBranches, {{"BASE", "%p"}, {"INDEX", "%j"}});
  EXPECT_THAT(After(ShareAddresses, body), HasSubstr("%b = getelementptr float, ptr %p, i64 %j"));
}

TEST(ShareAddresses, OffsetsOf32BitsWrapAsTheirPointersDo) {
  const std::string text = After(ShareAddresses, R"(
  %a = getelementptr float, ptr addrspace(3) %s, i32 %x
  store float 1.0, ptr addrspace(3) %a
  %j = add i32 %x, 3
  %b = getelementptr float, ptr addrspace(3) %s, i32 %j
  store float 2.0, ptr addrspace(3) %b)");
  EXPECT_THAT(text, HasSubstr("%b = getelementptr i8, ptr addrspace(3) %a, i32 12"));
}

TEST(ShareAddresses, WhatHeldForOneAddressIsNotSaidOfItAsABase) {
  const std::string text = After(ShareAddresses, R"(
  %i = sext i32 %x to i64
  %a = getelementptr inbounds float, ptr %p, i64 %i
  %j = add i64 %i, 1
  %b = getelementptr inbounds float, ptr %p, i64 %j
  store float 2.0, ptr %b)");
  EXPECT_THAT(text, Not(HasSubstr("inbounds")));
}

TEST(ShareOffsets, AnOffsetOfTwoPointersIsComputedOnce) {
  const std::string text = After(ShareOffsets, R"(
  %i = sext i32 %x to i64
  %a = getelementptr float, ptr %p, i64 %i
  store float 1.0, ptr %a
  br i1 %c, label %yes, label %no
yes:
  %b = getelementptr float, ptr %q, i64 %i
  store float 2.0, ptr %b
  br label %no
no:)");
  EXPECT_THAT(text, HasSubstr("%1 = shl i64 %i, 2"));
  EXPECT_THAT(text, HasSubstr("%a = getelementptr i8, ptr %p, i64 %1"));
  EXPECT_THAT(text, HasSubstr("%b = getelementptr i8, ptr %q, i64 %1"));
}

TEST(ShareOffsets, OneThatWouldLiveThroughALoopIsNot) {
  const std::string text = After(ShareOffsets, R"(
  %i = sext i32 %x to i64
  %a = getelementptr float, ptr %p, i64 %i
  store float 1.0, ptr %a
  br label %loop
loop:
  br i1 %c, label %loop, label %end
end:
  %b = getelementptr float, ptr %q, i64 %i
  store float 2.0, ptr %b)");
  EXPECT_THAT(text, Not(HasSubstr("shl")));
}

TEST(ShareOffsets, OneThatIsNotAlwaysComputedIsNot) {
  const std::string body = absl::StrReplaceAll(kTwoBranches, {{"BASE", "%q"}, {"INDEX", "%i"}});
  EXPECT_THAT(After(ShareOffsets, body), Not(HasSubstr("shl")));
}

}  // namespace
}  // namespace tritond::compiler
