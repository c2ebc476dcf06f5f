// SPDX-License-Identifier: Apache-2.0
// Kernels for AMD GPUs, from ttir to a code object: which instructions they come down to, and that nothing spills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/driver/compile.h"

namespace tritond::compiler {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// A loop of dots of 64 x 64 x 64.
constexpr char kMatmul[] = R"(
module {
  tt.func public @matmul(%a: !tt.ptr<TA> {tt.divisibility = 16 : i32}, %b: !tt.ptr<TB> {tt.divisibility = 16 : i32},
                         %c: !tt.ptr<TC> {tt.divisibility = 16 : i32}, %n: i32) {
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %stride = arith.constant dense<64> : tensor<64x1xi32>
    %step = arith.constant dense<4096> : tensor<64x64xi32>
    %zero = arith.constant dense<ZERO> : tensor<64x64xTC>
    %m = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %q = tt.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rs = arith.muli %r, %stride : tensor<64x1xi32>
    %rb = tt.broadcast %rs : tensor<64x1xi32> -> tensor<64x64xi32>
    %qb = tt.broadcast %q : tensor<1x64xi32> -> tensor<64x64xi32>
    %o = arith.addi %rb, %qb : tensor<64x64xi32>
    %sa = tt.splat %a : !tt.ptr<TA> -> tensor<64x64x!tt.ptr<TA>>
    %pa = tt.addptr %sa, %o : tensor<64x64x!tt.ptr<TA>>, tensor<64x64xi32>
    %sb = tt.splat %b : !tt.ptr<TB> -> tensor<64x64x!tt.ptr<TB>>
    %pb = tt.addptr %sb, %o : tensor<64x64x!tt.ptr<TB>>, tensor<64x64xi32>
    %d:3 = scf.for %i = %i0 to %n step %i1 iter_args(%s = %zero, %x = %pa, %y = %pb)
        -> (tensor<64x64xTC>, tensor<64x64x!tt.ptr<TA>>, tensor<64x64x!tt.ptr<TB>>) : i32 {
      %u = tt.load %x : tensor<64x64x!tt.ptr<TA>>
      %v = tt.load %y : tensor<64x64x!tt.ptr<TB>>
      %w = tt.dot %u, %v, %s, inputPrecision = PRECISION : tensor<64x64xTA> * tensor<64x64xTB> -> tensor<64x64xTC>
      %nx = tt.addptr %x, %step : tensor<64x64x!tt.ptr<TA>>, tensor<64x64xi32>
      %ny = tt.addptr %y, %step : tensor<64x64x!tt.ptr<TB>>, tensor<64x64xi32>
      scf.yield %w, %nx, %ny : tensor<64x64xTC>, tensor<64x64x!tt.ptr<TA>>, tensor<64x64x!tt.ptr<TB>>
    }
    %sc = tt.splat %c : !tt.ptr<TC> -> tensor<64x64x!tt.ptr<TC>>
    %pc = tt.addptr %sc, %o : tensor<64x64x!tt.ptr<TC>>, tensor<64x64xi32>
    tt.store %pc, %d#0 : tensor<64x64x!tt.ptr<TC>>
    tt.return
  }
}
)";

