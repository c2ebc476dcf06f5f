// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/codegen.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/intel/spirv_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::intel {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const Device kPvc = {kArchitectures[0], 16};

// The binary of a module whose kernel is named "kernel".
absl::StatusOr<std::string> Compile(const std::string& ir, const Device& device = kPvc,
                                    const KernelOptions& options = {}) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, error, context);
  if (!module) return absl::InvalidArgumentError(error.getMessage().str());
  auto machine = MakeTargetMachine();
  if (!machine.ok()) return machine.status();
  if (absl::Status status = OptimizeModule(*module, **machine, device, options); !status.ok()) return status;
  if (absl::Status status = ExpandIntrinsics(*module); !status.ok()) return status;
  return WriteSpirv(*module);
}

// The text of the same, which is sound.
std::string TextOf(const std::string& ir, const KernelOptions& options = {}) {
  absl::StatusOr<std::string> binary = Compile(ir, kPvc, options);
  if (!binary.ok()) return binary.status().ToString();
  EXPECT_EQ(CheckSpirv(*binary, kPvc, "kernel"), absl::OkStatus());
  absl::StatusOr<std::string> text = DisassembleSpirv(*binary);
  if (!text.ok()) return text.status().ToString();
  EXPECT_EQ(AssembleSpirv(*text).value(), *binary);
  return *text;
}

// A kernel around `body`, with a buffer %p, an integer %n and floats %x, %y.
std::string KernelWith(const std::string& body, const std::string& rest = "") {
  return absl::StrCat("define void @kernel(ptr addrspace(1) %p, i32 %n, float %x, float %y) \"tritond.kernel\" {\n",
                      body, "\n  ret void\n}\n", rest);
}

constexpr char kStore[] = R"(
define void @kernel(ptr addrspace(1) %p, i32 %n) "tritond.kernel" {
  %id = call i64 @_Z12get_local_idj(i32 0)
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %id
  store i32 %n, ptr addrspace(1) %at, align 4
  ret void
}
declare i64 @_Z12get_local_idj(i32)
)";

TEST(IntelCodegen, MakesAModuleForEachDevice) {
  for (const Device& device : Devices()) {
    const int lanes = device.lanes;
    SCOPED_TRACE(absl::StrCat(device.arch.name, " ", lanes));
    auto binary = Compile(kStore, device);
    ASSERT_TRUE(binary.ok()) << binary.status();
    EXPECT_EQ(CheckSpirv(*binary, device, "kernel"), absl::OkStatus());
    EXPECT_EQ(CheckSpirv(*binary, device, "other").code(), absl::StatusCode::kInternal);
    EXPECT_EQ(CheckSpirv(*binary, {device.arch, 48 - lanes}, "kernel").code(), absl::StatusCode::kInternal);
    EXPECT_EQ(CheckSpirv(binary->substr(0, binary->size() - 4), device, "kernel").code(), absl::StatusCode::kInternal);
    auto text = DisassembleSpirv(*binary);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(KernelOf(*text), "kernel");
    EXPECT_THAT(*text, ContainsRegex(absl::StrCat("SubgroupSize ", lanes, "\n")));
    EXPECT_THAT(*text, ContainsRegex(absl::StrCat("LocalSize ", 4 * lanes, " 1 1\n")));
  }
}

// The back end keeps what it knows of a module in the process.
TEST(IntelCodegen, AModuleDoesNotDependOnThoseBefore) {
  const std::string first = TextOf(kStore);
  TextOf(KernelWith("  %a = fadd float %x, %y\n  store float %a, ptr addrspace(1) %p"));
  EXPECT_EQ(TextOf(kStore), first);
}

TEST(IntelCodegen, Bf16IsAnInteger) {
  const std::string text = TextOf(R"(
define void @kernel(ptr addrspace(1) %p, bfloat %x, i1 %c) "tritond.kernel" {
entry:
  %old = load bfloat, ptr addrspace(1) %p, align 2
  br i1 %c, label %then, label %after
then:
  %product = fmul bfloat %old, %x
  br label %after
after:
  %one = phi bfloat [ 0xR3F80, %entry ], [ %product, %then ]
  %wide = fpext bfloat %one to float
  %sum = fadd float %wide, 2.0
  %new = fptrunc float %sum to bfloat
  store bfloat %new, ptr addrspace(1) %p, align 2
  ret void
}
)");
  EXPECT_THAT(text, AllOf(HasSubstr("OpConvertFToBF16INTEL"), HasSubstr("OpCapability BFloat16ConversionINTEL"),
                          HasSubstr("OpTypeInt 16 0"), Not(HasSubstr("OpTypeFloat 16"))));
}

