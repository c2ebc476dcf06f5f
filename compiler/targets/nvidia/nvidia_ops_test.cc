// SPDX-License-Identifier: Apache-2.0
// Each test emits an operation, looks for its instruction in the PTX, and has an assembler take it where one is there.
#include "compiler/targets/nvidia/nvidia_ops.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/targets/nvidia/ptx_builder.h"
#include "compiler/targets/nvidia/test_kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler::nvidia {
namespace {

namespace LLVM = mlir::LLVM;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class NvidiaOpsTest : public ::testing::Test {
 protected:
  // The PTX of `kernel`; an assembler has accepted it, if there is one.
  std::string Compile(TestKernel& kernel, int compute_capability = 90) {
    auto ptx = kernel.ToPtx(compute_capability, *toolchain_);
    EXPECT_TRUE(ptx.ok()) << ptx.status();
    if (!ptx.ok()) return "";
    if (auto assembler = toolchain_->GetAssembler(); assembler.ok()) {
      auto cubin = (*assembler)->Assemble(*ptx, {.arch = ArchitectureOf(compute_capability).name});
      EXPECT_TRUE(cubin.ok()) << cubin.status() << "\n" << *ptx;
    }
    return *ptx;
  }

  std::shared_ptr<Toolchain> toolchain_ = Toolchain::ForConfig(TargetConfig());
  NvidiaOps ops_{90};
};

MemoryAccess AccessOf(TestKernel& kernel, int ptr, char element, int count) {
  MemoryAccess access;
  access.ptr = kernel.arg(ptr);
  access.element = kernel.TypeOf(element);
  access.count = count;
  return access;
}

TEST_F(NvidiaOpsTest, IdsAreSpecialRegisters) {
  TestKernel k("p");
  k.Keep(0, ops_.ThreadId(k.builder(), k.loc()));
  k.Keep(0, ops_.ProgramId(k.builder(), k.loc(), tt::ProgramDim::kY));
  k.Keep(0, ops_.NumPrograms(k.builder(), k.loc(), tt::ProgramDim::kZ));
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, HasSubstr("%tid.x"));
  EXPECT_THAT(ptx, HasSubstr("%ctaid.y"));
  EXPECT_THAT(ptx, HasSubstr("%nctaid.z"));
}

TEST_F(NvidiaOpsTest, ProgramsOfSeveralBlocksAreClusters) {
  TestKernel k("p");
  k.module()->setAttr("ttg.num-ctas", k.builder().getI32IntegerAttr(2));
  k.Keep(0, ops_.ProgramId(k.builder(), k.loc(), tt::ProgramDim::kX));
  EXPECT_THAT(Compile(k), HasSubstr("%clusterid.x"));
}

TEST_F(NvidiaOpsTest, ShufflesAndBarriersNameAllLanes) {
  TestKernel k("pii");
  auto& b = k.builder();
  k.Keep(0, ops_.ShuffleXor(b, k.loc(), k.arg(1), 4));
  ops_.Barrier(b, k.loc());
  k.Keep(0, ops_.ShuffleIndex(b, k.loc(), k.arg(1), k.arg(2)));
  ops_.WarpBarrier(b, k.loc());
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, HasSubstr("shfl.sync.bfly.b32"));
  EXPECT_THAT(ptx, HasSubstr(", 4, 31, -1;"));
  EXPECT_THAT(ptx, HasSubstr("shfl.sync.idx.b32"));
  EXPECT_THAT(ptx, HasSubstr("bar.sync \t0;"));
  EXPECT_THAT(ptx, HasSubstr("bar.warp.sync"));
}

TEST_F(NvidiaOpsTest, WarpReduceTakesIntegersOf32BitsOnly) {
  TestKernel k("pilf");
  k.builder().getContext()->loadDialect<mlir::arith::ArithDialect>();
  auto add = mlir::arith::AddIOp::create(k.builder(), k.loc(), k.arg(1), k.arg(1));
  auto product = mlir::arith::MulIOp::create(k.builder(), k.loc(), k.arg(1), k.arg(1));
  auto max = mlir::arith::MaxUIOp::create(k.builder(), k.loc(), k.arg(1), k.arg(1));
  auto sum = ops_.WarpReduce(k.builder(), k.loc(), add, k.arg(1));
  auto top = ops_.WarpReduce(k.builder(), k.loc(), max, k.arg(1));
  ASSERT_TRUE(sum && top);
  k.Keep(0, *sum);
  k.Keep(0, *top);
  EXPECT_FALSE(ops_.WarpReduce(k.builder(), k.loc(), product, k.arg(1)));
  EXPECT_FALSE(ops_.WarpReduce(k.builder(), k.loc(), add, k.arg(2)));
  EXPECT_FALSE(ops_.WarpReduce(k.builder(), k.loc(), nullptr, k.arg(1)));
  add.erase();
  product.erase();
  max.erase();
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, HasSubstr("redux.sync.add.s32"));
  EXPECT_THAT(ptx, HasSubstr("redux.sync.max.u32"));
}

