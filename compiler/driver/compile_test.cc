// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "absl/strings/str_replace.h"

namespace tritond::compiler {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kScale[] = R"(module {
  tt.func public @scale(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %bound = tt.splat %n : i32 -> tensor<512xi32>
    %mask = arith.cmpi slt, %range, %bound : tensor<512xi32>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %ptr = tt.addptr %base, %range : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %v = tt.load %ptr, %mask : tensor<512x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<512xf32>
    tt.store %ptr, %w, %mask : tensor<512x!tt.ptr<f32>>
    tt.return
  }
}
)";

Compiler& Warm() {
  static Compiler* compiler = Compiler::Create().release();
  return *compiler;
}

CompileRequest Request(std::string ir, std::vector<Stage> outputs = {Stage::kAsm}) {
  CompileRequest request;
  request.ir = std::move(ir);
  request.target = "cuda:90";
  request.options = nlohmann::json::object();
  request.outputs = std::move(outputs);
  return request;
}

TEST(Compiler, CompilesAKernelToPtx) {
  CompileResult result = Warm().Compile(Request(kScale));
  ASSERT_TRUE(result.status.ok()) << result.status;
  ASSERT_EQ(result.artifacts.size(), 1);
  EXPECT_EQ(result.artifacts[0].format, "ptx");
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr(".entry scale("));
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr(".target sm_90a"));
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("reqntid 128"));
  EXPECT_EQ(result.metadata["name"], "scale");
  EXPECT_EQ(result.metadata["shared"], 0);
  EXPECT_EQ(result.metadata["num_warps"], 4);
}

TEST(Compiler, VectorisesWhatIsContiguousAndUnmasked) {
  std::string ir = kScale;
  for (const char* mask : {", %mask"})
    for (size_t at; (at = ir.find(mask)) != std::string::npos;) ir.erase(at, std::string(mask).size());
  CompileResult result = Warm().Compile(Request(ir));
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("ld.global.v4"));
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("st.global.v4"));
}

TEST(Compiler, ReturnsEveryStageInTheOrderAskedFor) {
  CompileResult result = Warm().Compile(Request(kScale, {Stage::kAsm, Stage::kTtir, Stage::kLlir, Stage::kTtgir}));
  ASSERT_TRUE(result.status.ok()) << result.status;
  ASSERT_EQ(result.artifacts.size(), 4);
  EXPECT_EQ(result.artifacts[0].format, "ptx");
  EXPECT_THAT(result.artifacts[1].bytes, HasSubstr("tt.func public @scale"));
  EXPECT_THAT(result.artifacts[2].bytes, HasSubstr("define"));
  EXPECT_THAT(result.artifacts[3].bytes, HasSubstr("#ttg.blocked"));
  EXPECT_EQ(result.stages.size(), 4);
}

TEST(Compiler, MetadataTellsWhatABinaryTakes) {
  CompileResult result = Warm().Compile(Request(kScale, {Stage::kBinary}));
  if (absl::IsFailedPrecondition(result.status)) GTEST_SKIP() << result.status;
  ASSERT_TRUE(result.status.ok()) << result.status;
  const nlohmann::json& resources = result.metadata["resources"];
  EXPECT_GT(resources["registers"], 4);
  EXPECT_LT(resources["registers"], 64);
  EXPECT_EQ(resources["local_bytes"], 0);
  EXPECT_EQ(resources["blocks"], 16);  // of four warps each
  EXPECT_EQ(resources["warps"], 64);
  EXPECT_EQ(resources["limit"], "warps");
  EXPECT_FALSE(Warm().Compile(Request(kScale)).metadata.contains("resources")) << "there is no binary";
}

