// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::ElementsAre;

constexpr char kWgmma[] = "  call void asm sideeffect \"wgmma.mma_async.sync.aligned.m64n8k16\", \"~{memory}\"()\n";
constexpr char kFenceName[] = "llvm.nvvm.fence.proxy.async.shared_cta";
constexpr char kBarrierName[] = "llvm.nvvm.barrier.cta.sync.aligned.all";
constexpr char kStore[] = "  store i32 0, ptr addrspace(3) null\n";
constexpr char kBarrier[] = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

// What @f calls after the fences are placed, in the order of the text: the first word of assembly, or the function's
// name.
std::vector<std::string> Ordered(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
      "declare void @llvm.nvvm.cp.async.wait.group(i32)\n"
      "declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)\ndefine void @f() {\n" +
          body + "  ret void\n}\n",
      error, context);
  if (!module) return {error.getMessage().str()};
  OrderAsyncProxy(*module);
  if (llvm::verifyModule(*module)) return {"broken"};
  std::vector<std::string> calls;
  for (llvm::Instruction& instruction : llvm::instructions(module->getFunction("f"))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call) continue;
    auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
    calls.push_back(assembly ? llvm::StringRef(assembly->getAsmString()).split('.').first.str()
                             : call->getCalledFunction()->getName().str());
  }
  return calls;
}

// wgmma, `body` and a barrier in a loop, and a barrier behind it.
std::string LoopWith(const std::string& body) {
  return absl::StrCat("  br label %loop\nloop:\n", kWgmma, body, kBarrier,
                      "  br i1 poison, label %loop, label %end\nend:\n", kBarrier);
}

TEST(OrderAsyncProxy, FencesTheLastBarrierInFrontOfWgmma) {
  EXPECT_THAT(Ordered(std::string(kBarrier) + kBarrier + kWgmma + kBarrier),
              ElementsAre(kBarrierName, kFenceName, kBarrierName, "wgmma", kBarrierName));
}

TEST(OrderAsyncProxy, FencesArrivalsOfWarpsAtMbarriers) {
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [$0];\", \"r\"(i32 0)\n";
  EXPECT_THAT(Ordered(kBarrier + ("  call void asm sideeffect \"bar.warp.sync 0xffffffff; " + arrive) + kWgmma),
              ElementsAre(kBarrierName, kFenceName, "bar", "wgmma"));
  // One thread arrives for others: they have met before.
  EXPECT_THAT(Ordered(kBarrier + ("  call void asm sideeffect \"" + arrive) + kWgmma),
              ElementsAre(kFenceName, kBarrierName, "mbarrier", "wgmma"));
}

TEST(OrderAsyncProxy, FollowsLoops) {
  EXPECT_THAT(Ordered(kBarrier + LoopWith(kStore)),
              ElementsAre(kFenceName, kBarrierName, "wgmma", kFenceName, kBarrierName, kBarrierName));
}

// What bulk copies bring needs no fence, nor does what was written before an earlier one.
TEST(OrderAsyncProxy, LeavesOutFencesWithoutAccesses) {
  const std::string copy =
      "  call void asm sideeffect \"cp.async.bulk.tensor.2d.shared::cluster.global\", \"~{memory}\"()\n";
  const std::string load = "  %x = load i32, ptr addrspace(1) null\n";
  EXPECT_THAT(Ordered(kBarrier + LoopWith(copy + load)),
              ElementsAre(kFenceName, kBarrierName, "wgmma", "cp", kBarrierName, kBarrierName));
}

// Copies by the thread write until its wait.
TEST(OrderAsyncProxy, FencesBehindWaitsForCopies) {
  EXPECT_THAT(Ordered(kBarrier + LoopWith("  call void @llvm.nvvm.cp.async.wait.group(i32 0)\n")),
              ElementsAre(kFenceName, kBarrierName, "wgmma", "llvm.nvvm.cp.async.wait.group", kFenceName, kBarrierName,
                          kBarrierName));
  // Where copies arrive at mbarriers, these are waits, too.
  const std::string arrive =
      "  call void asm sideeffect \"cp.async.mbarrier.arrive.noinc.shared::cta.b64\", \"~{memory}\"()\n";
  EXPECT_THAT(Ordered(arrive + kBarrier + LoopWith("")),
              ElementsAre("cp", kFenceName, kBarrierName, "wgmma", kFenceName, kBarrierName, kBarrierName));
}

TEST(OrderAsyncProxy, SupposesWgmmaInCalls) {
  EXPECT_THAT(Ordered(std::string(kWgmma) + kBarrier + "  call void @f()\n"),
              ElementsAre("wgmma", kFenceName, kBarrierName, "f"));
}

// Warps that write come to the barrier at another place than those that read, and to none before wgmma.
TEST(OrderAsyncProxy, FencesAllBarriersOfSomeWarpsByNumber) {
  constexpr char kName[] = "llvm.nvvm.barrier.cta.sync.aligned.count";
  const std::string one = absl::StrCat("  call void @", kName, "(i32 1, i32 256)\n");
  const std::string two = absl::StrCat("  call void @", kName, "(i32 2, i32 128)\n");
  const std::string body = absl::StrCat("  br i1 poison, label %reads, label %writes\nreads:\n", one, kWgmma,
                                        "  ret void\nwrites:\n", two, one);
  EXPECT_THAT(Ordered(body), ElementsAre(kFenceName, kName, "wgmma", kName, kFenceName, kName));
}

TEST(OrderAsyncProxy, LeavesOthersAlone) {
  EXPECT_THAT(Ordered(kBarrier), ElementsAre(kBarrierName));
  EXPECT_THAT(Ordered(std::string(kBarrier) + "  call void @f()\n"), ElementsAre(kBarrierName, "f"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
