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

// The named instructions of a block of @f, of the first one without a name, in their new order; without phis.
std::vector<std::string> Ordered(const std::string& body, llvm::StringRef block = "") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("define void @f(ptr addrspace(1) %p, i32 %i, float %x) {\n", body, "}\n"), error, context);
  if (!module) return {error.getMessage().str()};
  OrderByUse(*module);
  if (llvm::verifyModule(*module)) return {"broken"};
  std::vector<std::string> names;
  llvm::Function& function = *module->getFunction("f");
  for (llvm::BasicBlock& each : function) {
    if (block.empty() ? &each != &function.front() : each.getName() != block) continue;
    for (llvm::Instruction& instruction : each)
      if (instruction.hasName() && !llvm::isa<llvm::PHINode>(instruction)) names.push_back(instruction.getName().str());
  }
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

// All factors wait for a second sum. Products wait, too, for the first sum to begin, where there are registers for all.
TEST(OrderByUse, ASumComesBeforeWhatIsAddedToItWhereRegistersAreFew) {
  auto ordered = [](int others) {
    const std::string words = absl::StrCat("<", others, " x i32>");
    return Ordered(absl::StrCat("  %v = load volatile ", words, ", ptr addrspace(1) %p\n",
                                "  %a0 = load float, ptr addrspace(1) %p\n"
                                "  %a1 = load float, ptr addrspace(1) %p\n"
                                "  %a2 = load float, ptr addrspace(1) %p\n"
                                "  %a3 = load float, ptr addrspace(1) %p\n"
                                "  %b0 = fmul float %a0, %x\n"
                                "  %b1 = fmul float %a1, %x\n"
                                "  %b2 = fmul float %a2, %x\n"
                                "  %b3 = fmul float %a3, %x\n"
                                "  %s1 = fadd float %b0, %b1\n"
                                "  %s2 = fadd float %b2, %s1\n"
                                "  %s3 = fadd float %b3, %s2\n"
                                "  store float %s3, ptr addrspace(1) %p\n"
                                "  %t1 = fadd float %a0, %a1\n"
                                "  %t2 = fadd float %t1, %a2\n"
                                "  %t3 = fadd float %t2, %a3\n"
                                "  store float %t3, ptr addrspace(1) %p\n",
                                "  store volatile ", words, " %v, ptr addrspace(1) %p\n  ret void\n"));
  };
  EXPECT_THAT(ordered(255),
              ElementsAre("v", "a0", "a1", "a2", "a3", "b0", "b1", "s1", "b2", "s2", "b3", "s3", "t1", "t2", "t3"));
  EXPECT_THAT(ordered(240),
              ElementsAre("v", "a0", "a1", "a2", "a3", "b3", "b2", "b0", "b1", "s1", "s2", "s3", "t1", "t2", "t3"));
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

std::string Loop(const std::string& phis, const std::string& body) {
  return absl::StrCat("  br label %loop\nloop:\n", phis, body,
                      "  %more = fcmp olt float %x, 1.0\n  br i1 %more, label %loop, label %end\nend:\n  ret void\n");
}

// The greater one of two is needed twice. Each element is added before the next one is looked at.
TEST(OrderByUse, ASumIsMadeElementByElement) {
  const std::string phi = "  %sum = phi float [0.0, %0], [%s1, %loop]\n";
  const std::string body =
      "  %a0 = load volatile float, ptr addrspace(1) %p\n"
      "  %a1 = load volatile float, ptr addrspace(1) %p\n"
      "  %m0 = fmul float %a0, %x\n"
      "  %m1 = fmul float %a1, %x\n"
      "  %n0 = fmul float %m0, %m0\n"
      "  %n1 = fmul float %m1, %m1\n"
      "  %d0 = fsub float %a0, %n0\n"
      "  %d1 = fsub float %a1, %n1\n"
      "  %s0 = fadd float %sum, %d0\n"
      "  %s1 = fadd float %s0, %d1\n";
  EXPECT_THAT(Ordered(Loop(phi, body), "loop"),
              ElementsAre("a0", "a1", "m0", "n0", "d0", "s0", "m1", "n1", "d1", "s1", "more"));
}

// Two sums take the same factors. Sum by sum, all factors would have to wait for the second one.
TEST(OrderByUse, SumsThatShareFactorsGoOnTogether) {
  std::string phis = "  %s = phi float [0.0, %0], [%s3, %loop]\n  %t = phi float [0.0, %0], [%t3, %loop]\n", body;
  std::vector<std::string> expected;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&body, "  %a", i, " = load volatile half, ptr addrspace(1) %p\n");
  for (int i = 0; i < 4; ++i) {
    const std::string s = i == 0 ? "%s" : absl::StrCat("%s", i - 1), t = i == 0 ? "%t" : absl::StrCat("%t", i - 1);
    absl::StrAppend(&body, "  %w", i, " = fpext half %a", i, " to double\n  %v", i, " = fptrunc double %w", i,
                    " to float\n");
    absl::StrAppend(&body, "  %s", i, " = fadd float ", s, ", %v", i, "\n  %t", i, " = fmul float ", t, ", %v", i,
                    "\n");
  }
  std::vector<std::string> order = Ordered(Loop(phis, body), "loop");
  ASSERT_EQ(order.size(), 21);
  EXPECT_THAT(std::vector<std::string>(order.begin() + 4, order.begin() + 12),
              ElementsAre("w0", "v0", "s0", "t0", "w1", "v1", "s1", "t1"));
}

