// SPDX-License-Identifier: Apache-2.0
// The compiler as it is when somebody has added a family of targets by the recipe of docs/extending.md. The object
// files of the list of targets and of the new family come from follow_recipe.py; everything else is the libraries as
// they are. So what the recipe forgets to name shows here: as a link error, or as a compiler that does not know the
// toy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/targets/target.h"

namespace tritond::compiler {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kDouble[] = R"(module {
  tt.func public @double(%x: !tt.ptr<f32>) {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %p = tt.addptr %xs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %p : tensor<128x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<128xf32>
    tt.store %p, %w : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
)";

CompileResult CompileForToy(const char* ir, nlohmann::json options = nullptr) {
  static Compiler* compiler = Compiler::Create().release();
  CompileRequest request;
  request.ir = ir;
  request.target = "toy";
  request.options = std::move(options);
  request.outputs = {Stage::kTtgir, Stage::kLlir, Stage::kAsm, Stage::kBinary};
  return compiler->Compile(request);
}

TEST(ToyTarget, IsInTheListOfTargets) {
  EXPECT_THAT(TargetNames(), Contains("toy"));
  const auto target = FindTarget("toy", TargetConfig());
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ((*target)->Info().name, "toy");
  EXPECT_THAT(std::string(FindTarget("tin", TargetConfig()).status().message()), HasSubstr("there are toy, "));
}

TEST(ToyTarget, IsBesideTheOthers) {
  for (const char* name : {"host", "cuda:90", "emulated:cuda:90"})
    EXPECT_TRUE(FindTarget(name, TargetConfig()).ok()) << name;
}

// What workers tell the daemon, field by field (DescribeCompiler): Describe repeats it to clients, and requests are
// checked by it.
TEST(ToyTarget, IsWhatTheCompilerOffers) {
  const std::vector<Compiler::Offer> offers = Compiler::Create()->Targets();
  const auto toy = std::find_if(offers.begin(), offers.end(), [](const auto& offer) { return offer.name == "toy"; });
  ASSERT_NE(toy, offers.end());
  EXPECT_EQ(toy->binary_format, "bin");
  EXPECT_TRUE(toy->binary_available) << toy->why_not;
  const auto gears = std::find_if(toy->options.begin(), toy->options.end(),
                                  [](const OptionRule& rule) { return rule.name == "toy_gears"; });
  ASSERT_NE(gears, toy->options.end());
  EXPECT_EQ(gears->least, 1);
  EXPECT_EQ(gears->most, 5);
}

TEST(ToyTarget, CompilesAKernel) {
  const CompileResult result = CompileForToy(kDouble, {{"toy_gears", 4}});
  ASSERT_TRUE(result.status.ok()) << result.status;
  ASSERT_EQ(result.artifacts.size(), 4u);
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("ttg.target = \"toy\""));
  EXPECT_THAT(result.artifacts[1].bytes, HasSubstr("@toy.thread.i32()"));
  EXPECT_THAT(result.artifacts[1].bytes, HasSubstr("@\"toy.load.!llvm.ptr<1>.i1.f32\""));
  EXPECT_THAT(result.artifacts[2].bytes, HasSubstr("; gears 4\n"));
  EXPECT_EQ(result.artifacts[2].format, "s");
  EXPECT_EQ(result.artifacts[3].bytes, "TOY" + result.artifacts[2].bytes);
  EXPECT_EQ(result.metadata["name"], "double");
  EXPECT_EQ(result.metadata["target"]["backend"], "toy");
  EXPECT_EQ(result.metadata["toy_gears"], 4);
}

TEST(ToyTarget, SaysWhatItLacks) {
  const CompileResult result = CompileForToy(R"(module {
  tt.func public @index(%p: !tt.ptr<i32>) {
    %i = tt.get_program_id x : i32
    tt.store %p, %i : !tt.ptr<i32>
    tt.return
  }
}
)",
                                             {});
  EXPECT_EQ(result.status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("stage llir, line 3, column 10: "));
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("program index"));
}

TEST(ToyTarget, HasAnOptionOfItsOwnWithARange) {
  for (const nlohmann::json& gears : {nlohmann::json(0), nlohmann::json(6), nlohmann::json("4")})
    EXPECT_EQ(
        CompileForToy(kDouble, {{"toy_gears", gears}}).status,
        absl::InvalidArgumentError("option toy_gears = " + gears.dump() + ": must be an integer from 1 to 5 on toy"));
}

// Requests that were written for the toy may go to other targets; an option that nobody has is reported.
TEST(ToyTarget, MakesItsOptionKnownToAll) {
  CompileRequest request;
  request.ir = kDouble;
  request.target = "host";
  request.options = {{"toy_gears", 4}, {"toy_wheels", 4}};
  request.outputs = {Stage::kTtgir};
  const CompileResult result = Compiler::Create()->Compile(request);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.ignored_options, std::vector<std::string>{"toy_wheels"});
}

}  // namespace
}  // namespace tritond::compiler
