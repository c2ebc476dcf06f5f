// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The text of a function with these blocks after joining. It uses what it has computed by @use.
std::string Joined(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "declare void @use(i1)\ndefine void @f(i32 %x, i32 %y, i32 %n, i32 %k, i1 %c) {\n" + body + "\n}\n", error,
      context);
  if (!module) return error.getMessage().str();
  JoinBounds(*module);
  if (llvm::verifyModule(*module)) return "broken";
  std::string text;
  llvm::raw_string_ostream(text) << *module->getFunction("f");
  return text;
}

TEST(JoinBounds, ComparesIndicesWithZeroAndASizeOnce) {
  EXPECT_THAT(Joined("  %l = icmp sgt i32 %x, -1\n  %u = icmp slt i32 %x, %n\n  %b = and i1 %l, %u\n"
                     "  %m = icmp sgt i32 %y, -1\n  %v = icmp sgt i32 %n, %y\n  %d = and i1 %v, %m\n"
                     "  call void @use(i1 %b)\n  call void @use(i1 %d)\n  ret void"),
              AllOf(HasSubstr("call i32 @llvm.smax.i32(i32 %n, i32 0)"), HasSubstr("icmp ult i32 %x"),
                    HasSubstr("icmp ult i32 %y"), Not(HasSubstr("sgt")), Not(HasSubstr("slt")), Not(HasSubstr("and"))));
}

TEST(JoinBounds, FindsBothAmongOtherConditions) {
  const std::string text = Joined(
      "  %l = icmp sgt i32 %x, -1\n  %m = icmp sgt i32 %y, -1\n  %u = icmp slt i32 %x, %n\n"
      "  %v = icmp slt i32 %y, %n\n  %p = and i1 %l, %m\n  %q = and i1 %u, %c\n  %r = and i1 %q, %v\n"
      "  %b = and i1 %p, %r\n  call void @use(i1 %b)\n  ret void");
  EXPECT_THAT(text, AllOf(HasSubstr("icmp ult i32 %x"), HasSubstr("icmp ult i32 %y"), HasSubstr("%c"),
                          Not(HasSubstr("sgt")), Not(HasSubstr("true"))));
}

TEST(JoinBounds, KnowsSumsBehindComparisonsWithConstants) {
  const std::string both =
      "  %l = icmp sgt i32 %x, 3\n  %u = icmp slt i32 %s, %n\n  %b = and i1 %l, %u\n"
      "  %m = icmp sgt i32 %y, -1\n  %v = icmp slt i32 %y, %n\n  %d = and i1 %v, %m\n"
      "  call void @use(i1 %b)\n  call void @use(i1 %d)\n  ret void";
  EXPECT_THAT(Joined("  %s = add nsw i32 %x, -4\n" + both), HasSubstr("icmp ult i32 %s"));
  // A sum that may overflow, or that is negative there.
  EXPECT_THAT(Joined("  %s = add i32 %x, -4\n" + both), Not(HasSubstr("ult")));
  EXPECT_THAT(Joined("  %s = add nsw i32 %x, -5\n" + both), Not(HasSubstr("ult")));
}

TEST(JoinBounds, LeavesOneIndexAloneOutsideOfLoops) {
  const std::string one = "  %l = icmp sgt i32 %x, -1\n  %u = icmp slt i32 %x, %n\n  %b = and i1 %l, %u\n";
  EXPECT_THAT(Joined(one + "  call void @use(i1 %b)\n  ret void"), Not(HasSubstr("ult")));
  EXPECT_THAT(Joined("  br label %body\nbody:\n" + one +
                     "  call void @use(i1 %b)\n  br i1 %c, label %body, label %end\nend:\n  ret void"),
              HasSubstr("ult"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
