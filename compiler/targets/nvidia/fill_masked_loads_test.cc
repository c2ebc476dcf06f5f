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

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kWord[] =
    "  %w$ = call i32 asm sideeffect \"@$2 ld.global.b32 $0, [$1];\", \"=r,l,b,~{memory}\""
    "(ptr addrspace(1) %p, i1 %c)\n";

// The texts of @f's assembly afterwards, each with its constraints.
std::vector<std::string> Filled(int words, const std::string& more = "") {
  std::string body;
  for (int i = 0; i < words; ++i) {
    std::string word = kWord;
    word.replace(word.find("%w$") + 2, 1, std::to_string(i));
    body += word;
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      absl::StrCat("define void @f(ptr addrspace(1) %p, i1 %c) {\n", body, more, "  ret void\n}\n"), error, context);
  if (!module) return {error.getMessage().str()};
  FillMaskedLoads(*module);
  if (llvm::verifyModule(*module)) return {"broken"};
  std::vector<std::string> texts;
  for (llvm::Instruction& instruction : llvm::instructions(*module->getFunction("f"))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
    if (assembly) texts.push_back((assembly->getAsmString() + " " + assembly->getConstraintString()).str());
  }
  return texts;
}

TEST(FillMaskedLoads, SeveralLoadsGetZeros) {
  EXPECT_THAT(Filled(3), AllOf(SizeIs(3), Each("mov.b32 $0, 0x0; @$2 ld.global.b32 $0, [$1]; =&r,l,b,~{memory}")));
}

TEST(FillMaskedLoads, OneOrTwoStay) { EXPECT_THAT(Filled(2), AllOf(SizeIs(2), Each(StartsWith("@$2 ld.global")))); }

TEST(FillMaskedLoads, EachRegisterOfALoadIsFilled) {
  const std::string pair =
      "  %v = call { i64, i64 } asm sideeffect \"@$3 ld.global.v2.b64 {$0, $1}, [$2];\", \"=l,=l,l,b,~{memory}\""
      "(ptr addrspace(1) %p, i1 %c)\n";
  EXPECT_THAT(Filled(2, pair).back(),
              "mov.b64 $0, 0x0; mov.b64 $1, 0x0; @$3 ld.global.v2.b64 {$0, $1}, [$2]; =&l,=&l,l,b,~{memory}");
}

TEST(FillMaskedLoads, LoadsThatNameOtherValuesKeepThem) {
  const std::string tied =
      "  %v = call i32 asm sideeffect \"@$3 ld.global.b32 $0, [$2];\", \"=r,0,l,b,~{memory}\""
      "(i32 7, ptr addrspace(1) %p, i1 %c)\n";
  EXPECT_THAT(Filled(3, tied).back(), StartsWith("@$3 ld.global"));
}

TEST(FillMaskedLoads, OthersStay) {
  const std::string others =
      "  %a = call i32 asm sideeffect \"mov.b32 $0, 0x1; @$2 ld.global.b32 $0, [$1];\", \"=&r,l,b,~{memory}\""
      "(ptr addrspace(1) %p, i1 %c)\n"
      "  %b = call i32 asm sideeffect \"ld.global.b32 $0, [$1];\", \"=r,l,~{memory}\"(ptr addrspace(1) %p)\n"
      "  call void asm sideeffect \"@$1 st.global.b32 [$0], 0;\", \"l,b,~{memory}\"(ptr addrspace(1) %p, i1 %c)\n";
  EXPECT_THAT(Filled(0, others), AllOf(SizeIs(3), Each(Not(HasSubstr("0x0;")))));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
