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

TEST(ParseOptions, NamesTheOptionThatIsWrong) {
  const auto parsed = ParseOptions({{"num_warps", 3}});
  EXPECT_TRUE(absl::IsInvalidArgument(parsed.status()));
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("num_warps"));
}

TEST(ParseOptions, FlagsForTheAssemblerMayChangeTheCode) {
  for (const char* flags : {"", "-O1", "--opt-level 1", "--opt-level=2 --maxrregcount=64", "-v", "--fmad=false",
                            "--def-load-cache ca", "--suppress-debug-info\t--warn-on-spills"}) {
    const auto parsed = ParseOptions({{"ptx_options", flags}});
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->kernel.ptx_options, flags);
  }
}

TEST(ParseOptions, FlagsForTheAssemblerNameNoFiles) {
  for (const char* flags : {"-o x", "--output-file=x", "-O1 --output-file x", "-optf flags", "--options-file=flags",
                            "--maxrregcount=64\n/etc/passwd", "worker.token", "@flags", "-ox", "---output-file x"}) {
    const auto parsed = ParseOptions({{"ptx_options", flags}});
    EXPECT_TRUE(absl::IsInvalidArgument(parsed.status())) << flags;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("name no file"));
  }
}

}  // namespace
}  // namespace tritond::compiler