TEST(Compiler, ADisassemblyIsAnOutputLikeOthers) {
  CompileRequest request = Request(kScale, {Stage::kDisassembly, Stage::kBinary});
  request.debug_info = true;
  CompileResult result = Warm().Compile(request);
  if (absl::IsFailedPrecondition(result.status)) GTEST_SKIP() << result.status;
  ASSERT_TRUE(result.status.ok()) << result.status;
  ASSERT_EQ(result.artifacts.size(), 2);
  EXPECT_EQ(result.artifacts[0].format, "sass");
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("STG.E"));
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("//## File \""));
  EXPECT_EQ(result.artifacts[1].format, "cubin");
}

TEST(Compiler, ADisassemblyIsNoInputAndNotOfEveryTarget) {
  CompileRequest request = Request(kScale, {Stage::kDisassembly});
  request.target = "hip:gfx942";
  CompileResult result = Warm().Compile(request);
  EXPECT_TRUE(absl::IsInvalidArgument(result.status));
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("target hip:gfx942 has none; ask for asm"));
  request.input = Stage::kDisassembly;
  EXPECT_TRUE(absl::IsInvalidArgument(Warm().Compile(request).status));
}

TEST(Compiler, StartsFromTtgirLlirAndAsmToo) {
  CompileResult first = Warm().Compile(Request(kScale, {Stage::kTtgir, Stage::kLlir, Stage::kAsm}));
  ASSERT_TRUE(first.status.ok()) << first.status;
  for (const Artifact& artifact : first.artifacts) {
    CompileRequest request = Request(artifact.bytes);
    request.input = artifact.stage;
    CompileResult again = Warm().Compile(request);
    ASSERT_TRUE(again.status.ok()) << StageName(artifact.stage) << ": " << again.status;
    EXPECT_EQ(again.artifacts[0].bytes, first.artifacts[2].bytes) << StageName(artifact.stage);
    EXPECT_EQ(again.metadata["name"], "scale") << StageName(artifact.stage);
  }
}

TEST(Compiler, RefusesLayoutsForOtherWarps) {
  CompileRequest request = Request(Warm().Compile(Request(kScale, {Stage::kTtgir})).artifacts[0].bytes);
  request.input = Stage::kTtgir;
  for (const char* target : {"host:64", "hip:gfx942"}) {
    request.target = target;
    const CompileResult result = Warm().Compile(request);
    EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(result.status.message()), HasSubstr("is for warps of 32 threads"));
  }
}

TEST(Compiler, TwoCompilesGiveTheSameBytes) {
  EXPECT_EQ(Warm().Compile(Request(kScale)).artifacts[0].bytes,
            Compiler::Create()->Compile(Request(kScale)).artifacts[0].bytes);
}

constexpr char kAsserts[] = R"(module {
  tt.func public @check(%c: i1) {
    tt.assert %c, "no" : i1 loc(#loc1)
    tt.return
  }
}
#loc1 = loc("kernel.py":17:3)
)";

TEST(Compiler, WithoutDebugInfoLocationsDoNotReachTheBytes) {
  CompileRequest request = Request(kAsserts);
  request.options = {{"debug", true}};
  CompileRequest moved = request;
  moved.ir = "// a comment\n\n" + moved.ir;
  CompileResult result = Warm().Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("__assertfail"));
  EXPECT_EQ(Warm().Compile(moved).artifacts[0].bytes, result.artifacts[0].bytes);
}

TEST(Compiler, WithDebugInfoThePtxHasALineTable) {
  CompileRequest request = Request(kAsserts);
  request.options = {{"debug", true}};
  EXPECT_THAT(Warm().Compile(request).artifacts[0].bytes, Not(HasSubstr("\t.loc\t")));
  request.debug_info = true;
  CompileResult result = Warm().Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("\t.loc\t"));
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("kernel.py"));
}

TEST(Compiler, PlacesWithoutFilesAreNoProblemOfDebugInfo) {
  for (const char* place :
       {"unknown", "callsite(unknown at unknown)", "callsite(unknown at \"kernel.py\":1:2)",
        "callsite(callsite(\"f\"(unknown) at \"g.py\":1:2) at unknown)", "fused[unknown, unknown]"}) {
    CompileRequest request = Request(
        "tt.func public @kernel(%p: !tt.ptr<i32>, %x: i32) {\n  tt.store %p, %x : "
        "!tt.ptr<i32> loc(" +
        std::string(place) + ")\n  tt.return\n}\n");
    request.debug_info = true;
    EXPECT_TRUE(Warm().Compile(request).status.ok()) << place;
  }
}

