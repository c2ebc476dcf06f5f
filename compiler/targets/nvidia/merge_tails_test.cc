// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

struct Found {
  int returns = 0, phis = 0, products = 0;
  bool operator==(const Found&) const = default;
};

// What the kernel has then whose blocks "a" and "b" follow `entry`.
Found Merged(const std::string& entry, const std::string& a, const std::string& b) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                   "declare void @llvm.lifetime.end.p0(ptr)\n"
                   "define ptx_kernel void @f(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n) {\n",
                   entry, "  br i1 %c, label %a, label %b\na:\n", a, "b:\n", b, "}\n"),
      error, context);
  if (!module) return {-1};
  MergeTails(*module);
  if (llvm::verifyModule(*module)) return {-2};
  Found found;
  for (llvm::Instruction& instruction : llvm::instructions(*module->getFunction("f"))) {
    found.returns += llvm::isa<llvm::ReturnInst>(instruction);
    found.phis += llvm::isa<llvm::PHINode>(instruction);
    found.products += instruction.getOpcode() == llvm::Instruction::Mul;
  }
  return found;
}

const char kByArgument[] = "  %c = icmp eq i32 %n, 0\n";

// Products of `first` with %n, one of the other, the last of which is stored.
std::string Products(const std::string& name, const std::string& first, int count, const std::string& to = "%p") {
  std::string text, last = first;
  for (int i = 0; i < count; ++i) {
    const std::string product = absl::StrCat("%", name, i);
    absl::StrAppend(&text, "  ", product, " = mul i32 ", last, ", %n\n");
    last = product;
  }
  return absl::StrCat(text, "  store i32 ", last, ", ptr addrspace(1) ", to, "\n  ret void\n");
}

TEST(MergeTails, VersionsThatEndAlikeShareTheirEnd) {
  EXPECT_EQ(Merged(kByArgument, "  %x = load i32, ptr addrspace(1) %p\n" + Products("x", "%x", 20),
                   "  %y = load i16, ptr addrspace(1) %p\n  %z = zext i16 %y to i32\n" + Products("y", "%z", 20)),
            (Found{.returns = 1, .phis = 1, .products = 20}));
}

TEST(MergeTails, WhatOperandsTellApartIsBeforeTheEnd) {
  const std::string a = "  %x = add i32 %n, 1\n  %first = mul i32 %x, %n\n  %square = mul i32 %first, %first\n",
                    b = "  %y = sub i32 %n, 1\n  %second = mul i32 %y, %n\n  %product = mul i32 %second, %y\n";
  EXPECT_EQ(Merged(kByArgument, a + Products("x", "%square", 20), b + Products("y", "%product", 20)),
            (Found{.returns = 1, .phis = 2, .products = 23}));
}

TEST(MergeTails, ThreadsThatPartMayEndApart) {
  EXPECT_EQ(
      Merged("  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %c = icmp eq i32 %t, 0\n",
             "  %x = add i32 %n, 1\n" + Products("x", "%x", 20), "  %y = sub i32 %n, 1\n" + Products("y", "%y", 20)),
      (Found{.returns = 2, .phis = 0, .products = 40}));
}

TEST(MergeTails, ConstantsStayConstants) {
  EXPECT_EQ(Merged(kByArgument, Products("x", "3", 20), Products("y", "5", 20)),
            (Found{.returns = 1, .phis = 1, .products = 21}));
}

TEST(MergeTails, ShortEndsStay) {
  EXPECT_EQ(Merged(kByArgument, Products("x", "%n", 4), Products("y", "%n", 4)),
            (Found{.returns = 2, .phis = 0, .products = 8}));
}

TEST(MergeTails, ManyPhisAreNotWorthIt) {
  std::string a, b;
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&a, "  %x", i, " = add i32 %n, ", i, "\n");
    absl::StrAppend(&b, "  %y", i, " = sub i32 %n, ", i, "\n");
  }
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&a, "  store volatile i32 %x", i, ", ptr addrspace(1) %p\n");
    absl::StrAppend(&b, "  store volatile i32 %y", i, ", ptr addrspace(1) %p\n");
  }
  EXPECT_EQ(Merged(kByArgument, a + "  ret void\n", b + "  ret void\n"), (Found{.returns = 2}));
}

TEST(MergeTails, WaitsForProductsStay) {
  const std::string wait = "\"wgmma.wait_group.sync.aligned 0;\", \"=r,0\"(i32 ";
  const std::string a = "  %u = add i32 %n, 1\n  %x = call i32 asm sideeffect " + wait + "%u)\n";
  const std::string b = "  %v = sub i32 %n, 1\n  %y = call i32 asm sideeffect " + wait + "%v)\n";
  EXPECT_EQ(Merged(kByArgument, a + Products("x", "%x", 20), b + Products("y", "%y", 20)),
            (Found{.returns = 1, .phis = 1, .products = 20}));
}

TEST(MergeTails, LifetimesAreThoseOfAllocas) {
  const std::string entry = std::string(kByArgument) + "  %s = alloca i32\n  %t = alloca i32\n";
  auto version = [](const std::string& memory, const std::string& name) {
    return absl::StrCat("  store i32 %n, ptr ", memory, "\n  %", name, " = load i32, ptr ", memory,
                        "\n  call void @llvm.lifetime.end.p0(ptr ", memory, ")\n", Products(name, "%" + name, 20));
  };
  EXPECT_EQ(Merged(entry, version("%s", "x"), version("%t", "y")), (Found{.returns = 1, .phis = 1, .products = 20}));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