// A loop of scaled dots of 64 x 64 x 128: e4m3 with e2m1.
constexpr char kScaledMatmul[] = R"(
module {
  tt.func public @scaled(%a: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32},
                         %s: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %step_a = arith.constant dense<8192> : tensor<64x128xi32>
    %step_b = arith.constant dense<4096> : tensor<64x64xi32>
    %step_s = arith.constant dense<256> : tensor<64x4xi32>
    %width_a = arith.constant dense<128> : tensor<64x1xi32>
    %width_b = arith.constant dense<64> : tensor<64x1xi32>
    %width_s = arith.constant dense<4> : tensor<64x1xi32>
    %m = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %m128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %m4 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %r = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %q = tt.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %q128 = tt.expand_dims %m128 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %q4 = tt.expand_dims %m4 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %ra = arith.muli %r, %width_a : tensor<64x1xi32>
    %rb = arith.muli %r, %width_b : tensor<64x1xi32>
    %rs = arith.muli %r, %width_s : tensor<64x1xi32>
    %ras = tt.broadcast %ra : tensor<64x1xi32> -> tensor<64x128xi32>
    %rbs = tt.broadcast %rb : tensor<64x1xi32> -> tensor<64x64xi32>
    %rss = tt.broadcast %rs : tensor<64x1xi32> -> tensor<64x4xi32>
    %qas = tt.broadcast %q128 : tensor<1x128xi32> -> tensor<64x128xi32>
    %qbs = tt.broadcast %q : tensor<1x64xi32> -> tensor<64x64xi32>
    %qss = tt.broadcast %q4 : tensor<1x4xi32> -> tensor<64x4xi32>
    %oa = arith.addi %ras, %qas : tensor<64x128xi32>
    %ob = arith.addi %rbs, %qbs : tensor<64x64xi32>
    %os = arith.addi %rss, %qss : tensor<64x4xi32>
    %sa = tt.splat %a : !tt.ptr<f8E4M3FN> -> tensor<64x128x!tt.ptr<f8E4M3FN>>
    %sb = tt.splat %b : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
    %ss = tt.splat %s : !tt.ptr<i8> -> tensor<64x4x!tt.ptr<i8>>
    %sc = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %pa = tt.addptr %sa, %oa : tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x128xi32>
    %pb = tt.addptr %sb, %ob : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
    %ps = tt.addptr %ss, %os : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
    %pc = tt.addptr %sc, %ob : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %d:4 = scf.for %i = %i0 to %n step %i1 iter_args(%acc = %zero, %x = %pa, %y = %pb, %z = %ps)
        -> (tensor<64x64xf32>, tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x64x!tt.ptr<i8>>, tensor<64x4x!tt.ptr<i8>>) : i32 {
      %u = tt.load %x : tensor<64x128x!tt.ptr<f8E4M3FN>>
      %v = tt.load %y : tensor<64x64x!tt.ptr<i8>>
      %w = tt.load %z : tensor<64x4x!tt.ptr<i8>>
      %e = tt.dot_scaled %u scale %w, %v scale %w, %acc lhs = e4m3 rhs = e2m1 : tensor<64x128xf8E4M3FN>, tensor<64x4xi8> * tensor<64x64xi8>, tensor<64x4xi8> -> tensor<64x64xf32>
      %nx = tt.addptr %x, %step_a : tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x128xi32>
      %ny = tt.addptr %y, %step_b : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
      %nz = tt.addptr %z, %step_s : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
      scf.yield %e, %nx, %ny, %nz : tensor<64x64xf32>, tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x64x!tt.ptr<i8>>, tensor<64x4x!tt.ptr<i8>>
    }
    tt.store %pc, %d#0 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
)";

struct Dot {
  const char* arch;
  const char *a, *b, *c, *precision;
  const char* instruction;  // a regular expression
};

void PrintTo(const Dot& dot, std::ostream* os) { *os << dot.arch << " " << dot.a << " " << dot.b; }

CompileResult Compile(const std::string& ir, absl::string_view arch, nlohmann::json options = {}) {
  static auto* compiler = Compiler::Create().release();
  CompileRequest request;
  request.ir = ir;
  request.target = absl::StrCat("hip:", arch);
  request.options = std::move(options);
  request.outputs = {Stage::kAsm, Stage::kBinary};
  return compiler->Compile(request);
}

std::string MatmulOf(const Dot& dot) {
  const bool integers = dot.c[0] == 'i';
  return absl::StrReplaceAll(
      kMatmul,
      {{"TA", dot.a}, {"TB", dot.b}, {"TC", dot.c}, {"ZERO", integers ? "0" : "0.0"}, {"PRECISION", dot.precision}});
}

class HipDotTest : public testing::TestWithParam<Dot> {};