TEST_F(NvidiaOpsTest, PlainAccessesAreVectors) {
  TestKernel k("pp");
  auto access = AccessOf(k, 0, 'f', 4);
  auto values = ops_.Load(k.builder(), k.loc(), access, {});
  ASSERT_EQ(values.size(), 4u);
  access.ptr = k.arg(1);
  ops_.Store(k.builder(), k.loc(), access, values);
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, ContainsRegex("ld.global.v4.[bfu]32"));
  EXPECT_THAT(ptx, ContainsRegex("st.global.v4.[bfu]32"));
  EXPECT_THAT(ptx, Not(HasSubstr("begin inline asm")));
}

TEST_F(NvidiaOpsTest, PlainAccessesOfSmallElementsAreVectorsToo) {
  for (char element : {'c', 'h', 'e', 'g'}) {
    TestKernel k("pp");
    auto access = AccessOf(k, 0, element, element == 'c' ? 16 : 8);
    auto values = ops_.Load(k.builder(), k.loc(), access, {});
    access.ptr = k.arg(1);
    ops_.Store(k.builder(), k.loc(), access, values);
    const std::string ptx = Compile(k);
    EXPECT_THAT(ptx, ContainsRegex("ld.global.v4.[bu]32")) << element << ptx;
    EXPECT_THAT(ptx, ContainsRegex("st.global.v4.[bu]32")) << element << ptx;
  }
}

TEST_F(NvidiaOpsTest, PlainAccessesOfPointers) {
  TestKernel k("pp");
  auto access = AccessOf(k, 0, 'p', 2);
  auto values = ops_.Load(k.builder(), k.loc(), access, {});
  ASSERT_EQ(values[0].getType(), k.TypeOf('p'));
  access.ptr = k.arg(1);
  ops_.Store(k.builder(), k.loc(), access, values);
  EXPECT_THAT(Compile(k), ContainsRegex("ld.global.v2.[bu]64"));
}

TEST_F(NvidiaOpsTest, VolatileAccessesStay) {
  TestKernel k("pp");
  auto access = AccessOf(k, 0, 'i', 1);
  access.is_volatile = true;
  ops_.Load(k.builder(), k.loc(), access, {});
  EXPECT_THAT(Compile(k), HasSubstr("ld.volatile.global"));
}

TEST_F(NvidiaOpsTest, MaskedLoadsStartWithTheOtherValue) {
  TestKernel k("ppbf");
  auto access = AccessOf(k, 0, 'f', 2);
  access.predicate = k.arg(2);
  access.evict = tt::EvictionPolicy::kEvictLast;
  auto values = ops_.Load(k.builder(), k.loc(), access, {k.arg(3), k.arg(3)});
  access.ptr = k.arg(1);
  ops_.Store(k.builder(), k.loc(), access, values);
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, ContainsRegex("@%p[0-9]+ ld.global.L1::evict_last.L2::cache_hint.v2.b32 \\{%r[0-9]+, %r[0-9]+\\}, "
                                 "\\[%rd[0-9]+\\], %rd"));
  EXPECT_THAT(ptx, ContainsRegex("@%p[0-9]+ st.global.L1::evict_last.L2::cache_hint.v2.b32 \\[%rd[0-9]+\\], "
                                 "\\{%r[0-9]+, %r[0-9]+\\}, %rd"));
}

TEST_F(NvidiaOpsTest, AccessesOfOnePriorityShareItsPolicy) {
  TestKernel k("pp");
  auto access = AccessOf(k, 0, 'i', 1);
  access.evict = tt::EvictionPolicy::kEvictFirst;
  auto values = ops_.Load(k.builder(), k.loc(), access, {});
  access.ptr = k.arg(1);
  ops_.Store(k.builder(), k.loc(), access, values);
  const std::string ptx = Compile(k);
  const size_t first = ptx.find("createpolicy.fractional.L2::evict_first.b64");
  ASSERT_NE(first, std::string::npos) << ptx;
  EXPECT_EQ(ptx.find("createpolicy", first + 1), std::string::npos) << ptx;
}

// A volatile access goes past the caches.
TEST_F(NvidiaOpsTest, VolatileAccessesHaveNoPolicy) {
  TestKernel k("p");
  auto access = AccessOf(k, 0, 'i', 1);
  access.is_volatile = true;
  access.evict = tt::EvictionPolicy::kEvictLast;
  ops_.Load(k.builder(), k.loc(), access, {});
  EXPECT_THAT(Compile(k), Not(HasSubstr("policy")));
}

