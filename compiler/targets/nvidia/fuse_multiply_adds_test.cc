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

// The instructions of @f's first block after fusing: "s = fma(a, -b, c)" of calls, else "m = fmul".
std::vector<std::string> Fused(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module =
      llvm::parseAssemblyString("define float @f(float %a, float %b, float %c) {\n" + body + "\n}\n", error, context);
  if (!module) return {error.getMessage().str()};
  FuseMultiplyAdds(*module);
  if (llvm::verifyModule(*module)) return {"broken"};
  std::vector<std::string> lines;
  for (llvm::Instruction& instruction : module->getFunction("f")->front()) {
    if (instruction.isTerminator() || instruction.getOpcode() == llvm::Instruction::FNeg) continue;
    std::string line = instruction.getName().str() + " = ";
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    line += call ? "fma" : instruction.getOpcodeName();
    for (llvm::Value* operand :
         call ? llvm::SmallVector<llvm::Value*>(call->args()) : llvm::SmallVector<llvm::Value*>()) {
      auto* negation = llvm::dyn_cast<llvm::UnaryOperator>(operand);
      line += negation ? " -" + negation->getOperand(0)->getName().str() : " " + operand->getName().str();
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(FuseMultiplyAdds, FusesWhereTheProductGoesAway) {
  EXPECT_THAT(Fused("  %m = fmul float %a, %b\n  %s = fadd float %m, %c\n  ret float %s"),
              ElementsAre("s = fma a b c"));
  EXPECT_THAT(Fused("  %m = fmul float %a, %b\n  %s = fadd float %c, %m\n  ret float %s"),
              ElementsAre("s = fma a b c"));
  EXPECT_THAT(Fused("  %m = fmul float %a, %b\n  %s = fsub float %m, %c\n  ret float %s"),
              ElementsAre("s = fma a b -c"));
  EXPECT_THAT(Fused("  %m = fmul float %a, %b\n  %s = fsub float %c, %m\n  ret float %s"),
              ElementsAre("s = fma -a b c"));
  EXPECT_THAT(Fused("  %m = fmul float %a, %b\n  %s = fadd float %m, %c\n  %t = fsub float %m, %s\n  ret float %t"),
              ElementsAre("s = fma a b c", "t = fma a b -s"));
}

TEST(FuseMultiplyAdds, LeavesAProductThatIsNeededAnyway) {
  EXPECT_THAT(Fused("  %m = fmul float %a, %b\n  %s = fadd float %m, %c\n  %t = fdiv float %m, %s\n  ret float %t"),
              ElementsAre("m = fmul", "s = fadd", "t = fdiv"));
  EXPECT_THAT(Fused("  %m = fmul float %a, %b\n  %s = fadd float %m, %m\n  ret float %s"),
              ElementsAre("m = fmul", "s = fadd"));
  EXPECT_THAT(Fused("  %m = fmul float %a, %b\n  br label %next\nnext:\n  %s = fadd float %m, %c\n  ret float %s"),
              ElementsAre("m = fmul"));
}

TEST(FuseMultiplyAdds, ASumOfTwoProductsTakesOne) {
  EXPECT_THAT(Fused("  %m = fmul float %a, %b\n  %n = fmul float %b, %c\n  %s = fadd float %m, %n\n  ret float %s"),
              ElementsAre("n = fmul", "s = fma a b n"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
