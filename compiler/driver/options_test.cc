// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

namespace tritond::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Parsed for cuda:90, whose tools are not looked for.
absl::StatusOr<ParsedOptions> Parse(const nlohmann::json& options, const std::string& target = "cuda:90") {
  static auto* targets = new std::map<std::string, std::unique_ptr<Target>>;
  std::unique_ptr<Target>& made = (*targets)[target];
  if (!made) made = *FindTarget(target, {});
  return ParseOptions(options, *made);
}

TEST(ParseOptions, ReadsWhatItKnowsAndListsTheRest) {
  const auto parsed = Parse({{"num_warps", 8}, {"num_stages", nullptr}, {"unknown", 1}, {"warp_size", 32}});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->kernel.num_warps, 8);
  EXPECT_EQ(parsed->kernel.num_stages, KernelOptions().num_stages);
  EXPECT_THAT(parsed->ignored, ElementsAre("unknown"));
}

TEST(ParseOptions, OptionsThatAskNothingOfACompilerAreNotListed) {
  const auto parsed = Parse({{"arch", "sm90"},
                             {"extern_libs", {{"libdevice", "/usr/libdevice.bc"}}},
                             {"hash", "abc"},
                             {"instrumentation_mode", ""},
                             {"ir_override", nullptr},
                             {"launch_pdl", true},
                             {"sched4reg", false},
                             {"unheard_of", 2}});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->ignored, ElementsAre("unheard_of"));
  EXPECT_THAT(Parse({{"extern_libs", {{"mine", "mine.bc"}}}, {"ir_override", "k.ttgir"}, {"sched4reg", true}})->ignored,
              ElementsAre("extern_libs", "ir_override", "sched4reg"));
}

TEST(ParseOptions, NamesTheOptionThatIsWrong) {
  const auto parsed = Parse({{"num_warps", 3}});
  EXPECT_TRUE(absl::IsInvalidArgument(parsed.status()));
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("num_warps"));
}

TEST(ParseOptions, TheTotalOfAWarpSpecialisedKernelIsNoMistake) {
  const auto parsed = Parse({{"num_warps", 12}});
  EXPECT_TRUE(absl::IsUnimplemented(parsed.status())) << parsed.status();
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("num_warps = 12"));
  const auto of_partitions = ParseOptions({{"num_warps", 12}}, **FindTarget("cuda:90", {}), Stage::kTtgir);
  ASSERT_TRUE(of_partitions.ok()) << of_partitions.status();
  EXPECT_EQ(of_partitions->kernel.num_warps, 12);
  for (const nlohmann::json& wrong : {nlohmann::json(48), nlohmann::json(-12), nlohmann::json(6), nlohmann::json("12")})
    EXPECT_TRUE(absl::IsInvalidArgument(Parse({{"num_warps", wrong}}).status())) << wrong;
}

TEST(ParseOptions, RangesAreTheTargets) {
  EXPECT_TRUE(Parse({{"num_ctas", 2}, {"warp_size", 32}, {"maxnreg", 255}}).ok());
  EXPECT_EQ(Parse({{"num_ctas", 2}}, "cuda:80").status(),
            absl::InvalidArgumentError("option num_ctas = 2: must be 1 on cuda:80"));
  EXPECT_FALSE(Parse({{"warp_size", 128}}).ok());
  for (const char* target : {"cuda:90", "hip:gfx942", "host:64"})
    for (int warp_size : {32, 64})
      EXPECT_TRUE(Parse({{"warp_size", warp_size}, {"num_warps", 16}}, target).ok()) << target;
  EXPECT_FALSE(Parse({{"maxnreg", 256}}).ok());
}

TEST(ParseOptions, OfTtirABlockGetsAsManyWarpsAsFit) {
  EXPECT_EQ(Parse({{"num_warps", 32}}, "cuda:90")->kernel.num_warps, 32);
  EXPECT_EQ(Parse({{"num_warps", 32}}, "hip:gfx942")->kernel.num_warps, 16);
  EXPECT_EQ(ParseOptions({{"num_warps", 32}}, **FindTarget("hip:gfx942", {}), Stage::kLlir).status(),
            absl::InvalidArgumentError("option num_warps = 32: a block of hip:gfx942 has at most 16"));
}

// A manifest that was made for one target is compiled for another: what only the first has is no mistake there.
TEST(ParseOptions, OptionsOfOtherTargetsAreNotListed) {
  const auto parsed = Parse({{"maxnreg", 1000}, {"ptx_options", "-O9"}}, "host");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->ignored.empty());
}

TEST(ParseOptions, FlagsForTheAssemblerAreThoseOfAList) {
  const auto parsed = Parse({{"ptx_options", "-O1 --maxrregcount 64"}});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->kernel.own.Text("ptx_options"), "--opt-level=1 --maxrregcount=64");
  for (const char* flags : {"--help", "-split-compile 100000", "-o x"}) {
    const absl::Status refused = Parse({{"ptx_options", flags}}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << flags;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("ptx_options"));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(Parse({{"ptx_options", 1}}).status()));
}

}  // namespace
}  // namespace tritond::compiler
