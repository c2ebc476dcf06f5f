// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/codegen.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/test_kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::nvidia {
namespace {

namespace LLVM = mlir::LLVM;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class NvidiaCodegenTest : public ::testing::Test {
 protected:
  // A kernel that calls `symbol`, a function of one f32.
  std::unique_ptr<TestKernel> KernelThatCalls(const std::string& symbol) {
    auto k = std::make_unique<TestKernel>("pf");
    k->Keep(0, *ops_.CallExtern(k->builder(), k->loc(), symbol, k->TypeOf('f'), k->arg(1)));
    return k;
  }
  std::shared_ptr<Toolchain> NoTools() {
    TargetConfig config;
    config.search_usual_places = false;
    return Toolchain::ForConfig(config);
  }

  std::shared_ptr<Toolchain> toolchain_ = Toolchain::ForConfig(TargetConfig());
  NvidiaOps ops_{90};
};

TEST_F(NvidiaCodegenTest, KernelsCarryTheirLaunchBounds) {
  TestKernel k("pi");
  k.Keep(0, k.arg(1));
  KernelOptions options;
  options.num_warps = 8;
  options.own.Set("maxnreg", 96);
  options.num_ctas = 2;
  auto ptx = k.ToPtx(90, *toolchain_, options);
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  EXPECT_THAT(*ptx, HasSubstr(".visible .entry kernel("));
  EXPECT_THAT(*ptx, HasSubstr(".reqntid 256\n"));
  EXPECT_THAT(*ptx, HasSubstr(".maxnreg 96"));
  EXPECT_THAT(*ptx, Not(HasSubstr(".minnctapersm")));
  EXPECT_THAT(*ptx, HasSubstr(".reqnctapercluster 2, 1, 1"));
  auto assembler = toolchain_->GetAssembler();
  if (!assembler.ok()) return;
  auto cubin = (*assembler)->Assemble(*ptx, {.arch = "sm_90a"});
  EXPECT_TRUE(cubin.ok()) << cubin.status();
}

TEST_F(NvidiaCodegenTest, BlocksOfOneWarpMayTakeAllRegisters) {
  for (int num_warps : {1, 2, 4}) {
    TestKernel k("pi");
    k.Keep(0, k.arg(1));
    KernelOptions options;
    options.num_warps = num_warps;
    auto ptx = k.ToPtx(90, *toolchain_, options);
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    EXPECT_EQ(ptx->find(".minnctapersm 8\n") != std::string::npos, num_warps == 1) << *ptx;
  }
}

TEST_F(NvidiaCodegenTest, EveryArchitectureAssembles) {
  auto assembler = toolchain_->GetAssembler();
  for (const Architecture& arch : kArchitectures) {
    TestKernel k("pf");
    k.Keep(0, *NvidiaOps(arch.compute_capability).Math(k.builder(), k.loc(), "math.exp", k.arg(1)));
    auto ptx = k.ToPtx(arch.compute_capability, *toolchain_);
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    EXPECT_THAT(*ptx, HasSubstr(std::string("\n.target ") + arch.name + "\n"));
    EXPECT_THAT(*ptx, HasSubstr("\n.version 9.0\n"));
    if (!assembler.ok() || (*assembler)->PtxVersion() < 90) continue;
    auto cubin = (*assembler)->Assemble(*ptx, {.arch = arch.name});
    EXPECT_TRUE(cubin.ok()) << cubin.status();
  }
}

TEST_F(NvidiaCodegenTest, ThePtxVersionIsTheOneAskedFor) {
  for (int version : {80, 84, 85, 88}) {
    TestKernel k("pi");
    auto ptx = k.ToPtx(90, *toolchain_, {}, version);
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    EXPECT_THAT(*ptx, HasSubstr("\n.version 8." + std::to_string(version % 10) + "\n"));
  }
}

TEST_F(NvidiaCodegenTest, FencesOfOneDirectionComeWithPtx86) {
  for (int version : {85, 86}) {
    TestKernel k("p");
    for (bool releases : {true, false})
      ops_.Fence(k.builder(), k.loc(), releases, tt::MemSyncScope::kGpu, /*predicate=*/nullptr);
    auto ptx = k.ToPtx(90, *toolchain_, {}, version);
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    EXPECT_THAT(*ptx, HasSubstr(version < 86 ? "fence.acq_rel.gpu;" : "fence.release.gpu;"));
    EXPECT_EQ(ptx->find("fence.acquire.gpu;") != std::string::npos, version == 86) << *ptx;
    auto assembler = toolchain_->GetAssembler();
    if (!assembler.ok() || (*assembler)->PtxVersion() < version) continue;
    auto cubin = (*assembler)->Assemble(*ptx, {.arch = "sm_90a"});
    EXPECT_TRUE(cubin.ok()) << cubin.status();
  }
}

TEST_F(NvidiaCodegenTest, SharedPointersHave32Bits) {
  TestKernel k("pl");
  auto& b = k.builder();
  {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(k.module().getBody());
    LLVM::GlobalOp::create(b, k.loc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0), false, LLVM::Linkage::External,
                           "global_smem", mlir::Attribute(), 16, 3);
  }
  auto shared = LLVM::LLVMPointerType::get(b.getContext(), 3);
  mlir::Value base = LLVM::AddressOfOp::create(b, k.loc(), shared, "global_smem");
  mlir::Value place =
      LLVM::GEPOp::create(b, k.loc(), shared, b.getI64Type(), base, llvm::ArrayRef<LLVM::GEPArg>{k.arg(1)});
  LLVM::StoreOp::create(b, k.loc(), k.arg(1), place);
  auto ptx = k.ToPtx(90, *toolchain_);
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  EXPECT_THAT(*ptx, HasSubstr(".extern .shared"));
  EXPECT_THAT(*ptx, ContainsRegex("st.shared.b64 +\t?\\[%r[0-9]+\\]")) << *ptx;
}

