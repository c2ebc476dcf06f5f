// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr char kBarrier[] = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

std::string Load(int number) {
  return absl::StrCat("  %x", number, " = call i32 asm sideeffect \"ld.global.b32 $0, [$1];\", \"=r,l\"(ptr ",
                      "addrspace(1) null)\n");
}

std::string Store(absl::string_view value) { return absl::StrCat("  store i32 %", value, ", ptr addrspace(3) null\n"); }

// Loads, stores and barriers of @f afterwards, in the order of the text.
std::vector<std::string> Ordered(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\ndefine void @f() {\n  br label %loop\nloop:\n" +
          body + "  br i1 poison, label %loop, label %end\nend:\n  ret void\n}\n",
      error, context);
  if (!module) return {error.getMessage().str()};
  StartTogether(*module);
  if (llvm::verifyModule(*module)) return {"broken"};
  std::vector<std::string> order;
  for (llvm::Instruction& instruction : llvm::instructions(module->getFunction("f"))) {
    if (llvm::isa<llvm::StoreInst>(instruction)) order.emplace_back("store");
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call) continue;
    auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(call);
    order.emplace_back(!intrinsic                                                           ? "load"
                       : intrinsic->getIntrinsicID() == llvm::Intrinsic::nvvm_bar_warp_sync ? "together"
                                                                                            : "barrier");
  }
  return order;
}

TEST(StartTogether, LoadsStartBeforeTheFirstStore) {
  EXPECT_THAT(Ordered(Load(0) + Load(1) + Store("x0") + Store("x1") + kBarrier),
              ElementsAre("load", "load", "together", "store", "store", "barrier"));
  // What is made of a loaded word counts as that.
  const std::string half = "  %h = lshr i32 %x0, 16\n";
  EXPECT_THAT(Ordered(Load(0) + Load(1) + half + Store("h") + Store("x1") + kBarrier),
              ElementsAre("load", "load", "together", "store", "store", "barrier"));
}

TEST(StartTogether, BarriersKeepThemTogetherAnyway) {
  EXPECT_THAT(Ordered(Load(0) + Load(1) + kBarrier + Store("x0") + Store("x1")),
              ElementsAre("load", "load", "barrier", "store", "store"));
}

// It has to wait for all of them.
TEST(StartTogether, NothingInFrontOfAStoreThatNeedsAllLoads) {
  const std::string sum = "  %s = add i32 %x0, %x1\n";
  EXPECT_THAT(Ordered(Load(0) + Load(1) + sum + Store("s") + Store("x1") + kBarrier),
              ElementsAre("load", "load", "store", "store", "barrier"));
}

TEST(StartTogether, OtherLoadsDoNotCount) {
  EXPECT_THAT(Ordered(Load(0) + Load(1) + Store("x0") + kBarrier), ElementsAre("load", "load", "store", "barrier"));
}

TEST(StartTogether, NotAllLanesMayComeToABlockWithoutABarrier) {
  EXPECT_THAT(Ordered(Load(0) + Load(1) + Store("x0") + Store("x1")), ElementsAre("load", "load", "store", "store"));
}

// Of 240 words that are all live in front of the first store.
TEST(StartTogether, LoadsStayApartWithoutRegisters) {
  std::string loads, stores;
  for (int i = 0; i < 240; ++i) {
    absl::StrAppend(&loads, Load(i));
    absl::StrAppend(&stores, Store(absl::StrCat("x", i)));
  }
  EXPECT_THAT(Ordered(loads + stores + kBarrier), Not(Contains("together")));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
