// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::ElementsAre;

// The named instructions of @f's first block in their new order.
std::vector<std::string> Ordered(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("define void @f(ptr addrspace(1) %p, i32 %i, float %x) {\n", body, "}\n"), error, context);
  if (!module) return {error.getMessage().str()};
  OrderByUse(*module);
  if (llvm::verifyModule(*module)) return {"broken"};
  std::vector<std::string> names;
  for (llvm::Instruction& instruction : module->getFunction("f")->front())
    if (instruction.hasName()) names.push_back(instruction.getName().str());
  return names;
}

constexpr char kTwoElements[] =
    "  %j = add i32 %i, 1\n"
    "  %p0 = getelementptr float, ptr addrspace(1) %p, i32 %i\n"
    "  %p1 = getelementptr float, ptr addrspace(1) %p, i32 %j\n"
    "  %a0 = load float, ptr addrspace(1) %p0\n"
    "  %a1 = load float, ptr addrspace(1) %p1\n"
    "  %b0 = fmul float %a0, %x\n"
    "  %b1 = fmul float %a1, %x\n"
    "  %c0 = fadd float %b0, 1.0\n"
    "  %c1 = fadd float %b1, 1.0\n"
    "  %s = fadd float %c0, %c1\n"
    "  store float %s, ptr addrspace(1) %p\n"
    "  ret void\n";

TEST(OrderByUse, OneElementGoesAfterTheOther) {
  EXPECT_THAT(Ordered(kTwoElements), ElementsAre("p0", "a0", "j", "p1", "a1", "b0", "c0", "b1", "c1", "s"));
}

TEST(OrderByUse, LoadsAndStoresKeepTheirOrder) {
  EXPECT_THAT(Ordered("  %b = fmul float %x, 2.0\n"
                      "  %a = load float, ptr addrspace(1) %p\n"
                      "  store float %x, ptr addrspace(1) %p\n"
                      "  %c = load float, ptr addrspace(1) %p\n"
                      "  %d = fadd float %a, %c\n"
                      "  %e = fadd float %d, %b\n"
                      "  store float %e, ptr addrspace(1) %p\n  ret void\n"),
              ElementsAre("a", "c", "d", "b", "e"));
}

TEST(OrderByUse, WhatSeveralNeedStays) {
  // The greater and the lesser one of two loaded values, as sorts have them.
  EXPECT_THAT(Ordered("  %a = load float, ptr addrspace(1) %p\n"
                      "  %m = fmul float %a, %x\n"
                      "  %n = fadd float %a, %x\n"
                      "  %d = fsub float %m, %n\n"
                      "  %e = fmul float %n, %m\n"
                      "  %s = fadd float %e, %d\n"
                      "  store float %s, ptr addrspace(1) %p\n  ret void\n"),
              ElementsAre("a", "m", "n", "e", "d", "s"));
}

TEST(OrderByUse, WhatOtherBlocksNeedIsComputed) {
  EXPECT_THAT(Ordered("  %b = fmul float %x, 2.0\n"
                      "  %a = load float, ptr addrspace(1) %p\n"
                      "  %c = fcmp olt float %a, 0.0\n"
                      "  br i1 %c, label %then, label %else\n"
                      "then:\n  store float %b, ptr addrspace(1) %p\n  ret void\n"
                      "else:\n  store float %a, ptr addrspace(1) %p\n  ret void\n"),
              ElementsAre("a", "b", "c"));
}

TEST(OrderByUse, FunctionsOfTheMatrixUnitsStay) {
  EXPECT_THAT(Ordered(absl::StrCat("  call void asm sideeffect \"wgmma.mma_async\", \"\"()\n", kTwoElements)),
              ElementsAre("j", "p0", "p1", "a0", "a1", "b0", "b1", "c0", "c1", "s"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