// Nothing that a compiler has done before may be what makes it know a target's own operations.
TEST(Compiler, OperationsOfATargetAreKnownFromTheStart) {
  CompileRequest request = Request(R"(
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8, 32]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#blocked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%p: !tt.ptr<i32>) {
    %one = arith.constant dense<1> : tensor<64x32xi8, #a>
    %two = arith.constant dense<2> : tensor<32x8xi8, #blocked>
    %n = ttg.local_alloc %two : (tensor<32x8xi8, #blocked>) -> !ttg.memdesc<32x8xi8, #columns, #smem>
    %c = arith.constant dense<3> : tensor<64x8xi32, #mma>
    %d = ttng.warp_group_dot %one, %n, %c : tensor<64x32xi8, #a> * !ttg.memdesc<32x8xi8, #columns, #smem> -> tensor<64x8xi32, #mma>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<64x8x!tt.ptr<i32>, #mma>
    tt.store %q, %d : tensor<64x8x!tt.ptr<i32>, #mma>
    tt.return
  }
}
)");
  request.input = Stage::kTtgir;
  CompileResult result = Compiler::Create()->Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("wgmma.mma_async"));
}

TEST(Compiler, HiddenParametersFollowTheAbiRecord) {
  auto count = [](const std::string& ptx) {
    size_t count = 0;
    for (size_t at = ptx.find(".param ."); at != std::string::npos; at = ptx.find(".param .", at + 1))
      count += ptx.find(".entry") < at && at < ptx.find(")\n");
    return count;
  };
  CompileRequest request = Request(kScale);
  EXPECT_EQ(count(Warm().Compile(request).artifacts[0].bytes), 4);
  request.abi = {true, false};
  EXPECT_EQ(count(Warm().Compile(request).artifacts[0].bytes), 3);
  request.abi = {false, false};
  EXPECT_EQ(count(Warm().Compile(request).artifacts[0].bytes), 2);
}

// Base, then shape and strides (with the flags between) for the descriptor, and again as parameters of their own.
TEST(Compiler, DescriptorParametersFollowTheAbiRecord) {
  CompileRequest request = Request(R"(module {
  tt.func public @copy(%in: !tt.tensordesc<tensor<16x16xf32>>, %m: i32, %n: i32, %sm: i64, %sn: i64, %out: !tt.ptr<f32>) {
    %zero = arith.constant 0 : i32
    %x = tt.descriptor_load %in[%zero, %zero] : !tt.tensordesc<tensor<16x16xf32>> -> tensor<16x16xf32>
    %s = tt.splat %out : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    tt.store %s, %x : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
)");
  for (int flags : {0, 1, 2}) {
    request.abi = {false, false, flags};
    CompileResult result = Warm().Compile(request);
    ASSERT_TRUE(result.status.ok()) << result.status;
    const std::string& ptx = result.artifacts[0].bytes;
    EXPECT_THAT(ptx, HasSubstr("copy_param_" + std::to_string(9 + flags)));
    EXPECT_EQ(ptx.find("copy_param_" + std::to_string(10 + flags)), std::string::npos);
    EXPECT_EQ(result.metadata["tensordesc_meta"], nlohmann::json::array());
  }
}

// A loop of dots whose operands two descriptors name. The third one's block is stored after it.
constexpr char kProduct[] = R"(module {
  tt.func public @product(%a: !tt.tensordesc<tensor<64x64xf16>>, %am: i32, %ak: i32, %as: i64, %a1: i64, %b: !tt.tensordesc<tensor<64x64xf16>>, %bk: i32, %bn: i32, %bs: i64, %b1: i64, %c: !tt.tensordesc<tensor<64x64xf32>>, %cm: i32, %cn: i32, %cs: i64, %c1: i64) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = scf.for %k = %zero to %ak step %step iter_args(%acc = %nothing) -> (tensor<64x64xf32>) : i32 {
      %x = tt.descriptor_load %a[%zero, %k] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %y = tt.descriptor_load %b[%k, %zero] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tt.descriptor_store %c[%zero, %zero], %r : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
    tt.return
  }
}
)";