TEST(IntelCodegen, Bf16ArithmeticWithoutACounterpartIsRefused) {
  const absl::Status status = Compile(KernelWith(R"(
  %a = load bfloat, ptr addrspace(1) %p, align 2
  %b = call bfloat @llvm.log.bf16(bfloat %a)
  store bfloat %b, ptr addrspace(1) %p, align 2)",
                                                 "declare bfloat @llvm.log.bf16(bfloat)"))
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("llvm.log.bf16"));
}

TEST(IntelCodegen, AFusedMultiplyAddOfBf16TakesF64) {
  const std::string ir = KernelWith(R"(
  %a = load bfloat, ptr addrspace(1) %p, align 2
  %b = call bfloat @llvm.fma.bf16(bfloat %a, bfloat %a, bfloat %a)
  store bfloat %b, ptr addrspace(1) %p, align 2)",
                                    "declare bfloat @llvm.fma.bf16(bfloat, bfloat, bfloat)");
  EXPECT_THAT(TextOf(ir), AllOf(HasSubstr("OpTypeFloat 64"), HasSubstr("OpConvertFToBF16INTEL")));
  const Device dg2 = {kArchitectures[1], 16};
  const absl::Status status = Compile(ir, dg2).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("dg2 has no f64"));
}

constexpr char kShared[] = R"(
@global_smem = external addrspace(3) global [0 x i8], align 16
define void @kernel(ptr addrspace(1) %p, i32 %n) "tritond.kernel" {
  store i32 %n, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 64), align 4
  ret void
}
)";

// The pointer to shared memory is the last parameter.
TEST(IntelCodegen, SharedMemoryIsAParameter) {
  EXPECT_THAT(TextOf(kShared), AllOf(ContainsRegex("OpName %[0-9]+ \"smem\""), HasSubstr("OpTypePointer Workgroup"),
                                     Not(HasSubstr("global_smem"))));
  const std::string noted = absl::StrCat(kStore, "@", kSharedBytes, " = constant i32 64\n");
  EXPECT_THAT(TextOf(noted), HasSubstr("OpTypePointer Workgroup")) << "launches pass it, used or not";
  EXPECT_THAT(TextOf(kStore), Not(HasSubstr("OpTypePointer Workgroup")));
}

TEST(IntelCodegen, FunctionsBecomePartOfTheKernel) {
  const std::string text = TextOf(KernelWith("  call void @helper(ptr addrspace(1) %p)", R"(
define internal void @helper(ptr addrspace(1) %p) noinline {
  store i32 7, ptr addrspace(1) %p, align 4
  ret void
}
)"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("OpFunctionCall")), HasSubstr("OpStore")));
}

TEST(IntelCodegen, ShiftsOfTwoWordsAreShifts) {
  const std::string text = TextOf(KernelWith(R"(
  %a = load i32, ptr addrspace(1) %p, align 4
  %b = call i32 @llvm.fshl.i32(i32 %a, i32 %n, i32 %a)
  store i32 %b, ptr addrspace(1) %p, align 4)",
                                             "declare i32 @llvm.fshl.i32(i32, i32, i32)"));
  EXPECT_THAT(text, AllOf(HasSubstr("OpShiftLeftLogical"), HasSubstr("OpShiftRightLogical"), Not(HasSubstr("fshl"))));
}

TEST(IntelCodegen, MaximumOrdersNanAndZeros) {
  const std::string text = TextOf(KernelWith(R"(
  %a = call float @llvm.maximum.f32(float %x, float %y)
  store float %a, ptr addrspace(1) %p, align 4)",
                                             "declare float @llvm.maximum.f32(float, float)"));
  EXPECT_THAT(text, AllOf(HasSubstr("OpUnordered"), HasSubstr("OpBitwiseAnd"), Not(HasSubstr("fmax"))));
}

