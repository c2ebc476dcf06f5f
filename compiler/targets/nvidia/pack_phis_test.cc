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

// How many values of 16 and of 32 bits the loop of @f carries after packing. `phis` and `body` are of a loop over %a,
// the vector before it, and %b, that of its round.
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

}  // namespace
}  // namespace tritond::compiler::nvidia