// ptxas gets these wrong.
TEST_F(NvidiaOpsTest, AsynchronousCopiesHaveNoPolicy) {
  TestKernel k("ppb");
  auto access = AccessOf(k, 0, 'i', 4);
  access.evict = tt::EvictionPolicy::kEvictFirst;
  mlir::Value shared = LLVM::AddrSpaceCastOp::create(k.builder(), k.loc(),
                                                     LLVM::LLVMPointerType::get(k.builder().getContext(), 3), k.arg(1));
  ASSERT_TRUE(ops_.AsyncCopy(k.builder(), k.loc(), access, {shared, k.arg(2), true}));
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, HasSubstr("cp.async.cg.shared.global ["));
  EXPECT_THAT(ptx, Not(HasSubstr("policy")));
}

// The statement itself moves them there; no register is shared with anything else.
TEST_F(NvidiaOpsTest, MaskedLoadsMoveConstants) {
  TestKernel k("ppb");
  auto access = AccessOf(k, 0, 'e', 4);
  access.predicate = k.arg(2);
  mlir::OpBuilder& b = k.builder();
  mlir::Value one = LLVM::ConstantOp::create(b, k.loc(), access.element, b.getF16FloatAttr(1.0));
  mlir::Value zero = LLVM::ZeroOp::create(b, k.loc(), access.element);
  auto values = ops_.Load(b, k.loc(), access, {zero, one, zero, zero});
  access.ptr = k.arg(1);
  ops_.Store(b, k.loc(), access, values);
  EXPECT_THAT(Compile(k), ContainsRegex("mov.b32 %r[0-9]+, 0x0; mov.b32 %r[0-9]+, 0x3C000000; @%p[0-9]+ ld.global.v2"));
}

TEST_F(NvidiaOpsTest, MaskedAccessesPackSmallElements) {
  const struct {
    char element;
    int count;
    const char* type;
  } kCases[] = {{'c', 1, "\\.b8 "},       {'c', 2, "\\.b16 "}, {'c', 4, "\\.b32 "},      {'c', 16, "\\.v4\\.b32 "},
                {'h', 1, "\\.b16 "},      {'e', 2, "\\.b32 "}, {'g', 8, "\\.v4\\.b32 "}, {'i', 1, "\\.b32 "},
                {'d', 2, "\\.v2\\.b64 "}, {'l', 1, "\\.b64 "}, {'p', 2, "\\.v2\\.b64 "}};
  for (const auto& test : kCases) {
    TestKernel k(std::string("ppb") + test.element);
    auto access = AccessOf(k, 0, test.element, test.count);
    access.predicate = k.arg(2);
    llvm::SmallVector<mlir::Value> others(test.count, k.arg(3));
    auto values = ops_.Load(k.builder(), k.loc(), access, others);
    ASSERT_EQ(values.size(), static_cast<size_t>(test.count));
    EXPECT_EQ(values[0].getType(), access.element);
    access.ptr = k.arg(1);
    ops_.Store(k.builder(), k.loc(), access, values);
    const std::string ptx = Compile(k);
    EXPECT_THAT(ptx, ContainsRegex(std::string("@%p[0-9]+ ld.global") + test.type)) << ptx;
    EXPECT_THAT(ptx, ContainsRegex(std::string("@%p[0-9]+ st.global") + test.type)) << ptx;
  }
}

TEST_F(NvidiaOpsTest, CacheModifiersOfTheOtherKindOfAccessAreLeftOut) {
  const struct {
    tt::CacheModifier modifier;
    const char *load, *store;
  } kCases[] = {{tt::CacheModifier::kCa, "ld.global.ca.b32", "st.global"},
                {tt::CacheModifier::kCg, "ld.global.cg.b32", "st.global.cg.b32"},
                {tt::CacheModifier::kCs, "ld.global.cs.b32", "st.global.cs.b32"},
                {tt::CacheModifier::kCv, "ld.global.cv.b32", "st.global"},
                {tt::CacheModifier::kWb, "ld.global", "st.global.wb.b32"},
                {tt::CacheModifier::kWt, "ld.global", "st.global.wt.b32"}};
  for (const auto& test : kCases) {
    TestKernel k("pp");
    auto access = AccessOf(k, 0, 'i', 1);
    access.cache = test.modifier;
    auto values = ops_.Load(k.builder(), k.loc(), access, {});
    access.ptr = k.arg(1);
    ops_.Store(k.builder(), k.loc(), access, values);
    const std::string ptx = Compile(k);
    EXPECT_THAT(ptx, HasSubstr(test.load));
    EXPECT_THAT(ptx, HasSubstr(test.store));
  }
}