TEST_F(NvidiaCodegenTest, ASumThatMayOverflowIsExtendedAsAWhole) {
  // p[x + y] and p[x + y + 2]. LLVM's strength reduction would take the second for the first and 8 bytes.
  TestKernel k("pii");
  mlir::OpBuilder& b = k.builder();
  const mlir::Type i32 = k.TypeOf('i');
  mlir::Value index = mlir::LLVM::AddOp::create(b, k.loc(), k.arg(1), k.arg(2));
  mlir::Value two = mlir::LLVM::ConstantOp::create(b, k.loc(), i32, b.getI32IntegerAttr(2));
  mlir::Value later = mlir::LLVM::AddOp::create(b, k.loc(), index, two);
  for (mlir::Value offset : {index, later}) {
    mlir::Value pointer = mlir::LLVM::GEPOp::create(b, k.loc(), k.arg(0).getType(), i32, k.arg(0),
                                                    mlir::ArrayRef<mlir::LLVM::GEPArg>{offset});
    mlir::LLVM::StoreOp::create(b, k.loc(), offset, pointer);
  }
  auto ptx = k.ToPtx(90, *toolchain_);
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  EXPECT_EQ(std::vector<std::string>(absl::StrSplit(*ptx, "mul.wide.s32")).size(), 3) << *ptx;
}

TEST_F(NvidiaCodegenTest, LongQuotientsOfShortNumbersAreShort) {
  for (bool is_short : {true, false}) {
    TestKernel k("pil");
    mlir::OpBuilder& b = k.builder();
    const mlir::Type i32 = k.TypeOf('i'), i64 = k.TypeOf('l');
    mlir::Value one = LLVM::ConstantOp::create(b, k.loc(), i32, b.getI32IntegerAttr(1));
    mlir::Value half = LLVM::LShrOp::create(b, k.loc(), k.arg(1), one);
    mlir::Value dividend = is_short ? LLVM::ZExtOp::create(b, k.loc(), i64, half).getResult() : k.arg(2);
    mlir::Value divisor = LLVM::SExtOp::create(b, k.loc(), i64, k.arg(1));
    k.Keep(0, LLVM::SDivOp::create(b, k.loc(), dividend, divisor));
    auto ptx = k.ToPtx(90, *toolchain_);
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    EXPECT_EQ(ptx->find("div.s64") == std::string::npos, is_short) << *ptx;
  }
}