TEST(Compiler, TensorMapsOfTheLauncherAreParameters) {
  CompileRequest request = Request(kProduct);
  request.target = "cuda:90";
  request.abi.host_tensor_maps = true;
  CompileResult result = Warm().Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  const std::string& ptx = result.artifacts[0].bytes;
  EXPECT_THAT(ptx, HasSubstr(".param .align 64 .b8 product_param_0[128]"));
  EXPECT_THAT(ptx, HasSubstr("cp.async.bulk.tensor.2d"));
  EXPECT_THAT(ptx, HasSubstr("prefetch.tensormap"));
  EXPECT_THAT(ptx, testing::Not(HasSubstr(".local")));
  EXPECT_THAT(ptx, testing::Not(HasSubstr("tensormap.replace")));
  const nlohmann::json map = {
      {"swizzle", 3}, {"elem_size", 2}, {"elem_type", 6}, {"block_size", {64, 64}}, {"fp4_padded", false}};
  const nlohmann::json map_of_halves = {
      {"swizzle", 3}, {"elem_size", 4}, {"elem_type", 7}, {"block_size", {64, 32}}, {"fp4_padded", false}};
  EXPECT_EQ(result.metadata["tensordesc_meta"], nlohmann::json({map, map, map_of_halves}));
  EXPECT_EQ(result.metadata["global_scratch_size"], 0);
  EXPECT_EQ(result.metadata["parameter_bytes"], nlohmann::json({128, 4, 4, 8, 8, 128, 4, 4, 8, 8, 128, 4, 4, 8, 8}));
}

// Two warps make no group for the matrix unit, and read buffers that are filled in the same way.
TEST(Compiler, TensorMapsFillBuffersThatWarpsReadAlone) {
  CompileRequest request = Request(kProduct);
  request.target = "cuda:90";
  request.abi.host_tensor_maps = true;
  request.options = {{"num_warps", 2}};
  CompileResult result = Warm().Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  const std::string& ptx = result.artifacts[0].bytes;
  EXPECT_THAT(ptx, HasSubstr("mma.sync"));
  EXPECT_THAT(ptx, HasSubstr("cp.async.bulk.tensor.2d.shared::cluster.global"));
  EXPECT_THAT(ptx, Not(HasSubstr("cp.async.cg")));
}

// Where the descriptor is the launcher's without a map, its parts are parameters.
TEST(Compiler, DescriptorsOfOtherLoadsAreParts) {
  CompileRequest request = Request(absl::StrReplaceAll(
      kProduct,
      {{"tt.descriptor_store %c[%zero, %zero], %r",
        "%old = tt.descriptor_load %c[%zero, %zero] : !tt.tensordesc<tensor<64x64xf32>> -> tensor<64x64xf32>\n"
        "    %new = arith.addf %r, %old : tensor<64x64xf32>\n"
        "    tt.descriptor_store %c[%zero, %zero], %new"}}));
  request.target = "cuda:90";
  request.abi.host_tensor_maps = true;
  CompileResult result = Warm().Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.metadata["parameter_bytes"],
            nlohmann::json({128, 4, 4, 8, 8, 128, 4, 4, 8, 8, 8, 8, 8, 8, 8, 1, 4, 4, 8, 8}));
}