std::string AtomicPtx(NvidiaOpsTest*, TestKernel& k, const NvidiaOps& ops, tt::RmwOp op, bool predicated) {
  AtomicAccess access;
  access.ptr = k.arg(0);
  if (predicated) access.predicate = k.arg(2);
  auto result = ops.AtomicRmw(k.builder(), k.loc(), access, op, k.arg(1));
  if (mlir::failed(result)) return "failed: " + k.error();
  k.Keep(0, *result);
  return "";
}

TEST_F(NvidiaOpsTest, AtomicsAreOneInstructionWhereThereIsOne) {
  const struct {
    tt::RmwOp op;
    char type;
    const char* text;
  } kCases[] = {{tt::RmwOp::kAdd, 'i', ".add.u32"},        {tt::RmwOp::kAdd, 'l', ".add.u64"},
                {tt::RmwOp::kFadd, 'f', ".add.f32"},       {tt::RmwOp::kFadd, 'd', ".add.f64"},
                {tt::RmwOp::kFadd, 'e', ".add.noftz.f16"}, {tt::RmwOp::kFadd, 'g', ".add.noftz.bf16"},
                {tt::RmwOp::kMax, 'i', ".max.s32"},        {tt::RmwOp::kUmin, 'l', ".min.u64"},
                {tt::RmwOp::kAnd, 'i', ".and.b32"},        {tt::RmwOp::kXor, 'l', ".xor.b64"},
                {tt::RmwOp::kXchg, 'f', ".exch.b32"},      {tt::RmwOp::kXchg, 'd', ".exch.b64"}};
  for (const auto& test : kCases) {
    TestKernel k(std::string("p") + test.type + "b");
    ASSERT_EQ(AtomicPtx(this, k, ops_, test.op, true), "");
    EXPECT_THAT(Compile(k), ContainsRegex(std::string("@%p[0-9]+ atom.global.gpu.acq_rel") + test.text + " "));
  }
}

TEST_F(NvidiaOpsTest, FencesReleaseOrAcquireFromSm90On) {
  for (auto [capability, release, acquire] :
       {std::tuple{90, "fence.release.sys;", "fence.acquire.cta;"}, {80, "fence.acq_rel.sys;", "fence.acq_rel.cta;"}}) {
    const NvidiaOps ops(capability);
    TestKernel k("pb");
    ops.Fence(k.builder(), k.loc(), /*releases=*/true, tt::MemSyncScope::kSys, k.arg(1));
    ops.Fence(k.builder(), k.loc(), /*releases=*/false, tt::MemSyncScope::kCta, nullptr);
    const std::string ptx = Compile(k, capability);
    EXPECT_THAT(ptx, ContainsRegex(std::string("@%p[0-9]+ ") + release));
    EXPECT_THAT(ptx, HasSubstr(acquire));
  }
}

TEST_F(NvidiaOpsTest, ReductionsGiveNothingBack) {
  TestKernel k("pib");
  AtomicAccess access;
  access.ptr = k.arg(0);
  access.predicate = k.arg(2);
  access.semantic = tt::MemSemantic::kRelaxed;
  access.result_is_used = false;
  ASSERT_TRUE(mlir::succeeded(ops_.AtomicRmw(k.builder(), k.loc(), access, tt::RmwOp::kUmax, k.arg(1))));
  // There is no exchange that gives nothing back, nor a reduction that acquires.
  ASSERT_TRUE(mlir::succeeded(ops_.AtomicRmw(k.builder(), k.loc(), access, tt::RmwOp::kXchg, k.arg(1))));
  access.semantic = tt::MemSemantic::kAcqRel;
  ASSERT_TRUE(mlir::succeeded(ops_.AtomicRmw(k.builder(), k.loc(), access, tt::RmwOp::kAdd, k.arg(1))));
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, ContainsRegex("@%p[0-9]+ red.global.gpu.relaxed.max.u32 \\[%rd"));
  EXPECT_THAT(ptx, ContainsRegex("@%p[0-9]+ atom.global.gpu.relaxed.exch.b32 %r"));
  EXPECT_THAT(ptx, ContainsRegex("@%p[0-9]+ atom.global.gpu.acq_rel.add.u32 %r"));
}

TEST_F(NvidiaOpsTest, AtomicAdditionsOfFloatsTakeUpToSixteenBytes) {
  TestKernel types("p");
  EXPECT_EQ(NvidiaOps(80).MaxAtomicAdds(types.builder().getF32Type()), 1);
  EXPECT_EQ(ops_.MaxAtomicAdds(types.builder().getF64Type()), 1);
  for (auto [type, width, text] : {std::tuple{'f', 4, "v4.f32"}, {'e', 8, "v8.f16"}, {'g', 2, "v2.bf16"}}) {
    TestKernel k(std::string("p") + type + "b");
    EXPECT_GE(ops_.MaxAtomicAdds(k.arg(1).getType()), width);
    AtomicAccess access;
    access.ptr = k.arg(0);
    access.predicate = k.arg(2);
    auto before = ops_.AtomicAdds(k.builder(), k.loc(), access, std::vector<mlir::Value>(width, k.arg(1)));
    ASSERT_TRUE(mlir::succeeded(before));
    ASSERT_EQ(before->size(), static_cast<size_t>(width));
    k.Keep(0, before->back());
    const std::string ptx = Compile(k);
    EXPECT_THAT(ptx, ContainsRegex("@%p[0-9]+ atom.global.gpu.acq_rel.add.*" + std::string(text)));
  }
}

