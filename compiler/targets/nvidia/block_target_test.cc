// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/second_assembly.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

// What an attribute says of a kernel of `num_warps` warps. Empty where nothing is said.
std::string SaidOf(const std::string& body, int num_warps, llvm::StringRef attribute) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module =
      llvm::parseAssemblyString(absl::StrCat("declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
                                             "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                                             "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\n"
                                             "define void @f(ptr addrspace(1) %p, float %x, i32 %n) {\nentry:\n",
                                             body, "  ret void\n}\n"),
                                error, context);
  if (!module) return error.getMessage().str();
  if (llvm::verifyModule(*module)) return "broken";
  llvm::Function& function = *module->getFunction("f");
  function.addFnAttr("nvvm.reqntid", absl::StrCat(32 * num_warps));
  function.addFnAttr(kSharedBytesAttr, "0");
  SetBlockTarget(function);
  return function.getFnAttribute(attribute).getValueAsString().str();
}

std::string TargetOf(const std::string& body, int num_warps) { return SaidOf(body, num_warps, "nvvm.minctasm"); }

// The loop of the kernel computes %next, a float, from %p, %i and the sum %s. It comes after `before`, whose last block
// is `last`.
std::string Target(const std::string& body, int num_warps, const std::string& before = "",
                   const std::string& last = "entry") {
  return TargetOf(absl::StrCat(before, "  br label %loop\nloop:\n  %i = phi i32 [0, %", last, "], [%j, %loop]\n",
                               "  %s = phi float [0.0, %", last, "], [%next, %loop]\n", body,
                               "  %j = add i32 %i, 1\n  %c = icmp slt i32 %j, %n\n"
                               "  br i1 %c, label %loop, label %exit\nexit:\n"
                               "  store float %next, ptr addrspace(1) %p\n"),
                  num_warps);
}

// A kernel without loops copies `count` values of a type.
std::string TargetOfLoads(int count, const std::string& type, int num_warps) {
  std::string loads, stores;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&loads, "  %v", i, " = load ", type, ", ptr addrspace(1) %p\n");
    absl::StrAppend(&stores, "  store ", type, " %v", i, ", ptr addrspace(1) %p\n");
  }
  return TargetOf(loads + stores, num_warps);
}

constexpr char kSum[] =
    "  %a = getelementptr float, ptr addrspace(1) %p, i32 %i\n"
    "  %v = load float, ptr addrspace(1) %a\n"
    "  %next = fadd float %s, %v\n";
constexpr char kNoLoad[] = "  %next = fadd float %s, %x\n";

TEST(BlockTarget, LoopsThatLoadNeedHalfOfTheWarps) {
  EXPECT_EQ(Target(kSum, 2), "16");
  EXPECT_EQ(Target(kSum, 4), "8");
}

TEST(BlockTarget, LargeBlocksKeepTheirPlaces) { EXPECT_EQ(Target(kSum, 8), ""); }

TEST(BlockTarget, LoadsOutsideOfLoopsWaitOnce) {
  EXPECT_EQ(Target(kNoLoad, 4, "  %v = load float, ptr addrspace(1) %p\n"), "");
}

TEST(BlockTarget, BlocksOfOneWarpMayTakeAllRegisters) { EXPECT_EQ(Target(kNoLoad, 1), "8"); }

TEST(BlockTarget, LoadsAtLoadedAddressesFollowOneAnother) {
  EXPECT_EQ(Target("  %a = getelementptr i32, ptr addrspace(1) %p, i32 %i\n"
                   "  %k = load i32, ptr addrspace(1) %a\n"
                   "  %b = getelementptr float, ptr addrspace(1) %p, i32 %k\n"
                   "  %v = load float, ptr addrspace(1) %b\n"
                   "  %next = fadd float %s, %v\n",
                   4),
            "");
}

// An atomic operation after the loads of an iteration keeps those of the next one back, if it acquires.
TEST(BlockTarget, LoadsWaitForWhatIsAcquired) {
  const auto adds = [](const std::string& order) {
    return absl::StrCat(kSum, "  %old = call float asm sideeffect \"atom.global.gpu", order,
                        ".add.f32 $0, [$1], $2;\", \"=f,l,f,~{memory}\"(ptr addrspace(1) %p, float %v)\n");
  };
  EXPECT_EQ(Target(adds(".acq_rel"), 4), "");
  EXPECT_EQ(Target(adds(".relaxed"), 4), "8");
}

TEST(BlockTarget, WhereWarpsWaitForEachOtherThereAreMore) {
  const std::string body = absl::StrCat("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n", kSum);
  EXPECT_EQ(Target(body, 4), "12");
}

// Registers for 64 words are no more than 32 warps have, barriers or not.
TEST(BlockTarget, ManyWordsInFlightTakeTheirRegistersAlsoBesideBarriers) {
  std::string before, many = absl::StrCat("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n", kSum);
  for (int i = 0; i < 32; ++i) absl::StrAppend(&before, "  %w", i, " = load double, ptr addrspace(1) %p, align 8\n");
  for (int i = 0; i < 32; ++i) absl::StrAppend(&many, "  store double %w", i, ", ptr addrspace(1) %p\n");
  EXPECT_EQ(Target(many, 4, before), "8");
}