TEST(IntelCodegen, ANarrowedIndexKeepsItsBits) {
  const std::string text = TextOf(KernelWith(R"(
  %wide = load i64, ptr addrspace(1) %p, align 8
  %byte = trunc i64 %wide to i8
  %word = zext i8 %byte to i32
  store i32 %word, ptr addrspace(1) %p, align 4)"));
  EXPECT_THAT(text, ContainsRegex("OpUConvert %[0-9]+ %[0-9]+\n%[0-9]+ = OpBitwiseAnd"));
}

TEST(IntelCodegen, BitsInAnotherOrderAreWide) {
  const std::string text =
      TextOf(KernelWith(R"(
    %id = call i64 @_Z12get_local_idj(i32 0)
    %few = trunc i64 %id to i5
    %some = and i5 %few, 3
    %turned = call i5 @llvm.bitreverse.i5(i5 %some)
    %wide = zext i5 %turned to i32
    store i32 %wide, ptr addrspace(1) %p, align 4)",
                        "declare i64 @_Z12get_local_idj(i32)\ndeclare i5 @llvm.bitreverse.i5(i5)\n"));
  EXPECT_THAT(text, HasSubstr("OpShiftLeftLogical"));
  EXPECT_THAT(text, Not(HasSubstr("OpBitReverse")));
  EXPECT_THAT(text, Not(HasSubstr("OpTypeInt 5 ")));
}

// A division must not tell the optimiser that the load before it happens.
TEST(IntelCodegen, ADivisionKeepsTheMaskOfItsOperands) {
  const std::string text = TextOf(KernelWith(R"(
  %there = icmp sgt i32 %n, 0
  br i1 %there, label %load, label %after
load:
  %loaded = load i32, ptr addrspace(1) %p, align 4
  br label %after
after:
  %value = phi i32 [ 0, %0 ], [ %loaded, %load ]
  %quotient = sdiv i32 %n, %value
  store i32 %quotient, ptr addrspace(1) %p, align 4)"));
  EXPECT_THAT(text, AllOf(HasSubstr("OpBranchConditional"), HasSubstr("OpSDiv")));
}

TEST(IntelCodegen, FusingIsTheDriversWhereItMayBe) {
  const std::string ir = KernelWith(R"(
  %a = fmul float %x, %y
  %b = fadd float %a, %x
  store float %b, ptr addrspace(1) %p, align 4)");
  EXPECT_THAT(TextOf(ir), Not(HasSubstr("ContractionOff")));
  KernelOptions options;
  options.enable_fp_fusion = false;
  EXPECT_THAT(TextOf(ir, options), HasSubstr("ContractionOff"));
}

TEST(IntelCodegen, AGapOfTheBackEndIsAStatus) {
  const absl::Status status =
      Compile(KernelWith("  %a = atomicrmw nand ptr addrspace(1) %p, i32 %n monotonic, align 4")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("SPIR-V back end"), HasSubstr("NAND")));
}

TEST(IntelCodegen, TypesThatSpirvLacksAreRefused) {
  for (const char* type : {"<5 x float>", "<1 x i32>", "i128", "fp128"}) {
    const absl::Status status = Compile(KernelWith(absl::StrCat("  %a = load volatile ", type,
                                                                ", ptr addrspace(1) %p, align 4\n  store volatile ",
                                                                type, " %a, ptr addrspace(1) %p, align 4")))
                                    .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << type;
    EXPECT_THAT(std::string(status.message()), HasSubstr(type));
  }
}

TEST(IntelCodegen, NamesAFunctionThatNoLibraryHas) {
  auto binary =
      Compile(KernelWith("  call void @nobody(ptr addrspace(1) %p)", "declare void @nobody(ptr addrspace(1))"));
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_THAT(std::string(CheckSpirv(*binary, kPvc, "kernel").message()), HasSubstr("the function nobody open"));
}

TEST(IntelCodegen, NeedsAKernel) {
  EXPECT_EQ(Compile("define void @f() { ret void }").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tritond::compiler::intel
