// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseOptions, ReadsWhatItKnowsAndListsTheRest) {
  const auto parsed = ParseOptions({{"num_warps", 8}, {"num_stages", nullptr}, {"unknown", 1}, {"warp_size", 32}});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->kernel.num_warps, 8);
  EXPECT_EQ(parsed->kernel.num_stages, KernelOptions().num_stages);
  EXPECT_EQ(parsed->warp_size, 32);
  EXPECT_THAT(parsed->ignored, ElementsAre("unknown"));
}

TEST(ParseOptions, WhatAsksNothingOfACompilerIsNotListed) {
  const auto parsed = ParseOptions({{"arch", "sm90"},
                                    {"extern_libs", {{"libdevice", "/usr/libdevice.bc"}}},
                                    {"hash", "abc"},
                                    {"instrumentation_mode", ""},
                                    {"ir_override", nullptr},
                                    {"launch_pdl", true},
                                    {"sched4reg", false},
                                    {"waves_per_eu", 2}});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->ignored, ElementsAre("waves_per_eu"));
  EXPECT_THAT(
      ParseOptions({{"extern_libs", {{"mine", "mine.bc"}}}, {"ir_override", "k.ttgir"}, {"sched4reg", true}})->ignored,
      ElementsAre("extern_libs", "ir_override", "sched4reg"));
}

TEST(ParseOptions, NamesTheOptionThatIsWrong) {
  const auto parsed = ParseOptions({{"num_warps", 3}});
  EXPECT_TRUE(absl::IsInvalidArgument(parsed.status()));
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("num_warps"));
}

TEST(ParseOptions, FlagsForTheAssemblerAreThoseOfAList) {
  const auto parsed = ParseOptions({{"ptx_options", "-O1 --maxrregcount 64"}});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->kernel.ptx_options, "--opt-level=1 --maxrregcount=64");
  for (const char* flags : {"--help", "-split-compile 100000", "-o x"}) {
    const absl::Status refused = ParseOptions({{"ptx_options", flags}}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << flags;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("ptx_options"));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(ParseOptions({{"ptx_options", 1}}).status()));
}

}  // namespace
}  // namespace tritond::compiler
