// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/emulated/emulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler::emulated {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// The text of a module after EmulateNvidia; the status where it fails.
absl::StatusOr<std::string> Emulate(const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  if (!module) return absl::InternalError(error.getMessage().str());
  if (absl::Status status = EmulateNvidia(*module, KernelOptions()); !status.ok()) return status;
  std::string out;
  llvm::raw_string_ostream stream(out);
  if (llvm::verifyModule(*module, &stream)) return absl::InternalError(out);
  module->print(stream, nullptr);
  return out;
}

std::string Kernel(const std::string& body) {
  return absl::StrCat(
      "@global_smem = external addrspace(3) global [0 x i8]\ndefine ptx_kernel void @k(ptr addrspace(1) %p, "
      "i32 %x, i1 %m, float %f) \"nvvm.reqntid\"=\"64\" \"target-cpu\"=\"sm_90\" {\n",
      body, "\n  ret void\n}\n");
}

TEST(EmulateNvidia, MachineInstructionsBecomeCallsByName) {
  const auto out = Emulate(Kernel(R"(  %y = call float asm "ex2.approx.f32 $0, $1;", "=f,f"(float %f))"));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(*out, HasSubstr("ptx:ex2/approx/f32 1 1\\00"));
  EXPECT_THAT(*out, HasSubstr("call void @tritond.execute(ptr %0"));
  EXPECT_THAT(*out, Not(HasSubstr("asm \"")));
  EXPECT_THAT(*out, HasSubstr("\"tritond.kernel\""));
  EXPECT_THAT(*out, Not(HasSubstr("sm_90")));
}

TEST(EmulateNvidia, ReturnsFloatsAsTheirBits) {
  const auto out = Emulate(Kernel(
      R"(  %y = call { float, float, float } asm "mov.b32 $0, $3; mov.b32 $1, $3; mov.b32 $2, $3;", "=f,=f,=f,f"(float %f)
  %z = extractvalue { float, float, float } %y, 2
  store float %z, ptr addrspace(1) %p)"));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(*out, HasSubstr("define internal { i32, i32, i32 } @tritond.ptx"));
  EXPECT_THAT(*out, Not(HasSubstr("call { float")));
}

TEST(EmulateNvidia, AccessesAreCheckedAndPredicated) {
  const auto out = Emulate(Kernel(
      R"(  call void asm sideeffect "@$2 st.global.v2.b32 [$0], {$1, $1};", "l,r,b,~{memory}"(ptr addrspace(1) %p, i32 %x, i1 %m))"));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(*out, HasSubstr("i64 8, i32 1)"));  // check_access of 8 bytes, written
  EXPECT_THAT(*out, ContainsRegex("br i1 .*label %taken, label %next"));
}

TEST(EmulateNvidia, CachePoliciesMeanNothing) {
  const auto out = Emulate(Kernel(
      R"(  %c = call i64 asm "createpolicy.fractional.L2::evict_last.b64 $0;", "=l"()
  %y = call i32 asm sideeffect "ld.global.L2::cache_hint.b32 $0, [$1], $2;", "=r,l,l,~{memory}"(ptr addrspace(1) %p, i64 %c)
  call void asm sideeffect "st.global.L2::cache_hint.b32 [$0], $1, $2;", "l,r,l,~{memory}"(ptr addrspace(1) %p, i32 %y, i64 %c)
  call void asm sideeffect "cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $2;", "l,l,l,~{memory}"(ptr addrspace(1) %p, ptr addrspace(1) %p, i64 %c))"));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(*out, HasSubstr("i32 16, i32 16)"));  // the copy reads as much as it writes
}

TEST(EmulateNvidia, IntrinsicsAreTheInstructionsThatTheyStandFor) {
  const std::pair<const char*, const char*> kRows[] = {
      {"llvm.nvvm.shfl.sync.bfly.i32", "shfl.sync.bfly.b32 $0, $2, $3, $4, $1;"},
      {"llvm.nvvm.fma.rn.ftz.f", "fma.rn.ftz.f32 $0, $1, $2, $3;"},
      {"llvm.nvvm.add.rz.d", "add.rz.f64 $0, $1, $2;"},
      {"llvm.nvvm.fabs.ftz.f32", "abs.ftz.f32 $0, $1;"},
      {"llvm.nvvm.fmax.f", "max.f32 $0, $1, $2;"},
      {"llvm.nvvm.floor.d", "cvt.rmi.f64.f64 $0, $1;"},
      {"llvm.nvvm.trunc.ftz.f", "cvt.rzi.ftz.f32.f32 $0, $1;"},
      {"llvm.nvvm.f2i.rz.ftz", "cvt.rzi.ftz.s32.f32 $0, $1;"},
      {"llvm.nvvm.ull2d.rn", "cvt.rn.f64.u64 $0, $1;"},
      {"llvm.nvvm.ex2.approx.ftz.f32", "ex2.approx.ftz.f32 $0, $1;"},
      {"llvm.nvvm.lg2.approx.f", "lg2.approx.f32 $0, $1;"},
      {"llvm.nvvm.read.ptx.sreg.tid.x", "mov.u32 $0, %tid.x;"},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3",
       "ldmatrix.sync.aligned.m8n8.x2.trans.b16 {$0, $1}, [$2];"},
      {"llvm.minnum.f32", "min.f32 $0, $1, $2;"},
      {"llvm.nvvm.no.such", ""},
      {"llvm.fma.f32", ""},
  };
  for (const auto& [name, ptx] : kRows) EXPECT_EQ(PtxOfIntrinsic(name), ptx) << name;
}

