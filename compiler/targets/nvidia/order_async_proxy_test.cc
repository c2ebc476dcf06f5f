// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::ElementsAre;

constexpr char kWgmma[] = "  call void asm sideeffect \"wgmma.mma_async.sync.aligned.m64n8k16\", \"~{memory}\"()\n";
constexpr char kFenceName[] = "llvm.nvvm.fence.proxy.async.shared_cta";
constexpr char kBarrierName[] = "llvm.nvvm.barrier.cta.sync.aligned.all";
constexpr char kBarrier[] = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

// What @f's only block calls after the fences are placed: the first word of assembly, or the function's name.
std::vector<std::string> Ordered(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\ndefine void @f() {\n" + body + "  ret void\n}\n",
      error, context);
  if (!module) return {error.getMessage().str()};
  OrderAsyncProxy(*module);
  if (llvm::verifyModule(*module)) return {"broken"};
  std::vector<std::string> calls;
  for (llvm::Instruction& instruction : module->getFunction("f")->front()) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call) continue;
    auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
    calls.push_back(assembly ? llvm::StringRef(assembly->getAsmString()).split('.').first.str()
                             : call->getCalledFunction()->getName().str());
  }
  return calls;
}

TEST(OrderAsyncProxy, FencesEveryBarrierOfAModuleWithWgmma) {
  EXPECT_THAT(Ordered(std::string(kBarrier) + kWgmma + kBarrier),
              ElementsAre(kFenceName, kBarrierName, "wgmma", kFenceName, kBarrierName));
}

TEST(OrderAsyncProxy, LeavesOthersAlone) { EXPECT_THAT(Ordered(kBarrier), ElementsAre(kBarrierName)); }

}  // namespace
}  // namespace tritond::compiler::nvidia
