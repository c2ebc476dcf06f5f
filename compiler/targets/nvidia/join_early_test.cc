// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::ElementsAre;

// The names of @f's instructions that have one, with those of its blocks.
std::vector<std::string> Joined(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "define i32 @f(ptr addrspace(3) %p, ptr addrspace(1) %q, i32 %n, i1 %c) {\nentry:\n" + body + "}\n", error,
      context);
  if (!module) return {error.getMessage().str()};
  JoinEarly(*module);
  if (llvm::verifyModule(*module)) return {"broken"};
  std::vector<std::string> names;
  for (llvm::BasicBlock& block : *module->getFunction("f")) {
    names.push_back(block.getName().str() + ":");
    for (llvm::Instruction& instruction : block)
      if (instruction.hasName()) names.push_back(instruction.getName().str());
  }
  return names;
}

TEST(JoinEarly, TermsOfOtherBlocksAreAddedThere) {
  EXPECT_THAT(Joined("  %x = load volatile i32, ptr addrspace(3) %p\n"
                     "  br label %second\n"
                     "second:\n"
                     "  %y = load volatile i32, ptr addrspace(3) %p\n"
                     "  br label %third\n"
                     "third:\n"
                     "  %z = load volatile i32, ptr addrspace(3) %p\n"
                     "  %s = add i32 %x, %y\n"
                     "  %t = add i32 %s, %z\n"
                     "  ret i32 %t\n"),
              ElementsAre("entry:", "x", "second:", "y", "s", "third:", "z", "t"));
}

TEST(JoinEarly, ElementsOfVectorsAreTakenOutThere) {
  EXPECT_THAT(Joined("  %v = load volatile <2 x i32>, ptr addrspace(3) %p\n"
                     "  br label %second\n"
                     "second:\n"
                     "  %x = extractelement <2 x i32> %v, i32 0\n"
                     "  %y = extractelement <2 x i32> %v, i32 1\n"
                     "  %s = add i32 %x, %y\n"
                     "  ret i32 %s\n"),
              ElementsAre("entry:", "v", "y", "x", "s", "second:"));
}

TEST(JoinEarly, LeavesWhatTakesNoFewerRegisters) {
  // One operand lives on; the other one is no instruction's.
  EXPECT_THAT(Joined("  %x = load volatile i32, ptr addrspace(3) %p\n"
                     "  %y = load volatile i32, ptr addrspace(3) %p\n"
                     "  br label %second\n"
                     "second:\n"
                     "  %s = add i32 %x, %y\n"
                     "  %t = add i32 %y, %n\n"
                     "  %u = mul i32 %s, %t\n"
                     "  ret i32 %u\n"),
              ElementsAre("entry:", "x", "y", "second:", "s", "t", "u"));
}

TEST(JoinEarly, LeavesWhatMayBeOnItsWay) {
  EXPECT_THAT(Joined("  %x = load volatile i32, ptr addrspace(1) %q\n"
                     "  %y = load volatile i32, ptr addrspace(3) %p\n"
                     "  br label %second\n"
                     "second:\n"
                     "  %s = add i32 %x, %y\n"
                     "  ret i32 %s\n"),
              ElementsAre("entry:", "x", "y", "second:", "s"));
}

TEST(JoinEarly, LeavesWhatRunsLessOften) {
  EXPECT_THAT(Joined("  %x = load volatile i32, ptr addrspace(3) %p\n"
                     "  %y = load volatile i32, ptr addrspace(3) %p\n"
                     "  br i1 %c, label %second, label %third\n"
                     "second:\n"
                     "  %s = add i32 %x, %y\n"
                     "  ret i32 %s\n"
                     "third:\n"
                     "  ret i32 0\n"),
              ElementsAre("entry:", "x", "y", "second:", "s", "third:"));
}

TEST(JoinEarly, LeavesLoops) {
  EXPECT_THAT(Joined("  %x = load volatile i32, ptr addrspace(3) %p\n"
                     "  br label %loop\n"
                     "loop:\n"
                     "  %y = load volatile i32, ptr addrspace(3) %p\n"
                     "  %d = icmp eq i32 %n, 0\n"
                     "  br i1 %d, label %loop, label %last\n"
                     "last:\n"
                     "  %s = add i32 %x, %y\n"
                     "  ret i32 %s\n"),
              ElementsAre("entry:", "x", "loop:", "y", "d", "last:", "s"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