TEST_F(NvidiaCodegenTest, BitsCountedByHalvesAreCountedByOneInstruction) {
  TestKernel k("pi");
  mlir::OpBuilder& b = k.builder();
  auto word = [&](int64_t value) -> mlir::Value {
    return LLVM::ConstantOp::create(b, k.loc(), k.TypeOf('i'), b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  auto part = [&](mlir::Value x, int shift, int64_t mask) -> mlir::Value {
    if (shift > 0) x = LLVM::LShrOp::create(b, k.loc(), x, word(shift));
    return LLVM::AndOp::create(b, k.loc(), x, word(mask));
  };
  mlir::Value x = LLVM::SubOp::create(b, k.loc(), k.arg(1), part(k.arg(1), 1, 0x55555555));
  x = LLVM::AddOp::create(b, k.loc(), part(x, 0, 0x33333333), part(x, 2, 0x33333333));
  x = LLVM::AddOp::create(b, k.loc(), x, LLVM::LShrOp::create(b, k.loc(), x, word(4)));
  x = LLVM::MulOp::create(b, k.loc(), part(x, 0, 0x0f0f0f0f), word(0x01010101));
  k.Keep(0, LLVM::LShrOp::create(b, k.loc(), x, word(24)));
  auto ptx = k.ToPtx(90, *toolchain_);
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  EXPECT_THAT(*ptx, HasSubstr("popc.b32"));
}

TEST_F(NvidiaCodegenTest, ProductsOfExtendedNumbersHaveSigns) {
  TestKernel k("pii");
  mlir::OpBuilder& b = k.builder();
  const mlir::Type i64 = k.TypeOf('l');
  mlir::Value index = LLVM::ZExtOp::create(b, k.loc(), i64, k.arg(1), /*nonNeg=*/true);
  mlir::Value stride = LLVM::SExtOp::create(b, k.loc(), i64, k.arg(2));
  k.Keep(0, LLVM::MulOp::create(b, k.loc(), index, stride));
  auto ptx = k.ToPtx(90, *toolchain_);
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  EXPECT_THAT(*ptx, HasSubstr("mul.wide.s32"));
}

TEST_F(NvidiaCodegenTest, LibdeviceIsLinkedWhereItIsCalled) {
  if (!toolchain_->GetLibdevice().ok()) GTEST_SKIP() << "no libdevice";
  auto ptx = KernelThatCalls("__nv_sinf")->ToPtx(90, *toolchain_);
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  EXPECT_THAT(*ptx, Not(HasSubstr("__nv_sinf")));
  EXPECT_THAT(*ptx, Not(HasSubstr("__nvvm_reflect")));
}

TEST_F(NvidiaCodegenTest, LibdeviceIsCalledWithItsOwnTypes) {
  if (!toolchain_->GetLibdevice().ok()) GTEST_SKIP() << "no libdevice";
  auto ptx = KernelThatCalls("__nv_sin")->ToPtx(90, *toolchain_);
  EXPECT_EQ(ptx.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ptx.status().message()),
              HasSubstr("__nv_sin is a function double (double), but the kernel calls it as float (float)"));
}

TEST_F(NvidiaCodegenTest, FlushingOfSubnormalsIsAnOption) {
  if (!toolchain_->GetLibdevice().ok()) GTEST_SKIP() << "no libdevice";
  KernelOptions exact;
  exact.own.Set("enable_reflect_ftz", false);
  for (const char* symbol : {"__nv_exp2f", "__nv_log2f"}) {
    EXPECT_THAT(*KernelThatCalls(symbol)->ToPtx(90, *toolchain_), HasSubstr(".ftz.f32")) << symbol;
    EXPECT_THAT(*KernelThatCalls(symbol)->ToPtx(90, *toolchain_, exact), Not(HasSubstr(".ftz.f32"))) << symbol;
  }
}

TEST_F(NvidiaCodegenTest, MissingLibdeviceIsNamedOnlyWhenItIsNeeded) {
  auto toolchain = NoTools();
  EXPECT_TRUE(KernelThatCalls("__nv_exp2f")->ToPtx(90, *toolchain).ok());
  auto ptx = KernelThatCalls("__nv_sinf")->ToPtx(90, *toolchain);
  EXPECT_EQ(ptx.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(ptx.status().message()), HasSubstr("__nv_sinf"));
  EXPECT_THAT(std::string(ptx.status().message()), HasSubstr("libdevice"));
}

TEST_F(NvidiaCodegenTest, UnknownFunctionsAreNamed) {
  auto ptx = KernelThatCalls("frobnicate")->ToPtx(90, *toolchain_);
  EXPECT_EQ(ptx.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ptx.status().message()), HasSubstr("frobnicate"));
  if (!toolchain_->GetLibdevice().ok()) return;
  auto no_such = KernelThatCalls("__nv_frobnicatef")->ToPtx(90, *toolchain_);
  EXPECT_EQ(no_such.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(no_such.status().message()), HasSubstr("__nv_frobnicatef"));
}

TEST_F(NvidiaCodegenTest, FusionIsAnOption) {
  for (bool fusion : {true, false}) {
    TestKernel k("pff");
    auto& b = k.builder();
    mlir::Value product = LLVM::FMulOp::create(b, k.loc(), k.arg(1), k.arg(2));
    k.Keep(0, LLVM::FAddOp::create(b, k.loc(), product, k.arg(1)));
    KernelOptions options;
    options.enable_fp_fusion = fusion;
    auto ptx = k.ToPtx(90, *toolchain_, options);
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    EXPECT_EQ(ptx->find("fma.rn.f32") != std::string::npos, fusion);
  }
}