TEST_F(NvidiaOpsTest, AtomicsWithoutAnInstructionLoopOverASwap) {
  const NvidiaOps ampere(80);
  TestKernel bf16("pgb");
  ASSERT_EQ(AtomicPtx(this, bf16, ampere, tt::RmwOp::kFadd, true), "");
  ASSERT_EQ(AtomicPtx(this, bf16, ampere, tt::RmwOp::kFadd, false), "");
  std::string ptx = Compile(bf16, 80);
  EXPECT_THAT(ptx, HasSubstr("fma.rn.bf16"));
  EXPECT_THAT(ptx, HasSubstr("atom.global.acq_rel.gpu.cas.b16"));
  for (tt::RmwOp op : {tt::RmwOp::kAdd, tt::RmwOp::kMax, tt::RmwOp::kUmin, tt::RmwOp::kXor, tt::RmwOp::kXchg}) {
    TestKernel i16("phb");
    ASSERT_EQ(AtomicPtx(this, i16, ops_, op, true), "");
    EXPECT_THAT(Compile(i16), HasSubstr(".cas.b16"));
  }
}

TEST_F(NvidiaOpsTest, AtomicsThatDoNotExistAreDiagnosed) {
  TestKernel k("pcb");
  EXPECT_THAT(AtomicPtx(this, k, ops_, tt::RmwOp::kAdd, true), HasSubstr("no atomic add of"));
  TestKernel f("pfb");
  EXPECT_THAT(AtomicPtx(this, f, ops_, tt::RmwOp::kMax, true), HasSubstr("no atomic max of"));
}

TEST_F(NvidiaOpsTest, CompareAndSwapTakesThreeWidths) {
  for (auto [type, text] : {std::pair{'h', "cas.b16"}, {'i', "cas.b32"}, {'f', "cas.b32"}, {'l', "cas.b64"}}) {
    TestKernel k(std::string("p") + type);
    AtomicAccess access;
    access.ptr = k.arg(0);
    access.semantic = tt::MemSemantic::kRelaxed;
    access.scope = tt::MemSyncScope::kSys;
    auto old = ops_.AtomicCas(k.builder(), k.loc(), access, k.arg(1), k.arg(1));
    ASSERT_TRUE(mlir::succeeded(old));
    k.Keep(0, *old);
    EXPECT_THAT(Compile(k), HasSubstr(std::string("atom.global.relaxed.sys.") + text));
  }
  TestKernel k("pc");
  AtomicAccess access;
  access.ptr = k.arg(0);
  EXPECT_TRUE(mlir::failed(ops_.AtomicCas(k.builder(), k.loc(), access, k.arg(1), k.arg(1))));
}

TEST_F(NvidiaOpsTest, FastMathIsOneInstruction) {
  const struct {
    const char *op, *text;
    int args;
  } kCases[] = {{"math.exp", "ex2.approx.f32", 1},
                {"math.exp2", "ex2.approx.ftz.f32", 1},
                {"math.sqrt", "sqrt.approx.ftz.f32", 1},
                {"math.rsqrt", "rsqrt.approx.ftz.f32", 1},
                {"tt.precise_divf", "div.rn.f32", 2},
                {"tt.precise_sqrt", "sqrt.rn.f32", 1},
                {"math.floor", "cvt.rmi.f32.f32", 1},
                {"math.absf", "abs.f32", 1},
                {"math.fma", "fma.rn.f32", 3}};
  for (const auto& test : kCases) {
    TestKernel k("pfff");
    llvm::SmallVector<mlir::Value> args = {k.arg(1), k.arg(2), k.arg(3)};
    args.resize(test.args);
    auto value = ops_.Math(k.builder(), k.loc(), test.op, args);
    ASSERT_TRUE(mlir::succeeded(value)) << test.op;
    k.Keep(0, *value);
    const std::string ptx = Compile(k);
    EXPECT_THAT(ptx, HasSubstr(test.text)) << test.op;
    EXPECT_THAT(ptx, Not(HasSubstr("call"))) << test.op;
  }
}

