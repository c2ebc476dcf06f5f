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

// A loop that carries the addresses of `rows` times `columns` elements, and keeps `words` other words.
struct Block {
  int rows, columns, words = 240;
  const char* widened = "sext";
  const char* step = "%step";  // of the addresses of the second column
  const char* used = "";       // instructions in front of the loop's last one
  const char* unit = "i8";     // of distances and steps
};

std::string TextOf(const Block& block) {
  std::string before, phis, loads, steps;
  for (int row = 0; row < block.rows; ++row)
    absl::StrAppend(&before, "  %i", row, " = mul i64 %step, ", row + 3, "\n  %r", row,
                    " = getelementptr i8, ptr addrspace(1) %q, i64 %i", row, "\n");
  for (int column = 0; column < block.columns; ++column)
    absl::StrAppend(&before, "  %n", column, " = mul i32 %n, ", column + 3, "\n  %w", column, " = ", block.widened,
                    " i32 %n", column, " to i64\n  %c", column, " = shl i64 %w", column, ", 1\n");
  for (int i = 0; i < block.rows * block.columns; ++i) {
    const int row = i / block.columns, column = i % block.columns;
    absl::StrAppend(&before, "  %s", i, " = getelementptr ", block.unit, ", ptr addrspace(1) %r", row, ", i64 %c",
                    column, "\n");
    absl::StrAppend(&phis, "  %p", i, " = phi ptr addrspace(1) [ %s", i, ", %entry ], [ %a", i, ", %loop ]\n");
    absl::StrAppend(&loads, "  %x", i, " = load volatile half, ptr addrspace(1) %p", i, "\n");
    absl::StrAppend(&steps, "  %a", i, " = getelementptr ", block.unit, ", ptr addrspace(1) %p", i, ", i64 ",
                    column == 1 ? block.step : "%step", "\n");
  }
  return absl::StrCat("define void @f(ptr addrspace(1) %q, i32 %n, i64 %step, i64 %other, i1 %c) {\nentry:\n", before,
                      "  %v = load volatile <", block.words, " x i32>, ptr addrspace(1) %q\n  br label %loop\nloop:\n",
                      phis, loads, steps, block.used, "  br i1 %c, label %loop, label %last\nlast:\n  store volatile <",
                      block.words, " x i32> %v, ptr addrspace(1) %q\n  ret void\n}\n");
}

// How many addresses the loop carries in the end; -1: the result is no module.
int Carried(const Block& block) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(TextOf(block), error, context);
  if (!module) return ADD_FAILURE() << error.getMessage().str(), -1;
  CarryRows(*module);
  if (llvm::verifyModule(*module, &llvm::errs())) return -1;
  int found = 0;
  for (llvm::Instruction& instruction : llvm::instructions(*module->getFunction("f")))
    found += llvm::isa<llvm::PHINode>(instruction);
  return found;
}

TEST(CarryRows, LoopsThatLackRegistersCarryOneAddressARow) {
  EXPECT_EQ(Carried({.rows = 4, .columns = 4}), 4);
  EXPECT_EQ(Carried({.rows = 1, .columns = 16}), 1);
}

TEST(CarryRows, DistancesMayBeElements) { EXPECT_EQ(Carried({.rows = 4, .columns = 4, .unit = "half"}), 4); }

// 32 words of addresses, as many others as the loop keeps, and 16 that it loads.
TEST(CarryRows, WhatIsLoadedTakesRegistersToo) {
  EXPECT_EQ(Carried({.rows = 4, .columns = 4, .words = 210}), 4);
  EXPECT_EQ(Carried({.rows = 4, .columns = 4, .words = 205}), 16);
}

TEST(CarryRows, LoopsWithRegistersForAllAddressesStay) {
  EXPECT_EQ(Carried({.rows = 4, .columns = 4, .words = 160}), 16);
}

TEST(CarryRows, DistancesThatTakeAsManyWordsAsAddressesStay) {
  EXPECT_EQ(Carried({.rows = 16, .columns = 1}), 16);
  EXPECT_EQ(Carried({.rows = 1, .columns = 16, .widened = "zext"}), 16) << "two words each";
}

TEST(CarryRows, WhatTakesOtherStepsIsCountedApart) {
  EXPECT_EQ(Carried({.rows = 4, .columns = 4, .step = "%other"}), 8);
}

TEST(CarryRows, AnAddressMayBeStoredAtItself) {
  const char* stored = "  store volatile ptr addrspace(1) %p5, ptr addrspace(1) %p5\n";
  EXPECT_EQ(Carried({.rows = 4, .columns = 4, .used = stored}), 4);
}

TEST(CarryRows, AddressesThatOthersNeedAfterTheirStepStay) {
  EXPECT_EQ(Carried({.rows = 4, .columns = 4, .used = "  %z = load volatile half, ptr addrspace(1) %a5\n"}), 5);
}

}  // namespace
}  // namespace tritond::compiler::nvidia