TEST(Compiler, WhatNoTensorMapCopiesIsAsWithoutThem) {
  CompileRequest request = Request(kProduct);
  request.target = "cuda:90";
  request.options = {{"bulk_copies", false}};
  CompileResult without = Warm().Compile(request);
  request.abi.host_tensor_maps = true;
  CompileResult with = Warm().Compile(request);
  ASSERT_TRUE(without.status.ok() && with.status.ok()) << without.status << with.status;
  EXPECT_EQ(with.artifacts[0].bytes, without.artifacts[0].bytes);
  EXPECT_EQ(with.metadata, without.metadata);
}

// Each block of a cluster has half of the columns of b, and all of a.
TEST(Compiler, TensorMapsOfClustersAreOfTheirBlocksParts) {
  CompileRequest request = Request(kProduct);
  request.target = "cuda:90";
  request.abi.host_tensor_maps = true;
  request.options = {{"num_ctas", 2}};
  CompileResult result = Warm().Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  const nlohmann::json maps = result.metadata["tensordesc_meta"];
  EXPECT_EQ(maps[0]["block_size"], nlohmann::json({64, 64})) << maps;
  EXPECT_EQ(maps[1]["block_size"], nlohmann::json({64, 32})) << maps;
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("%cluster_ctarank"));
}

TEST(Compiler, EchoesOptionsAndNamesTheIgnoredOnes) {
  CompileRequest request = Request(kScale);
  request.options = {{"num_warps", 8}, {"launch_style", 2}, {"maxnreg", nullptr}, {"shared", 12345}};
  CompileResult result = Warm().Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.metadata["launch_style"], 2);
  EXPECT_EQ(result.metadata["num_warps"], 8);
  EXPECT_EQ(result.metadata["shared"], 0);
  EXPECT_THAT(result.ignored_options, testing::Contains("launch_style"));
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("reqntid 256"));
}

struct BadOption {
  nlohmann::json options;
  const char* message;
};

TEST(Compiler, NamesABadOptionAndWhatIsAllowed) {
  for (const BadOption& bad :
       {BadOption{{{"num_warps", 3}}, "num_warps = 3: must be a power of two from 1 to 32"},
        BadOption{{{"num_warps", "four"}}, "num_warps = \"four\""}, BadOption{{{"num_stages", -1}}, "num_stages = -1"},
        BadOption{{{"debug", 1}}, "debug = 1: must be true or false"},
        BadOption{{{"warp_size", 48}}, "warp_size = 48: must be a power of two from 16 to 64"}}) {
    CompileRequest request = Request(kScale);
    request.options = bad.options;
    CompileResult result = Warm().Compile(request);
    EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(result.status.message()), HasSubstr(bad.message));
  }
}

TEST(Compiler, NamesTheClustersThatATargetHas) {
  CompileRequest request = Request(kScale);
  request.target = "cuda:80";
  request.options = {{"num_ctas", 2}};
  EXPECT_THAT(std::string(Warm().Compile(request).status.message()), HasSubstr("num_ctas = 2: must be 1 on cuda:80"));
}

TEST(Compiler, NamesAnUnknownTargetAndThoseThereAre) {
  CompileRequest request = Request(kScale);
  request.target = "cuda:61";
  CompileResult result = Warm().Compile(request);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("cuda:90"));
}

TEST(Compiler, WrongIrIsADiagnosticWithLineAndColumn) {
  std::string ir = kScale;
  ir.replace(ir.find("arith.addf %v, %v : tensor<512xf32>"), 35, "arith.addf %v, %n : tensor<512xf32>");
  CompileResult result = Warm().Compile(Request(ir));
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics[0].line, 9);
  EXPECT_GT(result.diagnostics[0].column, 1);
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("line 9"));
}

TEST(Compiler, IrOfANewerReleaseIsBeyondItAndNoMistake) {
  const std::string load = "tt.load %ptr, %mask ";
  for (const char* newer : {"tt.new_thing %ptr, %mask ", "tt.load %ptr, %mask {new_thing = 1 : i32} "}) {
    CompileRequest request = Request(kScale);
    request.ir.replace(request.ir.find(load), load.size(), newer);
    EXPECT_TRUE(absl::IsUnimplemented(Warm().Compile(request).status)) << newer;
  }
}

