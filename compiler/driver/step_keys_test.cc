// SPDX-License-Identifier: Apache-2.0
// What the compiler asks its memory for and leaves there.
#include "compiler/driver/step_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"

namespace tritond::compiler {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr char kDouble[] = R"(module {
  tt.func public @double(%x: !tt.ptr<f32>) {
    %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %ptr = tt.addptr %base, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %ptr : tensor<128x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<128xf32>
    tt.store %ptr, %w : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
)";

// Other names, other white space, a comment and a value that nobody uses.
std::string RespelledDouble() {
  return absl::StrReplaceAll(kDouble,
                             {{"%v", "%loaded"},
                              {"%w", "%sum"},
                              {"    tt.return", "    // done\n    %unused = arith.constant 7 : i32\n  tt.return"}});
}

// Remembers what compiles leave, as a daemon would.
struct Shelf {
  std::map<std::string, AssemblyStep> assembly;
  std::set<std::string> results;
  std::vector<StepKeys> asked;

  StepMemory Memory() {
    return [this](const StepKeys& keys) {
      asked.push_back(keys);
      CachedSteps known;
      known.result = results.count(keys.result) > 0;
      auto it = assembly.find(keys.assembly);
      if (it != assembly.end()) known.assembly = it->second;
      return known;
    };
  }
  void Remember(const CompileResult& result) {
    if (!result.keys.result.empty()) results.insert(result.keys.result);
    if (result.assembly.has_value()) assembly[result.keys.assembly] = *result.assembly;
  }
};

CompileRequest Request(std::string ir, std::vector<Stage> outputs = {Stage::kAsm}) {
  CompileRequest request;
  request.ir = std::move(ir);
  request.target = "cuda:90";
  request.options = {{"num_warps", 4}};
  request.outputs = std::move(outputs);
  return request;
}

class StepKeysTest : public testing::Test {
 protected:
  void SetUp() override { compiler_->UseMemory(shelf_.Memory()); }
  CompileResult Compile(const CompileRequest& request) {
    CompileResult result = compiler_->Compile(request);
    EXPECT_TRUE(result.status.ok()) << result.status;
    return result;
  }

  Shelf shelf_;
  const std::unique_ptr<Compiler> compiler_ = Compiler::Create();
};

TEST_F(StepKeysTest, SpellingDoesNotCount) {
  const CompileResult first = Compile(Request(kDouble));
  const CompileResult second = Compile(Request(RespelledDouble()));
  EXPECT_THAT(first.keys.result, SizeIs(64));
  EXPECT_EQ(first.keys.result, second.keys.result);
  EXPECT_EQ(first.keys.assembly, second.keys.assembly);
  EXPECT_EQ(first.artifacts[0].bytes, second.artifacts[0].bytes);
}

TEST_F(StepKeysTest, AnotherOperationChangesTheKeys) {
  const CompileResult first = Compile(Request(kDouble));
  const CompileResult other = Compile(Request(absl::StrReplaceAll(kDouble, {{"arith.addf", "arith.mulf"}})));
  EXPECT_NE(first.keys.result, other.keys.result);
  EXPECT_NE(first.keys.assembly, other.keys.assembly);
}

TEST_F(StepKeysTest, EveryOtherPartOfARequestCounts) {
  const CompileRequest base = Request(kDouble);
  const StepKeys keys = Compile(base).keys;
  const auto differs = [&](const std::function<void(CompileRequest*)>& change) {
    CompileRequest request = base;
    change(&request);
    const StepKeys others = Compile(request).keys;
    EXPECT_NE(others.result, keys.result);
    EXPECT_NE(others.assembly, keys.assembly);
  };
  differs([](CompileRequest* request) { request->target = "cuda:80"; });
  differs([](CompileRequest* request) { request->options["num_warps"] = 8; });
  differs([](CompileRequest* request) { request->options["echoed"] = true; });
  differs([](CompileRequest* request) { request->abi.global_scratch = false; });
  differs([](CompileRequest* request) { request->abi.profile_scratch = false; });
  differs([](CompileRequest* request) { request->abi.descriptor_flags = 2; });
  differs([](CompileRequest* request) { request->abi.host_tensor_maps = true; });
  differs([](CompileRequest* request) { request->outputs = {Stage::kLlir, Stage::kAsm}; });
}

TEST_F(StepKeysTest, TheAssemblerCountsForResultsAndNotForAssembly) {
  const CompileRequest request = Request(kDouble);
  const StepKeys keys = NameSteps("text", request, {"compiler", "compiler, ptxas 1"});
  const StepKeys newer = NameSteps("text", request, {"compiler", "compiler, ptxas 2"});
  EXPECT_NE(keys.result, newer.result);
  EXPECT_EQ(keys.assembly, newer.assembly);
  EXPECT_NE(keys.assembly, NameSteps("text", request, {"newer compiler", "compiler, ptxas 1"}).assembly);
}

TEST_F(StepKeysTest, AKnownResultEndsTheCompile) {
  shelf_.Remember(Compile(Request(kDouble)));
  const CompileResult second = Compile(Request(RespelledDouble()));
  EXPECT_TRUE(second.recalled);
  EXPECT_THAT(second.artifacts, IsEmpty());
  EXPECT_THAT(second.stages, SizeIs(1));
}

TEST_F(StepKeysTest, KnownAssemblyIsTakenInPlaceOfTheStagesBeforeIt) {
  const CompileResult first = Compile(Request(kDouble));
  ASSERT_TRUE(first.assembly.has_value());
  shelf_.assembly[first.keys.assembly] = {"// as remembered\n" + first.assembly->text, first.assembly->metadata};
  const CompileResult second = Compile(Request(RespelledDouble()));
  ASSERT_THAT(second.artifacts, SizeIs(1));
  EXPECT_EQ(second.artifacts[0].bytes, "// as remembered\n" + first.artifacts[0].bytes);
  EXPECT_EQ(second.metadata, first.metadata);
  EXPECT_THAT(second.stages, SizeIs(1));
  EXPECT_FALSE(second.assembly.has_value());
}

TEST_F(StepKeysTest, RequestsForWhatLiesBetweenNeedTheStagesThemselves) {
  shelf_.Remember(Compile(Request(kDouble)));
  const CompileResult second = Compile(Request(RespelledDouble(), {Stage::kTtgir, Stage::kAsm}));
  EXPECT_THAT(second.artifacts, SizeIs(2));
  EXPECT_THAT(second.keys.assembly, IsEmpty());
}

TEST_F(StepKeysTest, PlacesOfTheSourceKeepACompileToItself) {
  CompileRequest request = Request(kDouble);
  request.debug_info = true;
  EXPECT_THAT(Compile(request).keys.result, IsEmpty());
  request = Request(kDouble);
  request.target = "host";
  EXPECT_THAT(Compile(request).keys.result, IsEmpty());
  EXPECT_THAT(shelf_.asked, IsEmpty());
}

TEST_F(StepKeysTest, WithoutMemoryNothingIsNamed) {
  compiler_->UseMemory(nullptr);
  const CompileResult result = Compile(Request(kDouble));
  EXPECT_THAT(result.keys.result, IsEmpty());
  EXPECT_FALSE(result.assembly.has_value());
}

}  // namespace
}  // namespace tritond::compiler