// Another loop may follow addresses that it loads.
TEST(BlockTarget, EachLoopIsLookedAtByItself) {
  const std::string chase =
      "  br label %chase\nchase:\n"
      "  %at = phi i32 [0, %entry], [%to, %chase]\n"
      "  %link = getelementptr i32, ptr addrspace(1) %p, i32 %at\n"
      "  %to = load i32, ptr addrspace(1) %link\n"
      "  %more = icmp slt i32 %to, %n\n"
      "  br i1 %more, label %chase, label %between\nbetween:\n";
  EXPECT_EQ(Target(kSum, 4, chase, "between"), "8");
  EXPECT_EQ(Target(kNoLoad, 4, chase, "between"), "");  // the chase alone
}

// 64 bytes of four loads, none of which waits for another one.
TEST(BlockTarget, KernelsWithoutLoopsThatLoadMuch) {
  EXPECT_EQ(TargetOfLoads(4, "<4 x float>", 4), "8");
  EXPECT_EQ(TargetOfLoads(3, "<4 x float>", 4), "");
  EXPECT_EQ(TargetOfLoads(8, "float", 4), "");
  EXPECT_EQ(TargetOfLoads(4, "<4 x float>", 8), "");
}

// Loads that wait for one another are not on their way together: of eight bytes, these are four.
TEST(BlockTarget, ALevelOfLoadsIsOnItsWayAtOnce) {
  const std::string index =
      "  %a = getelementptr i32, ptr addrspace(1) %p, i32 %i\n  %k = load i32, ptr addrspace(1) %a\n"
      "  %b = getelementptr float, ptr addrspace(1) %p, i32 %k\n";
  const auto loop = [](const std::string& body) {
    return absl::StrCat(
        "  br label %loop\nloop:\n  %i = phi i32 [0, %entry], [%j, %loop]\n", body,
        "  %j = add i32 %i, 1\n  %c = icmp slt i32 %j, %n\n  br i1 %c, label %loop, label %exit\nexit:\n");
  };
  const std::string load = "  %v = load float, ptr addrspace(1) %b\n";
  EXPECT_EQ(SaidOf(loop(index), 8, kLoadsAtOnceAttr), "4");
  EXPECT_EQ(SaidOf(loop(index), 8, kWaitsAttr), "");
  EXPECT_EQ(SaidOf(loop(index + load), 8, kWaitsAttr), "2");
  EXPECT_EQ(SaidOf(loop(index + load), 8, kLoadsAtOnceAttr), "4");
  // Those outside of loops count where there are none.
  EXPECT_EQ(SaidOf("  %v = load <4 x float>, ptr addrspace(1) %p\n", 8, kLoadsAtOnceAttr), "16");
  EXPECT_EQ(SaidOf("  %v = load <4 x float>, ptr addrspace(1) %p\n" + loop(index), 8, kLoadsAtOnceAttr), "4");
}

// No load passes a barrier.
TEST(BlockTarget, LoadsBehindABarrierWaitForThoseBefore) {
  const std::string load = "  %v = load float, ptr addrspace(1) %p\n",
                    other = "  %w = load <2 x float>, ptr addrspace(1) %p\n",
                    barrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  EXPECT_EQ(SaidOf(load + other + barrier, 8, kLoadsAtOnceAttr), "12");
  EXPECT_EQ(SaidOf(load + other + barrier, 8, kWaitsAttr), "");
  EXPECT_EQ(SaidOf(load + barrier + other, 8, kLoadsAtOnceAttr), "6");
  EXPECT_EQ(SaidOf(load + barrier + other, 8, kWaitsAttr), "2");
}

TEST(BlockTarget, PredicatedLoadsAreLoads) {
  EXPECT_EQ(Target("  %v = call float asm sideeffect \"@$1 ld.global.b32 $0, [$2];\", \"=r,b,l,~{memory}\"(i1 true, "
                   "ptr addrspace(1) %p)\n"
                   "  %next = fadd float %s, %v\n",
                   4),
            "8");
}

TEST(BlockTarget, LoadsThatStoresStopNeedNoMoreThanTheirRoom) {
  const auto loop = [](int count, absl::string_view load) {
    std::string loads = "  %a = getelementptr float, ptr addrspace(1) %p, i32 %i\n  %t0 = fadd float %x, %x\n", sums;
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&loads, "  %v", i, " = ", load, "\n");
      absl::StrAppend(&sums, "  %t", i + 1, " = fadd float %t", i, ", %v", i, "\n");
    }
    return absl::StrCat(loads, sums, "  store float %t", count, ", ptr addrspace(1) %a\n", kNoLoad);
  };
  constexpr char kMasked[] =
      "call float asm sideeffect \"@$1 ld.global.b32 $0, [$2];\", \"=r,b,l,~{memory}\"(i1 true, ptr addrspace(1) %a)";
  EXPECT_EQ(Target(loop(4, kMasked), 4), "");
  EXPECT_EQ(Target(loop(64, kMasked), 4), "8");
  EXPECT_EQ(Target(loop(4, "load volatile float, ptr addrspace(1) %a"), 4), "8");
}