TEST_P(HipDotTest, IsTheMatrixInstruction) {
  const CompileResult result = Compile(MatmulOf(GetParam()), GetParam().arch);
  ASSERT_TRUE(result.status.ok()) << result.status;
  const std::string& text = result.artifacts[0].bytes;
  EXPECT_THAT(text, ContainsRegex(GetParam().instruction));
  EXPECT_THAT(text, HasSubstr("\tds_"));
  EXPECT_THAT(text, HasSubstr(".vgpr_spill_count: 0"));
  EXPECT_THAT(text, HasSubstr(".private_segment_fixed_size: 0"));
  EXPECT_THAT(text, ContainsRegex(".vgpr_count: +" + result.metadata["resources"]["registers"].dump() + "\n"));
  EXPECT_EQ(result.metadata["resources"]["local_bytes"], 0);
  EXPECT_EQ(result.artifacts[1].format, "hsaco");
  EXPECT_EQ(result.artifacts[1].bytes.substr(0, 4), "\177ELF");
}

INSTANTIATE_TEST_SUITE_P(
    Formats, HipDotTest,
    testing::Values(Dot{"gfx90a", "f16", "f16", "f32", "ieee", "v_mfma_f32_32x32x8f16"},
                    Dot{"gfx90a", "bf16", "bf16", "f32", "ieee", "v_mfma_f32_32x32x8bf16_1k"},
                    Dot{"gfx90a", "f32", "f32", "f32", "tf32", "v_mfma_f32_32x32x2f32"},
                    Dot{"gfx90a", "f64", "f64", "f64", "ieee", "v_mfma_f64_16x16x4f64"},
                    Dot{"gfx90a", "i8", "i8", "i32", "ieee", "v_mfma_i32_32x32x8i8"},
                    Dot{"gfx90a", "f8E4M3FN", "f8E4M3FN", "f32", "ieee", "v_mfma_f32_32x32x8f16"},
                    Dot{"gfx942", "f16", "f16", "f32", "ieee", "v_mfma_f32_32x32x8_f16"},
                    Dot{"gfx942", "f16", "f16", "f16", "ieee", "v_mfma_f32_32x32x8_f16"},
                    Dot{"gfx942", "bf16", "bf16", "f32", "ieee", "v_mfma_f32_32x32x8_bf16"},
                    Dot{"gfx942", "f32", "f32", "f32", "ieee", "v_mfma_f32_32x32x2_f32"},
                    Dot{"gfx942", "f32", "f32", "f32", "tf32", "v_mfma_f32_32x32x4_xf32"},
                    Dot{"gfx942", "f64", "f64", "f64", "ieee", "v_mfma_f64_16x16x4_f64"},
                    Dot{"gfx942", "i8", "i8", "i32", "ieee", "v_mfma_i32_32x32x16_i8"},
                    Dot{"gfx942", "f8E4M3FNUZ", "f8E4M3FNUZ", "f32", "ieee", "v_mfma_f32_32x32x16_fp8_fp8"},
                    Dot{"gfx942", "f8E5M2FNUZ", "f8E5M2FNUZ", "f32", "ieee", "v_mfma_f32_32x32x16_bf8_bf8"},
                    Dot{"gfx942", "f8E4M3FN", "f8E4M3FN", "f32", "ieee", "v_mfma_f32_32x32x8_f16"},
                    Dot{"gfx950", "f16", "f16", "f32", "ieee", "v_mfma_f32_32x32x16_f16"},
                    Dot{"gfx950", "bf16", "bf16", "f32", "ieee", "v_mfma_f32_32x32x16_bf16"},
                    Dot{"gfx950", "f32", "f32", "f32", "tf32", "v_mfma_f32_32x32x2_f32"},
                    Dot{"gfx950", "i8", "i8", "i32", "ieee", "v_mfma_i32_32x32x32_i8"},
                    Dot{"gfx950", "f8E4M3FN", "f8E4M3FN", "f32", "ieee", "v_mfma_f32_32x32x64_f8f6f4"},
                    // The operands of a transposed result change places.
                    Dot{"gfx950", "f8E5M2", "f8E4M3FN", "f32", "ieee", "v_mfma_f32_32x32x64_f8f6f4 [^\n]*blgp:1"},
                    Dot{"gfx1030", "f16", "f16", "f32", "ieee", "v_fma(c|_mix|)_?f32|v_pk_fma|v_dot2"},
                    Dot{"gfx1100", "f16", "f16", "f32", "ieee", "v_wmma_f32_16x16x16_f16"},
                    Dot{"gfx1100", "bf16", "bf16", "f32", "ieee", "v_wmma_f32_16x16x16_bf16"},
                    Dot{"gfx1100", "i8", "i8", "i32", "ieee", "v_wmma_i32_16x16x16_iu8"},
                    Dot{"gfx1100", "f8E5M2", "f8E5M2", "f32", "ieee", "v_wmma_f32_16x16x16_f16"},
                    Dot{"gfx1100", "f32", "f32", "f32", "tf32", "v_(dual_)?fma"},
                    Dot{"gfx1201", "f16", "f16", "f32", "ieee", "v_wmma_f32_16x16x16_f16"},
                    Dot{"gfx1201", "bf16", "bf16", "f32", "ieee", "v_wmma_f32_16x16x16_bf16"},
                    Dot{"gfx1201", "i8", "i8", "i32", "ieee", "v_wmma_i32_16x16x16_iu8"},
                    Dot{"gfx1201", "f8E4M3FN", "f8E4M3FN", "f32", "ieee", "v_wmma_f32_16x16x16_fp8_fp8"},
                    Dot{"gfx1250", "f16", "f16", "f32", "ieee", "v_wmma_f32_16x16x32_f16"},
                    Dot{"gfx1250", "bf16", "bf16", "f32", "ieee", "v_wmma_f32_16x16x32_bf16"},
                    Dot{"gfx1250", "f32", "f32", "f32", "ieee", "v_wmma_f32_16x16x4_f32"},
                    Dot{"gfx1250", "i8", "i8", "i32", "ieee", "v_wmma_i32_16x16x64_iu8"},
                    Dot{"gfx1250", "f8E4M3FN", "f8E4M3FN", "f32", "ieee", "v_wmma_f32_16x16x64_fp8_fp8"}),
    [](const auto& info) {
      return absl::StrCat(info.param.arch, "_", info.param.a, "_", info.param.b, "_", info.param.c, "_",
                          info.param.precision);
    });