TEST_F(NvidiaOpsTest, DivisionsByOneDivisorShareItsInverse) {
  TestKernel k("ppfff");
  for (int i : {0, 1}) {
    auto value = ops_.Math(k.builder(), k.loc(), "arith.divf", {k.arg(2 + i), k.arg(4)});
    ASSERT_TRUE(mlir::succeeded(value));
    k.Keep(i, *value);
  }
  const std::string ptx = Compile(k);
  const size_t first = ptx.find("rcp.approx.ftz.f32");
  ASSERT_NE(first, std::string::npos) << ptx;
  EXPECT_EQ(ptx.find("rcp.approx.ftz.f32", first + 1), std::string::npos) << ptx;
  EXPECT_THAT(ptx, Not(HasSubstr("div.")));
}

TEST_F(NvidiaOpsTest, DivisorsKnownToBeNormalAreNotComparedWithSubnormals) {
  if (!toolchain_->GetLibdevice().ok()) GTEST_SKIP() << "no libdevice";
  for (const std::string function : {"math.exp", "__nv_expf", "__nv_sinf", ""}) {
    const bool is_logistic = absl::StrContains(function, "exp");
    TestKernel k("pff");
    auto power = absl::StartsWith(function, "math") ? ops_.Math(k.builder(), k.loc(), function, {k.arg(1)})
                 : function.empty()                 ? k.arg(1)
                                    : ops_.CallExtern(k.builder(), k.loc(), function, k.TypeOf('f'), k.arg(1));
    ASSERT_TRUE(mlir::succeeded(power));
    mlir::Value one =
        mlir::LLVM::ConstantOp::create(k.builder(), k.loc(), k.builder().getF32Type(), k.builder().getF32FloatAttr(1));
    mlir::Value sum = mlir::LLVM::FAddOp::create(k.builder(), k.loc(), one, *power);
    auto value = ops_.Math(k.builder(), k.loc(), "arith.divf", {k.arg(2), sum});
    ASSERT_TRUE(mlir::succeeded(value));
    k.Keep(0, *value);
    const std::string ptx = Compile(k);
    EXPECT_THAT(ptx, HasSubstr("setp.gt.f32"));
    EXPECT_EQ(ptx.find("setp.lt.f32") == std::string::npos, is_logistic) << ptx;
  }
}

TEST_F(NvidiaOpsTest, OtherMathComesFromLibdevice) {
  if (!toolchain_->GetLibdevice().ok()) GTEST_SKIP() << "no libdevice";
  const char* kUnary[] = {"math.acos",  "math.acosh", "math.asin",     "math.asinh", "math.atan", "math.atanh",
                          "math.cbrt",  "math.cos",   "math.cosh",     "math.erf",   "math.exp",  "math.exp2",
                          "math.expm1", "math.log",   "math.log10",    "math.log1p", "math.log2", "math.rsqrt",
                          "math.sin",   "math.sinh",  "math.sqrt",     "math.tan",   "math.tanh", "math.ceil",
                          "math.trunc", "math.round", "math.roundeven"};
  for (char type : {'f', 'd'}) {
    TestKernel k(std::string("p") + type);
    for (const char* op : kUnary) {
      auto value = ops_.Math(k.builder(), k.loc(), op, k.arg(1));
      ASSERT_TRUE(mlir::succeeded(value)) << op;
      k.Keep(0, *value);
    }
    for (const char* op : {"math.powf", "math.atan2", "math.copysign", "arith.remf"}) {
      auto value = ops_.Math(k.builder(), k.loc(), op, {k.arg(1), k.arg(1)});
      ASSERT_TRUE(mlir::succeeded(value)) << op;
      k.Keep(0, *value);
    }
    EXPECT_THAT(Compile(k), Not(HasSubstr(".extern .func"))) << type;
  }
}

TEST_F(NvidiaOpsTest, UnknownMathIsDiagnosed) {
  TestKernel k("pfe");
  EXPECT_TRUE(mlir::failed(ops_.Math(k.builder(), k.loc(), "math.frobnicate", k.arg(1))));
  EXPECT_THAT(k.error(), HasSubstr("math.frobnicate"));
  EXPECT_TRUE(mlir::failed(ops_.Math(k.builder(), k.loc(), "math.exp", k.arg(2))));
}

