// SPDX-License-Identifier: Apache-2.0
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

constexpr char kProduct[] = "  call void asm sideeffect \"wgmma.mma_async;\", \"~{memory}\"()\n";
constexpr char kWide[] = "  %step = zext i32 %n to i64\n";
constexpr char kCopy[] =
    "  %a = ptrtoint ptr addrspace(1) %p to i64\n"
    "  call void asm sideeffect \"cp.async.cg.shared.global [0], [$0], 16;\", \"l,~{memory}\"(i64 %a)\n";
constexpr char kAdvance[] = "  %next = getelementptr i8, ptr addrspace(1) %p, i64 %step\n";

// How many sums of `body`, which a loop repeats, have a carry, or another instruction; -1: the result is no module. The
// loop carries the pointer %p, which is %next for the next iteration.
int Carried(const std::string& before, const std::string& body, const std::string& after = "",
            llvm::StringRef instruction_text = "addc") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("define void @f(ptr addrspace(1) %q, i32 %n, i1 %c) {\nentry:\n", before,
                   "  br label %loop\nloop:\n  %p = phi ptr addrspace(1) [ %q, %entry ], [ %next, %loop ]\n", body,
                   "  br i1 %c, label %loop, label %last\nlast:\n", after, "  ret void\n}\n"),
      error, context);
  if (!module) return ADD_FAILURE() << error.getMessage().str(), -1;
  CarrySums(*module);
  if (llvm::verifyModule(*module)) return -1;
  int found = 0;
  for (llvm::Instruction& instruction : llvm::instructions(*module->getFunction("f"))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    auto* text = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
    found += text && llvm::StringRef(text->getAsmString()).contains(instruction_text);
  }
  return found;
}

TEST(CarrySums, CopiesBesideProductsAdvanceWithCarries) {
  EXPECT_EQ(Carried(kWide, absl::StrCat(kCopy, kAdvance, kProduct)), 1);
  EXPECT_EQ(Carried("", absl::StrCat(kCopy, "  %next = getelementptr i8, ptr addrspace(1) %p, i64 64\n", kProduct)), 1);
}

TEST(CarrySums, SoDoAddressesThatTheLoopMovesAsAWhole) {
  EXPECT_EQ(Carried(kWide, absl::StrCat(
                               "  %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n  %j = add i64 %i, %step\n"
                               "  %s = getelementptr i8, ptr addrspace(1) %q, i64 %i\n"
                               "  %a = ptrtoint ptr addrspace(1) %s to i64\n"
                               "  call void asm sideeffect \"cp.async.ca.shared.global [0], [$0], 4;\", \"l\"(i64 %a)\n"
                               "  %next = getelementptr i8, ptr addrspace(1) %p, i64 0\n",
                               kProduct)),
            1);
}

TEST(CarrySums, ConstantsWithinACopyStay) {
  EXPECT_EQ(
      Carried("", absl::StrCat("  %s = getelementptr i8, ptr addrspace(1) %p, i64 64\n"
                               "  %a = ptrtoint ptr addrspace(1) %s to i64\n"
                               "  call void asm sideeffect \"cp.async.ca.shared.global [0], [$0], 4;\", \"l\"(i64 %a)\n"
                               "  %next = select i1 %c, ptr addrspace(1) %p, ptr addrspace(1) %q\n",
                               kProduct)),
      0);
}

TEST(CarrySums, ConstantStepsBesideOthersStay) {
  EXPECT_EQ(Carried(kWide, absl::StrCat(
                               "  %r = phi ptr addrspace(1) [ %q, %entry ], [ %far, %loop ]\n"
                               "  %b = ptrtoint ptr addrspace(1) %r to i64\n"
                               "  call void asm sideeffect \"cp.async.ca.shared.global [0], [$0], 4;\", \"l\"(i64 %b)\n"
                               "  %far = getelementptr i8, ptr addrspace(1) %r, i64 64\n",
                               kCopy, kAdvance, kProduct)),
            1);
}

TEST(CarrySums, OtherLoopsStay) {
  EXPECT_EQ(Carried(kWide, absl::StrCat(kCopy, kAdvance)), 0) << "no product";
  EXPECT_EQ(Carried(kWide, absl::StrCat(kAdvance, kProduct)), 0) << "no copy";
}

TEST(CarrySums, AStepThatTheLoopWidensStays) {
  EXPECT_EQ(Carried("", absl::StrCat(kCopy,
                                     "  %m = load volatile i32, ptr addrspace(1) %q\n"
                                     "  %step = sext i32 %m to i64\n",
                                     kAdvance, kProduct)),
            0);
}

// How many addresses that an iteration computes from a number of 32 bits take one instruction, where a wait leaves so
// many products in flight.
int AtOnce(const std::string& pending, const std::string& address, int waits = 1) {
  std::string wait;
  for (int i = 0; i < waits; ++i)
    absl::StrAppend(&wait, "  call void asm sideeffect \"wgmma.wait_group.sync.aligned ", pending,
                    ";\", \"~{memory}\"()\n");
  return Carried("",
                 absl::StrCat("  %m = load volatile i32, ptr addrspace(1) %q\n", address,
                              "  %a = ptrtoint ptr addrspace(1) %s to i64\n"
                              "  call void asm sideeffect \"cp.async.ca.shared.global [0], [$0], 4;\", \"l\"(i64 %a)\n"
                              "  %next = getelementptr i8, ptr addrspace(1) %p, i64 0\n",
                              kProduct, wait),
                 "", "mad.wide");
}

TEST(CarrySums, AddressesAtADistanceAreOneInstruction) {
  const std::string wide = "  %w = sext i32 %m to i64\n";
  const std::string halves = "  %s = getelementptr half, ptr addrspace(1) %q, i64 %w\n";
  EXPECT_EQ(AtOnce("1", wide + halves), 1);
  EXPECT_EQ(AtOnce("1", "  %w = zext i32 %m to i64\n" + halves), 1);
  const std::string shifted = "  %v = shl nsw i64 %w, 2\n  %s = getelementptr i8, ptr addrspace(1) %q, i64 %v\n";
  EXPECT_EQ(AtOnce("1", wide + shifted), 1);
  EXPECT_EQ(AtOnce("0", wide + halves), 0) << "no product in flight";
  EXPECT_EQ(AtOnce("1", wide + halves, /*waits=*/2), 0) << "an unrolled loop";
  EXPECT_EQ(AtOnce("1", wide + "  %s = getelementptr i8, ptr addrspace(1) %q, i64 %w\n"), 0) << "bytes";
}

TEST(CarrySums, LoopsThatRegistersDoNotHoldStay) {
  const std::string body = absl::StrCat(kCopy, kAdvance, kProduct);
  auto with_words = [&](int words) {
    return Carried(absl::StrCat(kWide, "  %v = load volatile <", words, " x i32>, ptr addrspace(1) %q\n"), body,
                   absl::StrCat("  store volatile <", words, " x i32> %v, ptr addrspace(1) %q\n"));
  };
  EXPECT_EQ(with_words(200), 1);
  EXPECT_EQ(with_words(300), 0);
}

}  // namespace
}  // namespace tritond::compiler::nvidia