constexpr Dot kDot = {"gfx942", "f16", "f16", "f32", "ieee", ""};

TEST(Hip, OptionsChooseTheTile) {
  const CompileResult result = Compile(MatmulOf(kDot), "gfx942", {{"matrix_instr_nonkdim", 16}, {"kpack", 2}});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("v_mfma_f32_16x16x16_f16"));
  EXPECT_EQ(Compile(MatmulOf(kDot), "gfx942", {{"matrix_instr_nonkdim", 8}}).status.code(),
            absl::StatusCode::kInvalidArgument);
}

// The loads of the next iteration are made before the products of this one.
TEST(Hip, LoadsAreAnIterationAhead) {
  const CompileResult result = Compile(MatmulOf(kDot), "gfx942");
  ASSERT_TRUE(result.status.ok()) << result.status;
  const std::string& text = result.artifacts[0].bytes;
  const size_t barrier = text.find("s_barrier"), ahead = text.find("buffer_load_dwordx", barrier);
  EXPECT_LT(ahead, text.find("ds_write", barrier));
  EXPECT_LT(ahead, text.find("v_mfma"));
  EXPECT_NE(text.find("ds_read_b128"), std::string::npos);
}

// Tiles of the iterations to come go to LDS while this one's are multiplied; the wait leaves them in flight. Scales are
// less than a copy of all threads: they wait in registers.
TEST(Hip, TilesOfScaledDotsAreCopiedAhead) {
  const CompileResult result = Compile(kScaledMatmul, "gfx950", {{"num_stages", 3}});
  ASSERT_TRUE(result.status.ok()) << result.status;
  const std::string& text = result.artifacts[0].bytes;
  const size_t product = text.find("v_mfma_scale"), loop = text.rfind("\n.LBB", product);
  const size_t end = text.find("s_cbranch", product);
  ASSERT_NE(end, std::string::npos) << text;
  const std::string body = text.substr(loop, end - loop);
  EXPECT_THAT(body, AllOf(HasSubstr("v_mfma_scale_f32_32x32x64_f8f6f4"), HasSubstr("global_load_lds_dwordx4"),
                          ContainsRegex("s_waitcnt vmcnt\\([1-9]")));
  EXPECT_LT(body.find("global_load_lds_dwordx4"), body.find("v_mfma_scale"));
  EXPECT_THAT(text, HasSubstr(".vgpr_spill_count: 0"));
}