TEST_F(NvidiaOpsTest, ConversionsUseThePackedInstructions) {
  TestKernel k("pffec");
  auto& b = k.builder();
  auto e4m3 = b.getType<mlir::Float8E4M3FNType>();
  auto convert = [&](mlir::FloatType from, mlir::FloatType to, llvm::SmallVector<mlir::Value> values,
                     const char letter) {
    auto results = ops_.ConvertFloat(b, k.loc(), from, to, tt::RoundingMode::kRtne, values);
    ASSERT_EQ(results.size(), values.size());
    for (mlir::Value result : results) {
      EXPECT_EQ(result.getType(), k.TypeOf(letter));
      k.Keep(0, result);
    }
  };
  convert(b.getF32Type(), b.getF16Type(), {k.arg(1), k.arg(2)}, 'e');
  convert(b.getF32Type(), b.getBF16Type(), {k.arg(1), k.arg(2), k.arg(1)}, 'g');
  convert(b.getF32Type(), e4m3, {k.arg(1), k.arg(2), k.arg(2)}, 'c');
  convert(b.getF16Type(), b.getType<mlir::Float8E5M2Type>(), {k.arg(3), k.arg(3)}, 'c');
  convert(e4m3, b.getF16Type(), {k.arg(4)}, 'e');
  convert(b.getType<mlir::Float8E5M2Type>(), b.getBF16Type(), {k.arg(4)}, 'g');
  convert(e4m3, b.getF32Type(), {k.arg(4)}, 'f');
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, HasSubstr("cvt.rn.f16x2.f32"));
  EXPECT_THAT(ptx, HasSubstr("cvt.rn.bf16x2.f32"));
  EXPECT_THAT(ptx, HasSubstr("cvt.rn.satfinite.e4m3x2.f32"));
  EXPECT_THAT(ptx, HasSubstr("cvt.rn.satfinite.e5m2x2.f16x2"));
  EXPECT_THAT(ptx, HasSubstr("cvt.rn.f16x2.e4m3x2"));
  EXPECT_THAT(ptx, HasSubstr("cvt.rn.f16x2.e5m2x2"));
}

TEST_F(NvidiaOpsTest, ConversionsWithoutAnInstructionAreLeftToLowering) {
  TestKernel k("pfdc");
  auto& b = k.builder();
  auto e4m3 = b.getType<mlir::Float8E4M3FNType>();
  const auto rtne = tt::RoundingMode::kRtne;
  EXPECT_TRUE(NvidiaOps(80).ConvertFloat(b, k.loc(), b.getF32Type(), e4m3, rtne, k.arg(1)).empty());
  EXPECT_TRUE(NvidiaOps(86).ConvertFloat(b, k.loc(), e4m3, b.getF16Type(), rtne, k.arg(3)).empty());
  EXPECT_TRUE(ops_.ConvertFloat(b, k.loc(), b.getF32Type(), e4m3, tt::RoundingMode::kRtz, k.arg(1)).empty());
  EXPECT_TRUE(ops_.ConvertFloat(b, k.loc(), b.getF64Type(), b.getBF16Type(), rtne, k.arg(2)).empty());
  EXPECT_TRUE(
      ops_.ConvertFloat(b, k.loc(), b.getType<mlir::Float8E4M3B11FNUZType>(), b.getF16Type(), rtne, k.arg(3)).empty());
}

TEST_F(NvidiaOpsTest, FourBitFloatsAreChoicesOfBytes) {
  // Eight at a time, by halves: codes in bytes, bytes of floats, two pairs.
  for (char type : {'e', 'g', 'f'}) {
    TestKernel k("pi");
    auto floats = ops_.UnpackFp4(k.builder(), k.loc(), mlir::cast<mlir::FloatType>(k.TypeOf(type)), k.arg(1));
    ASSERT_EQ(floats.size(), 8u);
    for (mlir::Value value : floats) k.Keep(0, value);
    std::vector<std::string> parts = absl::StrSplit(Compile(k), "prmt.b32");
    EXPECT_EQ(parts.size() - 1, 8u) << type;
  }
}

TEST_F(NvidiaOpsTest, BytesAreLowBitsOfSignificands) {
  for (auto [type, is_signed, in_words, instruction] :
       {std::tuple('e', true, true, "add.rn.f16x2"), std::tuple('g', true, true, "sub.rn.bf16x2"),
        std::tuple('f', true, true, "add.rn.f32"), std::tuple('e', false, true, "add.rn.f16x2"),
        std::tuple('e', true, false, "add.rn.f16x2"), std::tuple('e', false, false, "add.rn.f16x2")}) {
    TestKernel k("pcccc");
    auto to = mlir::cast<mlir::FloatType>(k.TypeOf(type));
    auto floats =
        ops_.ConvertBytes(k.builder(), k.loc(), to, is_signed, in_words, {k.arg(1), k.arg(2), k.arg(3), k.arg(4)});
    ASSERT_EQ(floats.size(), 4u);
    for (mlir::Value value : floats) k.Keep(0, value);
    const std::string ptx = Compile(k);
    EXPECT_THAT(ptx, HasSubstr(instruction));
    EXPECT_THAT(ptx, Not(HasSubstr("cvt.rn")));
  }
  TestKernel k("pc");
  auto& b = k.builder();
  mlir::Value byte = k.arg(1);
  EXPECT_TRUE(ops_.ConvertBytes(b, k.loc(), b.getF16Type(), true, true, byte).empty());
  EXPECT_TRUE(ops_.ConvertBytes(b, k.loc(), b.getF64Type(), true, true, {byte, byte, byte, byte}).empty());
  EXPECT_TRUE(ops_.ConvertBytes(b, k.loc(), b.getF32Type(), true, false, {byte, byte, byte, byte}).empty());
  EXPECT_TRUE(ops_.ConvertBytes(b, k.loc(), b.getF32Type(), false, true, {byte, byte, byte, byte}).empty());
  EXPECT_TRUE(ops_.ConvertBytes(b, k.loc(), b.getBF16Type(), false, true, {byte, byte, byte, byte}).empty());
}