TEST(BlockTarget, MatrixUnitsHaveTheRegistersOfTheirTiles) {
  EXPECT_EQ(Target(absl::StrCat("  call void asm sideeffect \"wgmma.mma_async\", \"\"()\n", kSum), 4), "");
}

TEST(BlockTarget, ProductsInLoopsOrWithoutAnyMayBeWorthABlockMore) {
  constexpr char kProduct[] = "  call void asm sideeffect \"wgmma.mma_async\", \"\"()\n";
  auto loop = [](const std::string& before, const std::string& body) {
    return SaidOf(absl::StrCat(before, "  br label %loop\nloop:\n  %i = phi i32 [0, %entry], [%j, %loop]\n", body,
                               "  %j = add i32 %i, 1\n  %c = icmp slt i32 %j, %n\n"
                               "  br i1 %c, label %loop, label %exit\nexit:\n"),
                  4, kMoreBlocksAttr);
  };
  EXPECT_EQ(loop("", kProduct), kSecondBlock);
  EXPECT_EQ(SaidOf(kProduct, 4, kMoreBlocksAttr), kSecondBlock);
  EXPECT_EQ(loop(kProduct, ""), "") << "most of the time it does something else";
}

// 128 words that live through the loop do not fit into 64 registers.
TEST(BlockTarget, ProgramsThatTakeTurnsSayHowManyTheyAre) {
  auto said = [](const std::string& first, const std::string& step, const std::string& other = "") {
    return SaidOf(absl::StrCat("  %g = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n", other,
                               "  br label %loop\nloop:\n  %i = phi i32 [", first, ", %entry], [%j, %loop]\n",
                               "  store float %x, ptr addrspace(1) %p\n  %j = add i32 %i, ", step,
                               "\n  %c = icmp slt i32 %j, %n\n  br i1 %c, label %loop, label %exit\nexit:\n"),
                  4, kProgramsAttr);
  };
  EXPECT_EQ(said("%g", "132"), "132");
  EXPECT_EQ(said("0", "132"), "");
  EXPECT_EQ(said("%g", "%n"), "");
  EXPECT_EQ(said("%g", "132", "  %h = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\n"), "");
}

TEST(BlockTarget, ManyLiveWordsKeepTheirRegisters) {
  std::string before, body = kSum;
  for (int i = 0; i < 64; ++i) absl::StrAppend(&before, "  %w", i, " = load double, ptr addrspace(1) %p, align 8\n");
  for (int i = 0; i < 64; ++i) absl::StrAppend(&body, "  store double %w", i, ", ptr addrspace(1) %p\n");
  EXPECT_EQ(Target(body, 4, before), "");
}

TEST(MaxLiveWords, CountsWhatIsLiveAtOnce) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "define float @f(float %x) {\n"
      "  %a = fadd float %x, 1.0\n"        // %a
      "  %b = fadd float %a, 1.0\n"        // %a, %b
      "  %c = fpext float %b to double\n"  // %a, %c: three words
      "  %d = fptrunc double %c to float\n"
      "  %e = fadd float %d, %a\n"
      "  ret float %e\n}\n",
      error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  EXPECT_EQ(MaxLiveWords(*module->getFunction("f")), 3);
}

TEST(WordsThatLoopsKeep, AreCarriedOrSlowlyComputed) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "define void @f(ptr addrspace(1) %p, i32 %n) {\n"
      "  %loaded = load double, ptr addrspace(1) %p\n"  // two words
      "  %quick = add i32 %n, 7\n"                      // none
      "  br label %loop\n"
      "loop:\n"
      "  %i = phi i32 [ 0, %0 ], [ %next, %loop ]\n"
      "  %sum = phi double [ 0.0, %0 ], [ %more, %loop ]\n"
      "  %next = add i32 %i, %quick\n"             // one word
      "  %product = fmul double %sum, 3.0\n"       // none: it dies before the loop's end
      "  %more = fadd double %product, %loaded\n"  // two words
      "  %on = icmp slt i32 %next, %n\n"
      "  br i1 %on, label %loop, label %end\n"
      "end:\n"
      "  store double %more, ptr addrspace(1) %p\n"
      "  ret void\n}\n"
      "define void @g() {\n  ret void\n}\n",
      error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  EXPECT_EQ(WordsThatLoopsKeep(*module->getFunction("f")), 5);
  EXPECT_EQ(WordsThatLoopsKeep(*module->getFunction("g")), 0);
}

}  // namespace
}  // namespace tritond::compiler::nvidia