TEST(Hip, ScheduleHintsAct) {
  const CompileResult plain = Compile(MatmulOf(kDot), "gfx942", {{"schedule_hint", "none"}});
  ASSERT_TRUE(plain.status.ok()) << plain.status;
  EXPECT_EQ(plain.artifacts[0].bytes, Compile(MatmulOf(kDot), "gfx942").artifacts[0].bytes);
  for (const char* hint : {"local-prefetch", "memory-bound-attention"}) {
    const CompileResult hinted = Compile(MatmulOf(kDot), "gfx942", {{"schedule_hint", hint}});
    ASSERT_TRUE(hinted.status.ok()) << hinted.status;
    EXPECT_NE(hinted.artifacts[0].bytes, plain.artifacts[0].bytes) << hint;
    EXPECT_THAT(hinted.artifacts[0].bytes, HasSubstr("v_mfma_f32_32x32x8_f16"));
  }
  const CompileResult other = Compile(MatmulOf(kDot), "gfx942", {{"schedule_hint", "faster"}});
  EXPECT_EQ(other.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(other.status.message()), HasSubstr("not faster"));
}

// The usual schedule of this kernel spills, and there is one that does not.
TEST(Hip, SpillsOnlyWhereEverySchedulerDoes) {
  std::ifstream file("../shared/corpus/dev/attention_fwd_causal_d128.ttir");
  if (!file) GTEST_SKIP() << "../shared/corpus is not there";
  std::ostringstream ir;
  ir << file.rdbuf();
  const CompileResult result = Compile(ir.str(), "gfx942", {{"num_warps", 8}, {"num_stages", 3}});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.metadata["resources"]["local_bytes"], 0);
}

// Copies to LDS are marked by calls until late, which tell nothing about the kernel.
TEST(Hip, CopiesToLdsTakeNoHiddenArguments) {
  const Dot halves = {"gfx950", "f16", "f16", "f32", "ieee", ""};
  const CompileResult result = Compile(MatmulOf(halves), "gfx950", {{"num_stages", 3}});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("global_load_lds_dwordx4"));
  EXPECT_THAT(result.artifacts[0].bytes, testing::Not(HasSubstr("hidden_")));
}

// On this GPU operands take twice the registers, so that every scheduler spills.
TEST(Hip, AddressesStayInLoopsWhereTheyWouldBeSpilled) {
  std::ifstream file("../shared/corpus/dev/attention_fwd.ttir");
  if (!file) GTEST_SKIP() << "../shared/corpus is not there";
  std::ostringstream ir;
  ir << file.rdbuf();
  const CompileResult result = Compile(ir.str(), "gfx1100", {{"num_warps", 4}, {"num_stages", 3}});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_LE(result.metadata["resources"]["local_bytes"], 64);
}