TEST(EmulateNvidia, BarriersTrapsAndAssertionsAreTheRunTimes) {
  const auto out =
      Emulate(absl::StrCat("declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\ndeclare void @__assertfail(ptr, "
                           "ptr, i32, ptr, i64)\n",
                           Kernel("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
                                  "  call void @__assertfail(ptr null, ptr null, i32 1, ptr null, i64 1)")));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(*out, HasSubstr("call void @tritond.barrier(ptr %0)"));
  EXPECT_THAT(*out, HasSubstr("call void @tritond.fail(ptr null, ptr null)"));
}

TEST(EmulateNvidia, ConversionsClamp) {
  const auto out = Emulate(Kernel("  %i = fptosi float %f to i32"));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(*out, HasSubstr("llvm.fptosi.sat.i32.f32"));
}

TEST(EmulateNvidia, NamesWhatItDoesNotKnow) {
  const std::pair<std::string, const char*> kRows[] = {
      {Kernel(R"(  call void asm sideeffect "multimem.red.global.add.u32 [$0], 1;", "r"(i32 %x))"),
       "multimem.red.global"},
      {Kernel(R"(  call void asm sideeffect "cp.reduce.async.bulk x;", ""())"), "no register x"},
      {Kernel(R"(  %y = call i32 asm "mov.u32 $0, %pm0;", "=r"())"), "%pm0"},
      {Kernel(R"(  %y = call i32 asm "ld.param.u32 $0, [$1];", "=r,l"(ptr addrspace(1) %p))"), "ld.param.u32"},
      {absl::StrCat("declare void @llvm.nvvm.tcgen05.wait.ld()\n", Kernel("  call void @llvm.nvvm.tcgen05.wait.ld()")),
       "llvm.nvvm.tcgen05.wait.ld"},
      {absl::StrCat("module asm \"x\"\n", Kernel("")), "assembly outside of functions"},
      {absl::StrCat("@other = internal addrspace(3) global [4 x i8] undef\n", Kernel("")), "other"},
  };
  for (const auto& [text, what] : kRows) {
    const auto out = Emulate(text);
    ASSERT_FALSE(out.ok()) << what;
    EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument) << out.status();
    EXPECT_THAT(std::string(out.status().message()), HasSubstr(what));
  }
}

}  // namespace
}  // namespace tritond::compiler::emulated