TEST_F(NvidiaCodegenTest, AssemblyThatLlvmCannotPlaceIsAnErrorNotAnExit) {
  TestKernel k("pi");
  auto value = ops_.InlineAsm(k.builder(), k.loc(), k.TypeOf('i'), {k.arg(1)}, "mov.u32 $0, $1;", "=x,r", true);
  ASSERT_TRUE(mlir::succeeded(value));
  auto ptx = k.ToPtx(90, *toolchain_);
  EXPECT_EQ(ptx.status().code(), absl::StatusCode::kInternal);
}

TEST_F(NvidiaCodegenTest, IntegersNarrowerThanTheirRegisterHaveZerosAbove) {
  for (const auto& [result, constraints] : {std::pair('i', "=r,r"), std::pair('f', "=f,f")}) {
    TestKernel k("pi");
    auto& b = k.builder();
    mlir::Value square = LLVM::MulOp::create(b, k.loc(), k.arg(1), k.arg(1));
    mlir::Value half = LLVM::TruncOp::create(b, k.loc(), b.getI16Type(), square);
    auto value = ops_.InlineAsm(b, k.loc(), k.TypeOf(result), {half}, "mov.b32 $0, $1;", constraints, false);
    ASSERT_TRUE(mlir::succeeded(value));
    k.Keep(0, *value);
    auto ptx = k.ToPtx(90, *toolchain_);
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    EXPECT_THAT(*ptx, ContainsRegex("and.b32 .*, 65535;|cvt.u32.u16 "));
  }
}

// A kernel that stores the sum of its arguments and of `number` by way of `assembly`.
constexpr char kStores[] =
    "@of_module$0 = internal addrspace(3) global [$0 x i32] undef\n"
    "define ptx_kernel void @kernel(ptr addrspace(1) %p, i32 %x) {\n"
    "  %sum = add i32 %x, $0\n"
    "  %moved = call i32 asm \"mov.u32 $$0, $$1;\", \"$1\"(i32 %sum)\n"
    "  store i32 %moved, ptr addrspace(1) %p\n"
    "  store i32 %moved, ptr addrspace(3) @of_module$0\n"
    "  ret void\n}\n";

TEST(AssemblyWriter, WritesEachModuleAsAFreshOneDoes) {
  auto machine = MakeTargetMachine(ArchitectureOf(90), 80, {});
  ASSERT_TRUE(machine.ok()) << machine.status();
  AssemblyWriter kept(**machine, kPtxMotion);
  auto write = [](AssemblyWriter& writer, int number, absl::string_view constraints) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic error;
    auto module = llvm::parseAssemblyString(absl::Substitute(kStores, number, constraints), error, context);
    EXPECT_TRUE(module) << error.getMessage().str();
    return writer.Write(*module);
  };
  for (const int number : {3, 4, 5, 3}) {
    AssemblyWriter fresh(**machine, kPtxMotion);
    const auto expected = write(fresh, number, "=r,r"), text = write(kept, number, "=r,r");
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(*text, *expected);
    EXPECT_THAT(*text, HasSubstr(absl::StrCat("of_module", number)));
    // An error leaves nothing of its module to the next one.
    if (number == 4) EXPECT_EQ(write(kept, 9, "=x,r").status().code(), absl::StatusCode::kInternal);
  }
}

TEST_F(NvidiaCodegenTest, MatrixUnitsOfOtherGpusAreRefused) {
  for (const auto& [assembly, lacking, having] :
       {std::tuple("wgmma.mma_async", 80, 90), std::tuple("wgmma.mma_async", 120, 90),
        std::tuple("tcgen05.mma", 90, 100)}) {
    for (const int capability : {lacking, having}) {
      TestKernel k("pi");
      auto value = ops_.InlineAsm(k.builder(), k.loc(), k.TypeOf('i'), {k.arg(1)},
                                  std::string("mov.u32 $0, $1; // ") + assembly, "=r,r", true);
      ASSERT_TRUE(mlir::succeeded(value));
      const absl::Status status = k.ToPtx(capability, *toolchain_).status();
      EXPECT_EQ(status.code(), capability == having ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument);
      if (capability == lacking) EXPECT_THAT(std::string(status.message()), HasSubstr("the kernel uses "));
    }
  }
}

TEST_F(NvidiaCodegenTest, AModuleWithoutKernelIsRefused) {
  TestKernel k("p");
  k.module().lookupSymbol<LLVM::LLVMFuncOp>("kernel").removePassthroughAttr();
  EXPECT_EQ(k.ToPtx(90, *toolchain_).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tritond::compiler::nvidia