// Sums of two loaded values each, which wait for a store of all of them; `more` values are live all the time.
std::string SumsThatWait(int sums, int more) {
  std::string body, stores;
  for (int i = 0; i < more; ++i) {
    absl::StrAppend(&body, "  %m", i, " = load volatile float, ptr addrspace(1) %p\n");
    absl::StrAppend(&stores, "  store volatile float %m", i, ", ptr addrspace(1) %p\n");
  }
  for (int i = 0; i < sums; ++i) {
    absl::StrAppend(&body, "  %a", i, " = load volatile float, ptr addrspace(1) %p\n  %b", i,
                    " = load volatile float, ptr addrspace(1) %p\n  %s", i, " = fadd float %a", i, ", %b", i, "\n");
    absl::StrAppend(&stores, "  store volatile float %s", i, ", ptr addrspace(1) %p\n");
  }
  return absl::StrCat(body, stores, "  ret void\n");
}

// A sum that waits for its use keeps two values, one that has been made is one.
TEST(OrderByUse, WhatMakesLittleOfMuchStays) {
  EXPECT_THAT(Ordered(SumsThatWait(4, 0)),
              ElementsAre("a0", "b0", "s0", "a1", "b1", "s1", "a2", "b2", "s2", "a3", "b3", "s3"));
}

TEST(OrderByUse, UnlessThatSavesLittle) {
  const std::vector<std::string> order = Ordered(SumsThatWait(2, 10));
  EXPECT_THAT(std::vector<std::string>(order.begin() + 10, order.end()),
              ElementsAre("a0", "b0", "a1", "b1", "s0", "s1"));
}

TEST(OrderByUse, UnlessAnotherBlockNeedsAsMuch) {
  std::string body = SumsThatWait(4, 0);
  body.replace(body.rfind("ret void"), 8, "br label %second\nsecond:");
  std::string loads, stores;
  for (int i = 0; i < 8; ++i) {
    absl::StrAppend(&loads, "  %v", i, " = load volatile float, ptr addrspace(1) %p\n");
    absl::StrAppend(&stores, "  store volatile float %v", i, ", ptr addrspace(1) %p\n");
  }
  const std::vector<std::string> order = Ordered(absl::StrCat(body, loads, stores, "  ret void\n"));
  EXPECT_THAT(std::vector<std::string>(order.begin(), order.begin() + 4), ElementsAre("a0", "b0", "a1", "b1"));
}

