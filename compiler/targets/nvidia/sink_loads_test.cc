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

// The names of the instructions of @f's only block after sinking, stores by "store".
std::vector<std::string> Sunk(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(
      "declare void @use(float)\ndefine void @f(ptr addrspace(3) %p, float %s) {\n" + body + "  ret void\n}\n", error,
      context);
  if (!module) return {error.getMessage().str()};
  SinkSharedLoads(*module);
  if (llvm::verifyModule(*module)) return {"broken"};
  std::vector<std::string> names;
  for (llvm::Instruction& instruction : module->getFunction("f")->front())
    names.push_back(llvm::isa<llvm::StoreInst>(instruction) ? "store" : instruction.getName().str());
  names.pop_back();  // ret
  return names;
}

TEST(SinkSharedLoads, MovesLoadsToTheirFirstUse) {
  EXPECT_THAT(Sunk("  %x = load float, ptr addrspace(3) %p\n"
                   "  %q = getelementptr float, ptr addrspace(3) %p, i32 1\n"
                   "  %y = load float, ptr addrspace(3) %q\n"
                   "  %a = fadd float %x, %s\n"
                   "  %b = fadd float %y, %a\n"),
              ElementsAre("q", "x", "a", "y", "b"));
}

TEST(SinkSharedLoads, TakesTheUnpackingAlong) {
  EXPECT_THAT(Sunk("  %v = load <2 x float>, ptr addrspace(3) %p\n"
                   "  %x = extractelement <2 x float> %v, i32 0\n"
                   "  %y = extractelement <2 x float> %v, i32 1\n"
                   "  %a = fadd float %s, 1.0\n"
                   "  %b = fadd float %y, %a\n"
                   "  %c = fadd float %x, %b\n"),
              ElementsAre("a", "v", "y", "b", "x", "c"));
}

TEST(SinkSharedLoads, StopsAtWrites) {
  EXPECT_THAT(Sunk("  %x = load float, ptr addrspace(3) %p\n"
                   "  store float %s, ptr addrspace(3) %p\n"
                   "  %a = fadd float %x, %s\n"),
              ElementsAre("x", "store", "a"));
}

TEST(SinkSharedLoads, LeavesGlobalLoadsAlone) {
  EXPECT_THAT(Sunk("  %g = inttoptr i64 64 to ptr addrspace(1)\n"
                   "  %x = load float, ptr addrspace(1) %g\n"
                   "  %a = fadd float %s, 1.0\n"
                   "  %b = fadd float %x, %a\n"),
              ElementsAre("g", "x", "a", "b"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