TEST(Hip, MetadataIsForUpstreamsLauncher) {
  const CompileResult result = Compile(MatmulOf(kDot), "gfx942", {{"waves_per_eu", 1}});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.metadata["target"], nlohmann::json({{"backend", "hip"}, {"arch", "gfx942"}, {"warp_size", 64}}));
  EXPECT_EQ(result.metadata["warp_size"], 64);
  EXPECT_EQ(result.metadata["num_stages"], 2);
  EXPECT_EQ(result.metadata["waves_per_eu"], 1);
  EXPECT_EQ(result.metadata["name"], "matmul");
  EXPECT_GT(result.metadata["shared"], 0);
}

// Functions of another vendor's library, by the one that AMD GPUs have.
TEST(Hip, LibraryFunctionsAreTheGpusOwn) {
  const std::string ir = R"(
module {
  tt.func public @k(%p: !tt.ptr<f32>, %x: f32) {
    %y = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "SYMBOL"} : (f32) -> f32
    tt.store %p, %y : !tt.ptr<f32>
    tt.return
  }
}
)";
  // No library is needed for this one.
  const CompileResult fast = Compile(absl::StrReplaceAll(ir, {{"SYMBOL", "__nv_exp2f"}}), "gfx942");
  ASSERT_TRUE(fast.status.ok()) << fast.status;
  EXPECT_THAT(fast.artifacts[0].bytes, HasSubstr("v_exp_f32"));
  const CompileResult called = Compile(absl::StrReplaceAll(ir, {{"SYMBOL", "__nv_erff"}}), "gfx942");
  if (called.status.code() == absl::StatusCode::kFailedPrecondition) {
    EXPECT_THAT(std::string(called.status.message()), HasSubstr("__ocml_erf_f32"));
  } else {
    EXPECT_TRUE(called.status.ok()) << called.status;
  }
  EXPECT_FALSE(Compile(absl::StrReplaceAll(ir, {{"SYMBOL", "__nv_nothing"}}), "gfx942").status.ok());
}

std::string AssemblyOf(const std::string& text, const std::string& constraints) {
  return absl::StrCat(R"(module {
  tt.func public @k(%p: !tt.ptr<i32>, %x: i32) {
    %y = tt.elementwise_inline_asm ")",
                      text, "\" {constraints = \"", constraints,
                      R"(", packed_element = 1 : i32, pure = true} %x : i32 -> i32
    tt.store %p, %y : !tt.ptr<i32>
    tt.return
  }
}
)");
}

TEST(Hip, InstructionsOfACallersAreTaken) {
  for (const char* arch : {"gfx942", "gfx1100"}) {
    const CompileResult result = Compile(AssemblyOf("v_bfrev_b32 $0, $1", "=v,v"), arch);
    ASSERT_TRUE(result.status.ok()) << arch << ": " << result.status;
    EXPECT_THAT(result.artifacts[0].bytes, ContainsRegex("v_bfrev_b32(_e32)? v[0-9]+, ")) << arch;
  }
}

TEST(Hip, OtherAssemblyIsRefusedWithItsPlace) {
  struct Case {
    const char *text, *constraints, *says;
  };
  for (const Case& c :
       {Case{"add.s32 $0, $1, 1;", "=r,r",
             "line 3, column 10: 'tt.elementwise_inline_asm' op holds assembly, in which 'add.s32 $0, $1, 1'"},
        {".incbin \\22/etc/hostname\\22", "=v,v", "in which '.incbin"},

        {"v_bfrev_b32 $0, $1, $1", "=v,v", "assembly text: line"},
        {"v_nothing_b32 $0, $1", "=v,v", "assembly text: line"}}) {
    const CompileResult result = Compile(AssemblyOf(c.text, c.constraints), "gfx942");
    EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument) << result.status;
    EXPECT_THAT(std::string(result.status.message()), HasSubstr(c.says)) << c.text;
  }
  EXPECT_THAT(std::string(Compile(AssemblyOf("v_bfrev_b32 $0, $1", "=v"), "gfx942").status.message()),
              HasSubstr("inline assembly has 1 outputs and 0 inputs"));
}

}  // namespace
}  // namespace tritond::compiler
