// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/codegen.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/amd/own_options.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::amd {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kStore[] = R"(
define void @kernel(ptr addrspace(1) %p, i32 %n) "tritond.kernel" {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %id
  store i32 %n, ptr addrspace(1) %at, align 4
  ret void
}
)";

const Architecture& ArchitectureOf(absl::string_view name) {
  for (const Architecture& arch : kArchitectures)
    if (arch.name == name) return arch;
  ADD_FAILURE() << "no " << name;
  return kArchitectures[0];
}

std::shared_ptr<DeviceLibrary> NoLibrary() {
  TargetConfig config;
  config.search_usual_places = false;
  return DeviceLibrary::ForConfig(config);
}

// Assembly text of a module whose kernel is named "kernel".
absl::StatusOr<std::string> Compile(const std::string& ir, absl::string_view arch_name, DeviceLibrary& library,
                                    const KernelOptions& options = {}) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, error, context);
  if (!module) return absl::InvalidArgumentError(error.getMessage().str());
  const Architecture& arch = ArchitectureOf(arch_name);
  auto machine = MakeTargetMachine(arch, options);
  if (!machine.ok()) return machine.status();
  if (absl::Status status = OptimizeModule(*module, **machine, arch, library, options); !status.ok()) return status;
  return EmitAmdgcn(*module, **machine, arch, library);
}

absl::StatusOr<std::string> Compile(const std::string& ir, absl::string_view arch_name,
                                    const KernelOptions& options = {}) {
  return Compile(ir, arch_name, *NoLibrary(), options);
}

TEST(AmdCodegen, MakesACodeObjectForEachArchitecture) {
  for (const Architecture& arch : kArchitectures) {
    SCOPED_TRACE(arch.name);
    auto text = Compile(kStore, arch.name);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(KernelOf(*text), "kernel");
    EXPECT_THAT(*text, HasSubstr(absl::StrCat("amdgcn-amd-amdhsa--", arch.name)));
    EXPECT_THAT(*text, HasSubstr(absl::StrCat(".wavefront_size: ", arch.lanes)));
    EXPECT_THAT(*text, HasSubstr(".kernarg_segment_size: 12")) << "hidden arguments that nobody reads";
    auto hsaco = AssembleAmdgcn(*text, arch);
    ASSERT_TRUE(hsaco.ok()) << hsaco.status();
    EXPECT_EQ(CheckHsaco(*hsaco, arch, "kernel"), absl::OkStatus());
    EXPECT_EQ(CheckHsaco(*hsaco, arch, "other").code(), absl::StatusCode::kInternal);
    EXPECT_EQ(CheckHsaco(hsaco->substr(0, hsaco->size() / 2), arch, "kernel").code(), absl::StatusCode::kInternal);
    for (const Architecture& other : kArchitectures)
      EXPECT_EQ(CheckHsaco(*hsaco, other, "kernel").ok(), other.machine == arch.machine);
  }
}

TEST(AmdCodegen, KernelsCarryTheirLaunchBounds) {
  KernelOptions options;
  options.num_warps = 8;
  options.own.Set(kWavesPerUnit, 2);
  auto text = Compile(kStore, "gfx942", options);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr(".max_flat_workgroup_size: 512"), HasSubstr(".reqd_workgroup_size:")));
}

TEST(AmdCodegen, AMaskedLoadNeedsNoBranch) {
  const std::string ir = R"(
define void @kernel(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n) "tritond.kernel" {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr <4 x i32>, ptr addrspace(1) %p, i32 %id
  %to = getelementptr <4 x i32>, ptr addrspace(1) %q, i32 %id
  %there = icmp slt i32 %id, %n
  %one = insertelement <4 x i1> poison, i1 %there, i32 0
  %mask = shufflevector <4 x i1> %one, <4 x i1> poison, <4 x i32> zeroinitializer
  %value = call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) align 16 %from, <4 x i1> %mask, <4 x i32> splat (i32 7))
  store <4 x i32> %value, ptr addrspace(1) %to, align 16
  ret void
}
declare <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1), <4 x i1>, <4 x i32>)
)";
  for (const char* arch : {"gfx942", "gfx1100"}) {
    auto text = Compile(ir, arch);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_THAT(*text, AllOf(ContainsRegex("buffer_load_(dwordx4|b128)"), Not(HasSubstr("s_cbranch"))));
  }
}

TEST(AmdCodegen, MaskedStoresOfOneConditionShareABranch) {
  // Of indices that may be anything, so that they do not become stores to buffers.
  const std::string ir = R"(
define void @kernel(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n) "tritond.kernel" {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %there = icmp slt i32 %id, %n
  %mask = insertelement <1 x i1> poison, i1 %there, i32 0
  %value = insertelement <1 x i32> poison, i32 %n, i32 0
  %i = add i32 %id, %n
  %a = getelementptr i32, ptr addrspace(1) %p, i32 %i
  call void @llvm.masked.store.v1i32.p1(<1 x i32> %value, ptr addrspace(1) align 4 %a, <1 x i1> %mask)
  %b = getelementptr i32, ptr addrspace(1) %q, i32 %i
  call void @llvm.masked.store.v1i32.p1(<1 x i32> %value, ptr addrspace(1) align 4 %b, <1 x i1> %mask)
  ret void
}
declare void @llvm.masked.store.v1i32.p1(<1 x i32>, ptr addrspace(1), <1 x i1>)
)";
  auto text = Compile(ir, "gfx942");
  ASSERT_TRUE(text.ok()) << text.status();
  const size_t branch = text->find("s_cbranch_execz"), store = text->find("global_store_dword");
  ASSERT_NE(branch, std::string::npos);
  EXPECT_EQ(text->find("s_cbranch_execz", branch + 1), std::string::npos);
  EXPECT_LT(branch, store);
  EXPECT_NE(text->find("global_store_dword", store + 1), std::string::npos);
}