constexpr char kProduct[] = "  call void asm sideeffect \"wgmma.mma_async\", \"\"()\n";

TEST(OrderByUse, FunctionsOfTheMatrixUnitsStay) {
  EXPECT_THAT(Ordered(absl::StrCat(kProduct, kTwoElements)),
              ElementsAre("j", "p0", "p1", "a0", "a1", "b0", "b1", "c0", "c1", "s"));
}

// A product, and three values of so many words each. Only these need %n.
std::string WideBehindProduct(int words) {
  const std::string type = absl::StrCat("<", words, " x float>");
  std::string body = absl::StrCat("  %n = fadd float %x, 1.0\n", kProduct), uses;
  for (int i = 0; i < 3; ++i) {
    absl::StrAppend(&body, "  %w", i, " = insertelement ", type, " poison, float %n, i32 ", i, "\n");
    absl::StrAppend(&uses, "  %c", i, " = extractelement ", type, " %w", i, ", i32 ", i, "\n  store volatile float %c",
                    i, ", ptr addrspace(1) %p\n");
  }
  return body + uses;
}

TEST(OrderByUse, WhatFollowsTheLastProductIsOrderedForABlockMore) {
  EXPECT_THAT(Ordered(WideBehindProduct(90) + "  ret void\n"), ElementsAre("n", "w0", "c0", "w1", "c1", "w2", "c2"));
}

TEST(OrderByUse, NoBlockMoreFitsWhereProductsNeedAsMuch) {
  const std::string wide = "<300 x i32>";
  EXPECT_THAT(Ordered(absl::StrCat("  %v = load volatile ", wide, ", ptr addrspace(1) %p\n  store volatile ", wide,
                                   " %v, ptr addrspace(1) %p\n", WideBehindProduct(90), "  ret void\n")),
              ElementsAre("v", "n", "w0", "w1", "w2", "c0", "c1", "c2"));
}

TEST(OrderByUse, LoopsOfProductsStay) {
  EXPECT_THAT(Ordered(Loop("", WideBehindProduct(90)), "loop"),
              ElementsAre("n", "w0", "w1", "w2", "c0", "c1", "c2", "more"));
}

// %e0 and %e1 have 60 words each. They do not take as many once more with %m.
TEST(OrderByUse, PartsOfAProductCountOnce) {
  std::string body =
      "  %m = call {<60 x float>, <60 x float>} asm sideeffect \"wgmma.mma_async\", \"=r,=r\"()\n"
      "  %e0 = extractvalue {<60 x float>, <60 x float>} %m, 0\n"
      "  %e1 = extractvalue {<60 x float>, <60 x float>} %m, 1\n";
  for (int i = 0; i < 4; ++i)
    absl::StrAppend(&body, "  %w", i, i % 2 ? " = fmul" : " = fadd", " <60 x float> %e", i / 2, ", %e", i / 2, "\n");
  for (int i = 0; i < 4; ++i)
    absl::StrAppend(&body, "  %c", i, " = extractelement <60 x float> %w", i, ", i32 0\n  store volatile float %c", i,
                    ", ptr addrspace(1) %p\n");
  EXPECT_THAT(Ordered(body + "  ret void\n"),
              ElementsAre("m", "e0", "e1", "w0", "c0", "w1", "c1", "w2", "c2", "w3", "c3"));
}

// %k is one word of three, which would have to be kept for it.
TEST(OrderByUse, WhatTakesMoreThanItMakesStaysBeforeProducts) {
  const std::string body = absl::StrCat(
      "  %m = load volatile <3 x float>, ptr addrspace(1) %p\n  %k = extractelement <3 x float> %m, i32 0\n",
      WideBehindProduct(90), "  store volatile float %k, ptr addrspace(1) %p\n  ret void\n");
  EXPECT_THAT(Ordered(body), ElementsAre("m", "k", "n", "w0", "c0", "w1", "c1", "w2", "c2"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
