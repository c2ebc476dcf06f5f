// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/targets/emulated/emulate.h"
#include "compiler/targets/emulated/opencl_functions.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler::emulated {
namespace {

using testing::HasSubstr;
using testing::Not;

// The text of a module after EmulateIntel; the status where it fails.
absl::StatusOr<std::string> Emulate(const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  if (!module) return absl::InternalError(absl::StrCat(error.getLineNo(), ": ", error.getMessage().str()));
  TargetInfo device;
  device.arch = "pvc";
  device.lanes = 16;
  if (absl::Status status = EmulateIntel(*module, KernelOptions(), device); !status.ok()) return status;
  std::string out;
  llvm::raw_string_ostream stream(out);
  if (llvm::verifyModule(*module, &stream)) return absl::InternalError(out);
  for (llvm::Function& function : llvm::make_early_inc_range(*module))
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  module->print(stream, nullptr);
  return out;
}

// `call` with the declaration of its function `callee`, in a kernel.
std::string KernelOf(const std::string& declaration, const std::string& body) {
  return absl::StrCat("declare spir_func ", declaration,
                      "\n@text = internal addrspace(2) constant [3 x i8] c\"%f\\00\"\n",
                      "define spir_kernel void @k(ptr addrspace(1) %p, i32 %x, float %f, ptr addrspace(3) %smem) {\n",
                      body, "\n  ret void\n}\n");
}

void Expect(const std::string& declaration, const std::string& body, const std::vector<std::string>& parts) {
  const auto out = Emulate(KernelOf(declaration, body));
  ASSERT_TRUE(out.ok()) << body << ": " << out.status();
  for (const std::string& part : parts) EXPECT_THAT(*out, HasSubstr(part)) << body;
  EXPECT_THAT(*out, Not(HasSubstr("spir_"))) << body;
}

TEST(EmulateIntel, SharedMemoryIsTheHosts) {
  Expect("void @f()", "  store i32 %x, ptr addrspace(3) %smem",
         {"define void @k(ptr addrspace(1) %p, i32 %x, float %f)", "\"tritond.kernel\"", "x86_64",
          "@global_smem = external addrspace(3) global [0 x i8], align 16", "ptr addrspace(3) @global_smem"});
}

TEST(EmulateIntel, IdsAndBarriers) {
  const std::string store = "\n  store i64 %i, ptr addrspace(1) %p";
  Expect("i64 @_Z12get_local_idj(i32)", "  %i = call spir_func i64 @_Z12get_local_idj(i32 0)" + store,
         {"@tritond.thread_id()", "zext i32"});
  Expect("i64 @_Z12get_local_idj(i32)", "  %i = call spir_func i64 @_Z12get_local_idj(i32 1)" + store, {"store i64 0"});
  Expect("i64 @_Z12get_group_idj(i32)", "  %i = call spir_func i64 @_Z12get_group_idj(i32 2)" + store,
         {"@tritond.program_id(i32 2)"});
  Expect("i64 @_Z14get_num_groupsj(i32)", "  %i = call spir_func i64 @_Z14get_num_groupsj(i32 1)" + store,
         {"@tritond.num_programs(i32 1)"});
  const std::string barrier = "void @_Z22__spirv_ControlBarrierjjj(i32, i32, i32)";
  Expect(barrier, "  call spir_func void @_Z22__spirv_ControlBarrierjjj(i32 2, i32 2, i32 776)",
         {"call void @tritond.barrier(ptr null)"});
  // Of a sub-group; and those that order no accesses of the work-group to shared memory.
  for (const char* weak :
       {"i32 3, i32 3, i32 776", "i32 2, i32 3, i32 776", "i32 2, i32 2, i32 520", "i32 2, i32 2, i32 256"})
    Expect(barrier, absl::StrCat("  call spir_func void @_Z22__spirv_ControlBarrierjjj(", weak, ")"),
           {"call void @tritond.warp_barrier(ptr null)"});
}

TEST(EmulateIntel, SubGroupFunctionsBecomeCallsByName) {
  Expect("i32 @_Z21sub_group_shuffle_xorjj(i32, i32)",
         "  %y = call spir_func i32 @_Z21sub_group_shuffle_xorjj(i32 %x, i32 8)",
         {"spirv:sub_group_shuffle_xor pvc 1x32 : 1x32 1x32\\00", "@tritond.spirv(ptr null, i64 1, "});
}

TEST(EmulateIntel, MathIsTheCLibrarys) {
  Expect("float @_Z3erff(float)", "  %y = call spir_func float @_Z3erff(float %f)", {"call float @erff(float %f)"});
  Expect("double @_Z5atan2dd(double, double)", "  %y = call spir_func double @_Z5atan2dd(double 1.0, double 2.0)",
         {"call double @atan2(double"});
  Expect("float @_Z10native_sinf(float)", "  %y = call spir_func float @_Z10native_sinf(float %f)",
         {"@llvm.sin.f32(float %f)"});
  Expect("float @_Z5rsqrtf(float)", "  %y = call spir_func float @_Z5rsqrtf(float %f)",
         {"@llvm.sqrt.f32(float %f)", "fdiv float 1.0"});
  Expect("i16 @_Z27__spirv_ConvertFToBF16INTELf(float)",
         "  %y = call spir_func i16 @_Z27__spirv_ConvertFToBF16INTELf(float %f)", {"fptrunc float %f to bfloat"});
}

TEST(EmulateIntel, PrintsPromoteAsCDoes) {
  Expect("i32 @printf(ptr addrspace(2), ...)",
         "  %y = call spir_func i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @text, float %f)",
         {"fpext float %f to double", "@tritond.print(ptr addrspacecast (ptr addrspace(2) @text to ptr), double"});
}

TEST(EmulateIntel, NamesWhatItLacks) {
  for (const auto& [declaration, call] : std::vector<std::pair<std::string, std::string>>{
           {"i32 @_Z13sub_group_anyi(i32)", "i32 @_Z13sub_group_anyi(i32 %x)"},
           {"void @_Z22__spirv_ControlBarrierjjj(i32, i32, i32)",
            "void @_Z22__spirv_ControlBarrierjjj(i32 1, i32 1, i32 776)"},
           {"i64 @_Z12get_local_idj(i32)", "i64 @_Z12get_local_idj(i32 %x)"}}) {
    const auto out = Emulate(KernelOf(declaration, "  call spir_func " + call));
    EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument) << call;
  }
}

TEST(PlainName, ReadsTheLength) {
  EXPECT_EQ(PlainName("_Z3erff"), "erf");
  EXPECT_EQ(PlainName("_Z22__spirv_ControlBarrierjjj"), "__spirv_ControlBarrier");
  EXPECT_EQ(PlainName("printf"), "printf");
  EXPECT_EQ(PlainName("_Z99erff"), "_Z99erff");
}

}  // namespace
}  // namespace tritond::compiler::emulated
