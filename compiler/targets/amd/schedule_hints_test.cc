// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_replace.h"
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/own_options.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler::amd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A loop of products, with exponentials of them or without.
constexpr char kIr[] = R"(
define amdgpu_kernel void @kernel(ptr addrspace(1) %p, <4 x half> %a, i32 %n) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %i1, %loop ]
  %s = phi <4 x float> [ zeroinitializer, %0 ], [ %e, %loop ]
  %d = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> %a, <4 x half> %a, <4 x float> %s, i32 0, i32 0, i32 0)
  %e = FUNCTION <4 x float> OPERANDS
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %loop, label %end
end:
  %last = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> %a, <4 x half> %a, <4 x float> %e, i32 0, i32 0, i32 0)
  store <4 x float> %last, ptr addrspace(1) %p
  ret void
}
declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half>, <4 x half>, <4 x float>, i32, i32, i32)
declare <4 x float> @llvm.exp2.v4f32(<4 x float>)
)";

std::string WithHint(const std::string& hint, bool has_exponentials) {
  const std::string ir =
      absl::StrReplaceAll(kIr, {{"FUNCTION", has_exponentials ? "call" : "fadd"},
                                {"OPERANDS", has_exponentials ? "@llvm.exp2.v4f32(<4 x float> %d)" : "%d, %d"}});
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, error, context);
  if (!module) return error.getMessage().str();
  KernelOptions options;
  options.own.Set(kScheduleHint, hint);
  ApplyScheduleHints(*module, options);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

TEST(ScheduleHints, AttentionIsForLoopsWithExponentials) {
  const std::string text = WithHint("attention", true);
  const size_t hint = text.find("call void @llvm.amdgcn.iglp.opt(i32 2)");
  ASSERT_NE(hint, std::string::npos) << text;
  EXPECT_GT(hint, text.find("loop:"));
  EXPECT_LT(hint, text.find("end:"));
  EXPECT_EQ(text.find("call void @llvm.amdgcn.iglp.opt", hint + 1), std::string::npos) << "outside of the loop, too";
  EXPECT_THAT(WithHint("attention", false), Not(HasSubstr("iglp.opt")));
}

TEST(ScheduleHints, EachDoesItsOwn) {
  EXPECT_THAT(WithHint("local-prefetch", false), HasSubstr("call void @llvm.amdgcn.iglp.opt(i32 0)"));
  EXPECT_THAT(WithHint("memory-bound-attention", true),
              AllOf(HasSubstr("\"amdgpu-sched-strategy\"=\"iterative-ilp\""), Not(HasSubstr("iglp.opt"))));
  EXPECT_THAT(WithHint("attention,memory-bound-attention", true),
              AllOf(HasSubstr("\"amdgpu-sched-strategy\"=\"iterative-ilp\""), HasSubstr("iglp.opt(i32 2)")));
  for (const char* hint : {"", "none", "None"})
    EXPECT_THAT(WithHint(hint, true), AllOf(Not(HasSubstr("iglp.opt")), Not(HasSubstr("sched-strategy"))));
}

TEST(ScheduleHints, OthersAreRefused) {
  OwnOptions own;
  EXPECT_TRUE(CheckScheduleHint(own).ok());
  own.Set(kScheduleHint, "attention,none");
  EXPECT_TRUE(CheckScheduleHint(own).ok());
  own.Set(kScheduleHint, "attention,faster");
  const absl::Status status = CheckScheduleHint(own);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("option schedule_hint is none, attention,"), HasSubstr("not faster")));
}

}  // namespace
}  // namespace tritond::compiler::amd
