// SPDX-License-Identifier: Apache-2.0
// Kernels for Intel GPUs, from ttir to SPIR-V. Every module of real kernels, from ../shared/corpus, is given to the
// validator of the Khronos tools where it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/driver/compile.h"

namespace tritond::compiler {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kMagic[] = "\x03\x02\x23\x07";

std::string ReadFile(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// What a command prints, and its exit status.
std::pair<std::string, int> Run(const std::string& command) {
  std::string text;
  FILE* pipe = popen(absl::StrCat(command, " 2>&1").c_str(), "r");
  if (!pipe) return {"popen failed", 1};
  char buffer[4096];
  while (const size_t count = fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, count);
  return {text, pclose(pipe)};
}

bool HasValidator() {
  static const bool has = Run("spirv-as --version && spirv-val --version").second == 0;
  return has;
}

// What the validator says of a module's text; empty: it is valid. Old validators do not know the conversion to bf16,
// for which another one between the same types stands in.
std::string Complaint(const std::string& name, std::string text) {
  const fs::path file = fs::path(testing::TempDir()) / absl::StrCat(name, ".spirv");
  absl::StrReplaceAll({{"OpCapability BFloat16ConversionINTEL\n", ""}, {"OpConvertFToBF16INTEL", "OpConvertFToU"}},
                      &text);
  std::ofstream(file) << text;
  const std::string quoted = absl::StrCat("'", file.string(), "'");
  auto [complaint, status] = Run(absl::StrCat("spirv-as --preserve-numeric-ids --target-env spv1.4 -o - ", quoted,
                                              " | spirv-val --target-env spv1.4 -"));
  fs::remove(file);
  return status == 0 ? "" : complaint;
}

CompileResult Compile(const std::string& ir, const std::string& target, nlohmann::json options = {}) {
  static auto* compiler = Compiler::Create().release();
  CompileRequest request;
  request.ir = ir;
  request.target = target;
  request.options = std::move(options);
  request.outputs = {Stage::kAsm, Stage::kBinary};
  return compiler->Compile(request);
}

nlohmann::json OptionsOf(fs::path path) {
  nlohmann::json all = nlohmann::json::parse(ReadFile(path.replace_extension(".json")));
  return all.contains("options") ? all["options"] : all;
}

// Two targets whose code goes through the same passes may share a folder: each takes every other kernel.
enum class Part { kAll, kEven, kOdd };

struct Corpus {
  const char* folder;
  const char* target;
  Part part = Part::kAll;
};

bool IsIn(Part part, size_t index) { return part == Part::kAll || (index % 2 == 0) == (part == Part::kEven); }

std::vector<fs::path> KernelsIn(const std::string& folder) {
  std::vector<fs::path> kernels;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".ttir") kernels.push_back(entry.path());
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

class XpuCorpusTest : public testing::TestWithParam<Corpus> {};

TEST_P(XpuCorpusTest, EveryKernelIsValidSpirv) {
  const std::string folder = absl::StrCat("../shared/corpus/", GetParam().folder);
  if (!fs::exists(folder)) GTEST_SKIP() << "../shared/corpus is not there";
  if (!HasValidator()) std::cout << "spirv-val is not installed: modules are not validated\n";
  int compiled = 0;
  const std::vector<fs::path> kernels = KernelsIn(folder);
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!IsIn(GetParam().part, i)) continue;
    const std::string name = kernels[i].stem().string();
    SCOPED_TRACE(name);
    const CompileResult result = Compile(ReadFile(kernels[i]), GetParam().target, OptionsOf(kernels[i]));
    // The kernel's blocks are made for more shared memory than this GPU has, or it uses what another vendor's has.
    if (absl::IsUnimplemented(result.status) || absl::IsResourceExhausted(result.status)) {
      std::cout << name << ": " << result.status.message() << "\n";
      continue;
    }
    ASSERT_TRUE(result.status.ok()) << result.status;
    const std::string& binary = result.artifacts[1].bytes;
    EXPECT_EQ(binary.substr(0, 4), kMagic);
    if (HasValidator()) {
      EXPECT_EQ(Complaint(absl::StrCat(GetParam().folder, "_", name), result.artifacts[0].bytes), "");
    }
    ++compiled;
  }
  std::cout << compiled << " kernels compiled\n";
  EXPECT_GT(compiled, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Folders, XpuCorpusTest,
    testing::Values(Corpus{"dev", "xpu:pvc"}, Corpus{"inductor", "xpu:pvc", Part::kEven}, Corpus{"dev", "xpu:bmg"},
                    Corpus{"inductor", "xpu:bmg", Part::kOdd}, Corpus{"dev", "xpu:pvc:32"},
                    Corpus{"inductor", "xpu:dg2"}, Corpus{"dev", "xpu:dg2:8"}),
    [](const auto& info) {
      return absl::StrReplaceAll(absl::StrCat(info.param.folder, "_for_", info.param.target), {{":", "_"}});
    });

// A kernel of a pointer, a float and an integer.
std::string KernelWith(const std::string& body) {
  return absl::StrCat("module {\n  tt.func public @k(%p: !tt.ptr<f32>, %x: f32, %n: i32) {\n", body,
                      "\n    tt.return\n  }\n}\n");
}

// A product of 32 x 32 x 32.
constexpr char kDot[] = R"(
module {
  tt.func public @dot(%a: !tt.ptr<TYPE> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %m = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %r = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %q = tt.expand_dims %m {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %stride = arith.constant dense<32> : tensor<32x1xi32>
    %rs = arith.muli %r, %stride : tensor<32x1xi32>
    %rb = tt.broadcast %rs : tensor<32x1xi32> -> tensor<32x32xi32>
    %qb = tt.broadcast %q : tensor<1x32xi32> -> tensor<32x32xi32>
    %o = arith.addi %rb, %qb : tensor<32x32xi32>
    %sa = tt.splat %a : !tt.ptr<TYPE> -> tensor<32x32x!tt.ptr<TYPE>>
    %pa = tt.addptr %sa, %o : tensor<32x32x!tt.ptr<TYPE>>, tensor<32x32xi32>
    %u = tt.load %pa : tensor<32x32x!tt.ptr<TYPE>>
    %w = tt.dot %u, %u, %zero, inputPrecision = ieee : tensor<32x32xTYPE> * tensor<32x32xTYPE> -> tensor<32x32xf32>
    %sc = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %pc = tt.addptr %sc, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %pc, %w : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
)";

struct DotCase {
  const char *target, *type;
  const char* part;  // of the text
};

TEST(Xpu, DotsAreMatrixInstructionsWhereThereAreSome) {
  constexpr char kHalves[] = "\"_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f\" Import";
  constexpr char kBrain[] = "\"_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iDv8_f\" Import";
  constexpr char kNarrow[] = "\"_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_iS_Dv8_f\" Import";
  for (const DotCase& dot :
       {DotCase{"xpu:dg2:8", "f16", kNarrow}, DotCase{"xpu:pvc", "f16", kHalves}, DotCase{"xpu:bmg", "f16", kHalves},
        DotCase{"xpu:lnl", "bf16", kBrain}, DotCase{"xpu:ptl", "bf16", kBrain}, DotCase{"xpu:pvc", "f8E5M2", kHalves},
        DotCase{"xpu:pvc", "f32", " fma "}, DotCase{"xpu:dg2", "f16", " fma "},
        DotCase{"xpu:bmg:32", "bf16", " fma "}}) {
    SCOPED_TRACE(absl::StrCat(dot.target, " ", dot.type));
    const CompileResult result = Compile(absl::StrReplaceAll(kDot, {{"TYPE", dot.type}}), dot.target);
    ASSERT_TRUE(result.status.ok()) << result.status;
    EXPECT_THAT(result.artifacts[0].bytes, AllOf(HasSubstr(dot.part), HasSubstr("OpControlBarrier")));
    if (HasValidator()) EXPECT_EQ(Complaint("dot", result.artifacts[0].bytes), "");
  }
}

TEST(Xpu, MetadataIsForUpstreamsLauncher) {
  const CompileResult result = Compile(absl::StrReplaceAll(kDot, {{"TYPE", "f16"}}), "xpu:pvc:32");
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.metadata["target"], nlohmann::json({{"backend", "xpu"}, {"arch", "pvc"}, {"warp_size", 32}}));
  EXPECT_EQ(result.metadata["warp_size"], 32);
  EXPECT_EQ(result.metadata["name"], "dot");
  EXPECT_GT(result.metadata["shared"], 0);
  EXPECT_EQ(result.metadata["parameter_bytes"], nlohmann::json({8, 8}));
  EXPECT_EQ(result.artifacts[0].format, "spirv");
  EXPECT_EQ(result.artifacts[1].format, "spv");
  EXPECT_THAT(result.artifacts[0].bytes, AllOf(HasSubstr("LocalSize 128 1 1"), HasSubstr("SubgroupSize 32")));
}

TEST(Xpu, NativeCodeTellsItsRegisters) {
  const std::string ir = absl::StrReplaceAll(kDot, {{"TYPE", "f16"}});
  struct Case {
    const char *target, *mode;
    int registers;
  };
  for (const Case& each :
       {Case{"xpu:pvc", "default", 128}, Case{"xpu:pvc", "256", 256}, Case{"xpu:dg2:8", "default", 128}}) {
    SCOPED_TRACE(absl::StrCat(each.target, " ", each.mode));
    const CompileResult result = Compile(ir, each.target, {{"native", true}, {"grf_mode", each.mode}});
    if (absl::IsFailedPrecondition(result.status)) GTEST_SKIP() << result.status;
    ASSERT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(result.artifacts[0].format, "spirv");
    EXPECT_EQ(result.artifacts[1].format, "zebin");
    EXPECT_THAT(result.artifacts[1].bytes, testing::StartsWith("\177ELF"));
    EXPECT_EQ(result.metadata["resources"]["registers"], each.registers);
    EXPECT_EQ(result.metadata["resources"]["local_bytes"], 0);
  }
}

TEST(Xpu, NativeIsABoolean) {
  const CompileResult result = Compile(absl::StrReplaceAll(kDot, {{"TYPE", "f16"}}), "xpu:pvc", {{"native", 3}});
  EXPECT_TRUE(absl::IsInvalidArgument(result.status)) << result.status;
  EXPECT_EQ(Compile(absl::StrReplaceAll(kDot, {{"TYPE", "f16"}}), "xpu:pvc", {{"native", false}}).artifacts[1].format,
            "spv");
}

// The text is all that the binary is made of.
TEST(Xpu, LlirGivesTheSameModule) {
  static auto* compiler = Compiler::Create().release();
  CompileRequest request;
  request.ir = absl::StrReplaceAll(kDot, {{"TYPE", "bf16"}});
  request.target = "xpu:bmg";
  request.outputs = {Stage::kLlir, Stage::kBinary};
  const CompileResult whole = compiler->Compile(request);
  ASSERT_TRUE(whole.status.ok()) << whole.status;
  request.ir = whole.artifacts[0].bytes;
  request.input = Stage::kLlir;
  request.outputs = {Stage::kBinary};
  const CompileResult rest = compiler->Compile(request);
  ASSERT_TRUE(rest.status.ok()) << rest.status;
  EXPECT_EQ(rest.artifacts[0].bytes, whole.artifacts[1].bytes);
}

TEST(Xpu, PrintsByOpenClsFunction) {
  const CompileResult result =
      Compile(KernelWith(R"(    tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : f32)"), "xpu:dg2");
  ASSERT_TRUE(result.status.ok()) << result.status;
  // Not for the validator: the format is an array in memory, and it wants the first character. Drivers take both.
  EXPECT_THAT(result.artifacts[0].bytes, AllOf(HasSubstr(" printf "), Not(HasSubstr("Float64"))));
}

TEST(Xpu, AssertionsAreRefusedWhereTheyWouldAct) {
  const std::string ir = KernelWith(R"(
    %zero = arith.constant 0 : i32
    %there = arith.cmpi sgt, %n, %zero : i32
    %all = tt.splat %there : i1 -> tensor<16xi1>
    tt.assert %all, "too few" : tensor<16xi1>)");
  EXPECT_TRUE(Compile(ir, "xpu:pvc").status.ok());
  const CompileResult result = Compile(ir, "xpu:pvc", {{"debug", true}});
  EXPECT_EQ(result.status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("pvc has no trap"));
}

TEST(Xpu, TakesNoAssembly) {
  const std::string ir = KernelWith(
      R"(    %y = tt.elementwise_inline_asm "mov $0, $1" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %n : i32 -> i32)");
  EXPECT_EQ(Compile(ir, "xpu:pvc").status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(Xpu, LibraryFunctionsAreOpenCls) {
  const std::string ir = KernelWith(R"(
    %y = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "SYMBOL"} : (f32) -> f32
    tt.store %p, %y : !tt.ptr<f32>)");
  for (const char* symbol : {"__nv_erff", "__ocml_erf_f32"}) {
    const CompileResult result = Compile(absl::StrReplaceAll(ir, {{"SYMBOL", symbol}}), "xpu:pvc");
    ASSERT_TRUE(result.status.ok()) << result.status;
    EXPECT_THAT(result.artifacts[0].bytes, HasSubstr(" erf "));
  }
  for (const char* symbol : {"__nv_nothing", "__nv_j0f", "__nv_powf"})
    EXPECT_EQ(Compile(absl::StrReplaceAll(ir, {{"SYMBOL", symbol}}), "xpu:pvc").status.code(),
              absl::StatusCode::kUnimplemented)
        << symbol;
}

// f16 and bf16 have no atomic additions: the word that holds them is exchanged.
TEST(Xpu, NarrowAtomicsAreLoops) {
  for (const char* type : {"f16", "bf16"}) {
    const std::string ir = absl::StrReplaceAll(R"(
module {
  tt.func public @k(%p: !tt.ptr<TYPE>, %x: TYPE) {
    %true = arith.constant true
    %a = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x, %true : (!tt.ptr<TYPE>, TYPE, i1) -> TYPE
    tt.store %p, %a : !tt.ptr<TYPE>
    tt.return
  }
}
)",
                                               {{"TYPE", type}});
    const CompileResult result = Compile(ir, "xpu:pvc");
    ASSERT_TRUE(result.status.ok()) << result.status;
    EXPECT_THAT(result.artifacts[0].bytes,
                AllOf(HasSubstr("OpAtomicCompareExchange"), Not(HasSubstr("OpAtomicFAddEXT"))));
    if (HasValidator()) EXPECT_EQ(Complaint(type, result.artifacts[0].bytes), "");
  }
}

TEST(Xpu, RegisterModesAreChecked) {
  const std::string ir =
      "module {\n  tt.func public @k(%p: !tt.ptr<i32>, %x: i32) {\n    tt.store %p, %x : !tt.ptr<i32>\n    tt.return\n "
      " }\n}\n";
  const CompileResult good = Compile(ir, "xpu:pvc", {{"grf_mode", "256"}, {"block_reads", false}});
  ASSERT_TRUE(good.status.ok()) << good.status;
  EXPECT_EQ(good.metadata["grf_mode"], "256");
  EXPECT_TRUE(good.ignored_options.empty());
  const CompileResult bad = Compile(ir, "xpu:pvc", {{"grf_mode", "512"}});
  EXPECT_EQ(bad.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bad.status.message()), HasSubstr("option grf_mode is default, 128, 256 or auto, not 512"));
}

}  // namespace
}  // namespace tritond::compiler