TEST(AmdCodegen, FloatAdditionsAreInstructionsWhereTheyMayBe) {
  const std::string ir = R"(
define void @kernel(ptr addrspace(1) %p, float %x) "tritond.kernel" {
  %old = atomicrmw fadd ptr addrspace(1) %p, float %x syncscope("agent") monotonic, align 4
  ret void
}
)";
  auto fast = Compile(ir, "gfx90a");
  ASSERT_TRUE(fast.ok()) << fast.status();
  EXPECT_THAT(*fast, HasSubstr("global_atomic_add_f32"));
  KernelOptions options;
  options.own.Set(kFastFloatAtomics, false);
  auto safe = Compile(ir, "gfx90a", options);
  ASSERT_TRUE(safe.ok()) << safe.status();
  EXPECT_THAT(*safe, AllOf(HasSubstr("global_atomic_cmpswap"), Not(HasSubstr("global_atomic_add_f32"))));
}

TEST(AmdCodegen, ADivisionThatMayUseReciprocalsDoes) {
  const std::string ir = R"(
define void @kernel(ptr addrspace(1) %p, float %x, float %y) "tritond.kernel" {
  %q = fdiv FLAG float %x, %y
  store float %q, ptr addrspace(1) %p, align 4
  ret void
}
)";
  auto fast = Compile(absl::StrReplaceAll(ir, {{"FLAG", "arcp"}}), "gfx942");
  auto precise = Compile(absl::StrReplaceAll(ir, {{"FLAG", ""}}), "gfx942");
  ASSERT_TRUE(fast.ok() && precise.ok());
  EXPECT_THAT(*fast, AllOf(HasSubstr("v_rcp_f32"), Not(HasSubstr("v_div_fixup"))));
  EXPECT_THAT(*precise, HasSubstr("v_div_fixup"));
}

constexpr char kCall[] = R"(
define void @kernel(ptr addrspace(1) %p, float %x) "tritond.kernel" {
  %y = call float @FUNCTION(float %x)
  store float %y, ptr addrspace(1) %p, align 4
  ret void
}
declare float @FUNCTION(float)
)";

std::string CallOf(const std::string& function) { return absl::StrReplaceAll(kCall, {{"FUNCTION", function}}); }

TEST(AmdCodegen, SaysWhatToInstallForALibraryFunction) {
  const absl::Status status = Compile(CallOf("__ocml_sin_f32"), "gfx942").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("__ocml_sin_f32"), HasSubstr("rocm-device-libs")));
}

TEST(AmdCodegen, NamesAFunctionThatNoLibraryHas) {
  const absl::Status status = Compile(CallOf("nobody"), "gfx942").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("nobody"));
}

class WithLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!library_->Get("ocml").ok()) GTEST_SKIP() << library_->Get("ocml").status().message();
  }
  std::shared_ptr<DeviceLibrary> library_ = DeviceLibrary::ForConfig(TargetConfig());
};

TEST_F(WithLibrary, ItsFunctionsBecomePartOfTheKernel) {
  for (const Architecture& arch : kArchitectures) {
    SCOPED_TRACE(arch.name);
    auto text = Compile(CallOf("__ocml_erf_f32"), arch.name, *library_);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_THAT(*text, AllOf(Not(HasSubstr("s_swappc")), HasSubstr(".kernarg_segment_size: 12")));
    auto hsaco = AssembleAmdgcn(*text, arch);
    ASSERT_TRUE(hsaco.ok()) << hsaco.status();
    EXPECT_EQ(CheckHsaco(*hsaco, arch, "kernel"), absl::OkStatus());
  }
}

TEST_F(WithLibrary, ACallOfOtherTypesIsRefused) {
  EXPECT_EQ(Compile(CallOf("__ocml_erf_f64"), "gfx942", *library_).status().code(), absl::StatusCode::kInvalidArgument);
}

constexpr char kPrint[] = R"(
@format = internal constant [9 x i8] c"%i %f %u\00"
define void @kernel(i32 %x, double %y) "tritond.kernel" {
  call void (ptr, ...) @tritond.print(ptr @format, i32 %x, double %y, i32 1)
  ret void
}
declare void @tritond.print(ptr, ...)
)";

TEST_F(WithLibrary, APrintTalksToTheHost) {
  auto text = Compile(kPrint, "gfx942", *library_);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr("hidden_hostcall_buffer"), Not(HasSubstr("tritond.print"))));
  auto hsaco = AssembleAmdgcn(*text, ArchitectureOf("gfx942"));
  ASSERT_TRUE(hsaco.ok()) << hsaco.status();
  EXPECT_EQ(CheckHsaco(*hsaco, ArchitectureOf("gfx942"), "kernel"), absl::OkStatus());
}

TEST(AmdCodegen, APrintNeedsTheLibrary) {
  const absl::Status status = Compile(kPrint, "gfx942").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("__ockl_printf_begin"));
}

TEST(KernelOf, ReadsTheDirective) {
  EXPECT_EQ(KernelOf("\t.text\n\t.amdhsa_kernel softmax\n\t.end_amdhsa_kernel\n"), "softmax");
  EXPECT_EQ(KernelOf("\t.amdhsa_kernel \"a b\"\n"), "a b");
  EXPECT_EQ(KernelOf("\t.text\n"), "");
}

}  // namespace
}  // namespace tritond::compiler::amd