TEST(Compiler, AModuleWithoutAKernelIsRefused) {
  CompileResult result = Warm().Compile(Request("module {}"));
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("one public tt.func"));
}

TEST(Compiler, AnOperationThatItCannotLowerIsADiagnosticThere) {
  CompileResult result = Warm().Compile(Request(R"(
tt.func public @power(%p: !tt.ptr<i32>, %v: i32) {
  %0 = math.ipowi %v, %v : i32
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return
})"));
  EXPECT_EQ(result.status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("math.ipowi"));
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("line 3"));
  EXPECT_TRUE(result.artifacts.empty());
}

TEST(Compiler, ReportsEachStageToItsObserver) {
  auto compiler = Compiler::Create();
  std::vector<Stage> seen;
  compiler->OnStage([&](Stage stage, const CompileRequest&) {
    seen.push_back(stage);
    return absl::OkStatus();
  });
  compiler->Compile(Request(kScale));
  EXPECT_THAT(seen, testing::ElementsAre(Stage::kTtir, Stage::kTtgir, Stage::kLlir, Stage::kAsm));
}

TEST(Compiler, AnObserverMayEndTheCompile) {
  auto compiler = Compiler::Create();
  std::vector<Stage> seen;
  compiler->OnStage([&](Stage stage, const CompileRequest&) {
    seen.push_back(stage);
    return stage == Stage::kLlir ? absl::DeadlineExceededError("too late") : absl::OkStatus();
  });
  const CompileResult stopped = compiler->Compile(Request(kScale));
  EXPECT_EQ(stopped.status, absl::DeadlineExceededError("too late"));
  EXPECT_TRUE(stopped.artifacts.empty());
  EXPECT_THAT(seen, testing::ElementsAre(Stage::kTtir, Stage::kTtgir, Stage::kLlir));
  compiler->OnStage(nullptr);
  EXPECT_TRUE(compiler->Compile(Request(kScale)).status.ok()) << "and leaves nothing behind";
}

TEST(Compiler, BuildIdNamesLlvmAndIsStable) {
  EXPECT_THAT(Warm().BuildId(), HasSubstr("LLVM 22"));
  EXPECT_EQ(Warm().BuildId(), Warm().BuildId());
  EXPECT_EQ(Warm().BuildId(), Compiler::Create()->BuildId());
}

// A kernel whose line 6 is the given assembly.
std::string WithAssembly(const std::string& text, const std::string& constraints) {
  return R"(module {
  tt.func public @inlined(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %base = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %ptr = tt.addptr %base, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %y = tt.elementwise_inline_asm ")" +
         text + "\" {constraints = \"" + constraints +
         R"(", packed_element = 1 : i32, pure = true} %range : tensor<256xi32> -> tensor<256xi32>
    tt.store %ptr, %y : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
)";
}

TEST(Compiler, WrongInlineAssemblyIsTheCallersMistakeAndNamesItsPlace) {
  const CompileResult good = Warm().Compile(Request(WithAssembly("add.s32 $0, $1, 1;", "=r,r"), {Stage::kBinary}));
  if (absl::IsFailedPrecondition(good.status)) GTEST_SKIP() << good.status;
  ASSERT_TRUE(good.status.ok()) << good.status;
  const std::pair<const char*, const char*> wrong[] = {
      {"frobnicate.s32 $0, $1;", "=r,r"},
      {"add.s32 $0, $1;", "=r,r"},
      {"{ add.s32 $0, $1, 1;", "=r,r"},
      {"add.s32 $0, $1, 1", "=r,r"},
      {"add.s32 $0, %nobody, $1;", "=r,r"},
      {"/* add.s32 $0, $1, 1;", "=r,r"},
      {"add.f64 $0, $1, 1.0;", "=r,r"},
      {".version 9.9;", "=r,r"},
      {"ret }; $0 $1", "=r,r"},
      {"bra nowhere; // $0 $1", "=r,r"},
      {"add.s32 $0, $1, 1;", "=q,r"},
  };
  for (const auto& [text, constraints] : wrong) {
    const CompileResult result = Warm().Compile(Request(WithAssembly(text, constraints), {Stage::kBinary}));
    EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument) << text << " " << result.status;
    EXPECT_THAT(std::string(result.status.message()), HasSubstr("line 6, column ")) << text;
  }
}