TEST_F(NvidiaOpsTest, WordsAreRoundedOnce) {
  for (const bool is_bf16 : {true, false}) {
    for (const auto& [is_signed, from] : {std::pair(true, "s32"), std::pair(false, "u32")}) {
      TestKernel k("pi");
      const mlir::FloatType to = is_bf16 ? mlir::FloatType(k.builder().getBF16Type()) : k.builder().getF16Type();
      auto floats = ops_.ConvertWords(k.builder(), k.loc(), to, is_signed, {k.arg(1)});
      ASSERT_EQ(floats.size(), 1u);
      k.Keep(0, floats[0]);
      EXPECT_THAT(Compile(k), HasSubstr(absl::StrCat("cvt.rn.", is_bf16 ? "bf16." : "f16.", from)));
    }
  }
  TestKernel k("pi");
  EXPECT_TRUE(ops_.ConvertWords(k.builder(), k.loc(), k.builder().getF32Type(), true, {k.arg(1)}).empty());
}

TEST_F(NvidiaOpsTest, InlineAssemblyChecksItsConstraints) {
  TestKernel k("pii");
  auto& b = k.builder();
  auto sum = ops_.InlineAsm(b, k.loc(), b.getI32Type(), {k.arg(1), k.arg(2)}, "add.u32 $0, $1, $2;", "=r,r,r", false);
  ASSERT_TRUE(mlir::succeeded(sum));
  k.Keep(0, *sum);
  EXPECT_THAT(Compile(k), ContainsRegex("add.u32 %r[0-9]+, %r[0-9]+, %r[0-9]+;"));
  TestKernel bad("pi");
  EXPECT_TRUE(mlir::failed(
      ops_.InlineAsm(bad.builder(), bad.loc(), bad.TypeOf('i'), {bad.arg(1)}, "mov $0, $1;", "=r,r,r", false)));
  EXPECT_THAT(bad.error(), HasSubstr("2 inputs"));
  TestKernel worse("pi");
  EXPECT_TRUE(
      mlir::failed(ops_.InlineAsm(worse.builder(), worse.loc(), worse.TypeOf('i'), {worse.arg(1)}, "", "=r,{", false)));
}

TEST_F(NvidiaOpsTest, UnusedPureAssemblyIsRemoved) {
  TestKernel k("pii");
  for (bool effects : {false, true}) {
    const char* text = effects ? "xor.b32 $0, $1, $1;" : "or.b32 $0, $1, $1;";
    ASSERT_TRUE(
        mlir::succeeded(ops_.InlineAsm(k.builder(), k.loc(), k.TypeOf('i'), {k.arg(1)}, text, "=r,r", effects)));
  }
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, Not(HasSubstr("or.b32 \t")));
  EXPECT_THAT(ptx, ContainsRegex("xor.b32 %r"));
}

TEST_F(NvidiaOpsTest, AssertCallsTheDriverAndTraps) {
  TestKernel k("pb");
  ops_.Assert(k.builder(), k.loc(), k.arg(1), {"x > 0", "kernel.py", "my_kernel", 42});
  ops_.Assert(k.builder(), k.loc(), k.arg(1), {"x > 0", "kernel.py", "my_kernel", 43});
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, HasSubstr("__assertfail"));
  EXPECT_THAT(ptx, HasSubstr("trap;"));
  EXPECT_THAT(ptx, HasSubstr("42"));
  EXPECT_THAT(ptx, Not(HasSubstr("tritond_assert")));  // inlined
}

TEST_F(NvidiaOpsTest, PrintPromotesAsCDoes) {
  TestKernel k("pihfdpge");
  ASSERT_TRUE(mlir::succeeded(ops_.Print(k.builder(), k.loc(), "%i %i %f %f %p %f %f\n",
                                         {k.arg(1), k.arg(2), k.arg(3), k.arg(4), k.arg(5), k.arg(6), k.arg(7)})));
  ASSERT_TRUE(mlir::succeeded(ops_.Print(k.builder(), k.loc(), "hello\n", {})));
  const std::string ptx = Compile(k);
  EXPECT_THAT(ptx, HasSubstr("vprintf"));
  EXPECT_THAT(ptx, HasSubstr("cvt.f64.f32"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
