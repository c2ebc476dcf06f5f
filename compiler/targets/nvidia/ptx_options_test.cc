// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/ptx_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::compiler::nvidia {
namespace {

using testing::HasSubstr;

TEST(ReadPtxOptions, TakesFlagsThatChangeTheCodeInEachSpelling) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", ""},
      {" \t\n", ""},
      {"-O1", "--opt-level=1"},
      {"-O 2", "--opt-level=2"},
      {"-O=3", "--opt-level=3"},
      {"--opt-level 0", "--opt-level=0"},
      {"--opt-level=2 --maxrregcount=64", "--opt-level=2 --maxrregcount=64"},
      {"-v", "--verbose"},
      {"--fmad=false", "--fmad=false"},
      {"-fmad\ttrue", "--fmad=true"},
      {"--def-load-cache ca\n-dscm=wt", "--def-load-cache=ca --def-store-cache=wt"},
      {"--maxrregcount archmax", "--maxrregcount=archmax"},
      {"-regUsageLevel=10", "--register-usage-level=10"},
      {"--suppress-debug-info  --warn-on-spills", "--suppress-debug-info --warn-on-spills"},
  };
  for (const auto& [text, flags] : kCases) {
    const auto read = ReadPtxOptions(text);
    ASSERT_TRUE(read.ok()) << text << ": " << read.status();
    EXPECT_EQ(*read, flags);
  }
}

TEST(ReadPtxOptions, RefusesEverythingElseAndListsWhatThereIs) {
  for (const char* text : {"--help",
                           "-h",
                           "--version",
                           "-V",
                           "-version-ls",
                           "--list-version",
                           "-split-compile 100000",
                           "--split-compile=8",
                           "-o x",
                           "--output-file=x",
                           "-optf flags",
                           "--options-file=flags",
                           "@flags",
                           "-ias x",
                           "--input-as-string",
                           "/etc/passwd",
                           "worker.token",
                           "-c",
                           "--compile-only",
                           "-ewp",
                           "-preserve-relocs",
                           "-arch=sm_90",
                           "--gpu-name",
                           "-e kernel",
                           "-g",
                           "-Xptxas=-v",
                           "--sanitize=memcheck",
                           "-m",
                           "1",
                           "-",
                           "--",
                           "=",
                           "-ox",
                           "-O11",
                           "---verbose",
                           "-verbose",
                           "--v",
                           "--O3",
                           "--opt-leve=1",
                           "-maxntid 1024"}) {
    const auto read = ReadPtxOptions(text);
    ASSERT_TRUE(absl::IsInvalidArgument(read.status())) << text;
    const std::string flag = std::string(text).substr(0, std::string(text).find(' '));
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("'" + flag + "' is not allowed"));
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("--opt-level=0..3"));
  }
}

TEST(ReadPtxOptions, LooksAtEveryFlag) {
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPtxOptions("-v -O1 --help").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPtxOptions("-O1\n--help").status()));
}

TEST(ReadPtxOptions, RefusesValuesOutsideTheRange) {
  for (const char* text :
       {"-O4", "-O=-1", "-Ox", "--opt-level", "--opt-level=", "--opt-level=1x", "--opt-level=0001", "--fmad=maybe",
        "--fmad -v", "--maxrregcount=0", "--maxrregcount=256", "--maxrregcount=1e2", "--maxrregcount 64,65",
        "--def-load-cache=/etc/passwd", "-dlcm @x", "--verbose=true", "--register-usage-level=11", "-v=1"}) {
    const auto read = ReadPtxOptions(text);
    ASSERT_TRUE(absl::IsInvalidArgument(read.status())) << text;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("must be --")) << text;
  }
}

TEST(ReadPtxOptions, ShowsAFlagWithoutControlCharactersAndInPart) {
  const auto read = ReadPtxOptions("--\x1b[2J" + std::string(100000, 'x'));
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("--\\x1b[2Jxxx"));
  EXPECT_LT(read.status().message().size(), 2000u);
}

}  // namespace
}  // namespace tritond::compiler::nvidia