TEST(Compiler, AKernelNameThatPtxDoesNotTakeIsTheCallersMistake) {
  for (const char* name : {"sc.ale", "2scale", "sc ale", "_"}) {
    std::string ir = kScale;
    ir.replace(ir.find("@scale"), 6, "@\"" + std::string(name) + "\"");
    const CompileResult result = Warm().Compile(Request(ir));
    EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument) << name << ": " << result.status;
    EXPECT_THAT(std::string(result.status.message()), HasSubstr(name));
  }
  std::string ir = kScale;
  ir.replace(ir.find("@scale"), 6, "@_scale$2");
  EXPECT_TRUE(Warm().Compile(Request(ir)).status.ok());
}

// Compiles text of the assembly stage to a binary.
absl::Status CompileAsm(const std::string& text, std::vector<Stage> outputs = {Stage::kBinary}) {
  CompileRequest request = Request(text, std::move(outputs));
  request.input = Stage::kAsm;
  return Warm().Compile(request).status;
}

TEST(Compiler, AssemblyTextWithoutAKernelIsTheCallersMistake) {
  for (const char* text : {"", ".version 8.0\n.target sm_90a\n.address_size 64\n", "// .entry k()\n"}) {
    const absl::Status status = CompileAsm(text, {Stage::kAsm});
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("no kernel"));
  }
  const absl::Status status = CompileAsm(".version 8.0\n.target sm_90a\n.address_size 64\n");
  if (absl::IsFailedPrecondition(status)) GTEST_SKIP() << status;
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("no kernel"));
}

TEST(Compiler, FlagsThatMakeTheAssemblerDoSomethingElseAreRefused) {
  for (const char* flags : {"--help", "--version", "-split-compile 100000", "--compile-only"}) {
    CompileRequest request = Request(kScale, {Stage::kBinary});
    request.options = {{"ptx_options", flags}};
    const CompileResult result = Warm().Compile(request);
    EXPECT_TRUE(absl::IsInvalidArgument(result.status)) << flags << ": " << result.status;
    EXPECT_TRUE(result.artifacts.empty());
  }
}

// An assembler that answers with something else than a binary for the device.
TEST(Compiler, AnImpossibleBinaryIsAnError) {
  const std::string folder = testing::TempDir() + "impossible-ptxas";
  ASSERT_EQ(system(("mkdir -p " + folder + "/bin").c_str()), 0);
  CompilerConfig config;
  config.tool_roots = {folder};
  for (const char* answer : {":", "echo Usage > $out", "cat /bin/true > $out"}) {
    {
      std::ofstream program(folder + "/bin/ptxas");
      program << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo release 12.8; exit; fi\n"
              << "for out; do :; done\n"
              << answer << "\n";
    }
    ASSERT_EQ(chmod((folder + "/bin/ptxas").c_str(), 0755), 0);
    auto compiler = Compiler::Create(config);
    if (compiler->BuildId().find("nvPTXCompiler") != std::string::npos) GTEST_SKIP() << "a library comes first";
    const CompileResult result = compiler->Compile(Request(kScale, {Stage::kBinary}));
    EXPECT_TRUE(absl::IsInternal(result.status)) << answer << ": " << result.status;
    EXPECT_THAT(std::string(result.status.message()), HasSubstr("cannot be launched"));
    EXPECT_TRUE(result.artifacts.empty());
  }
}

}  // namespace
}  // namespace tritond::compiler
