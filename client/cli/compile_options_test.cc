// SPDX-License-Identifier: Apache-2.0
#include "client/cli/compile_options.h"

#include <gtest/gtest.h>

namespace tritond::client {
namespace {

TEST(OptionsFile, AFlatMapIsTakenAsItIs) {
  const auto options = ParseOptionsFile(R"({"num_warps": 8, "maxnreg": null, "custom": "x"})");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->dump(), R"({"custom":"x","maxnreg":null,"num_warps":8})");
}

TEST(OptionsFile, TheOptionsOfAMetadataDumpAreTaken) {
  const auto options = ParseOptionsFile(R"({"case": "softmax", "options": {"num_warps": 4}, "us": 9.5})");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->dump(), R"({"num_warps":4})");
}

TEST(OptionsFile, ResultsOfAnEarlierCompileAreDropped) {
  const auto options = ParseOptionsFile(
      R"({"num_warps": 4, "hash": "ab", "name": "k", "shared": 32, "resources": {"registers": 40}, "triton_version": "3.6.0",
                                            "global_scratch_size": 0, "profile_scratch_align": 1, "tmem_size": 0})");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->dump(), R"({"num_warps":4})");
}

TEST(OptionsFile, TritonsMetadataGivesOnlyOptionsOfACompiler) {
  const std::string metadata =
      R"({"hash": "ab", "target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "num_warps": 4, "num_stages": 3,
          "maxnreg": null, "extern_libs": [["libdevice", "/opt/libdevice.10.bc"]], "backend_name": "cuda", "arch": "sm90",
          "TRITON_DEFAULT_FP_FUSION": "1", "enable_fp_fusion": true, "triton_version": "3.6.0", "shared": 0})";
  const auto options = ParseOptionsFile(metadata);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->dump(), R"({"enable_fp_fusion":true,"num_stages":3,"num_warps":4})");
  EXPECT_EQ(MetadataTarget(metadata), "cuda:90");
  EXPECT_EQ(MetadataTarget(R"({"target": {"backend": "hip", "arch": "gfx942"}})"), "hip:gfx942");
  EXPECT_EQ(MetadataTarget(R"({"target": {"backend": "host", "arch": 0, "warp_size": 32}})"), "host");
}

TEST(OptionsFile, OtherTextsNameNoTarget) {
  for (const char* text :
       {"", "[]", "{}", R"({"target": "cuda:90"})", R"({"target": {"backend": "cuda"}})",
        R"({"target": {"backend": 1, "arch": 90}})", R"({"target": {"backend": "xpu", "arch": {"name": "pvc"}}})"})
    EXPECT_EQ(MetadataTarget(text), "") << text;
  const auto options = ParseOptionsFile(R"({"maxnreg": null, "arch": "sm90", "target": "cuda:90"})");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->dump(), R"({"arch":"sm90","maxnreg":null})");
}

TEST(OptionsFile, AnythingButAnObjectIsRefused) {
  EXPECT_EQ(ParseOptionsFile("[1]").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseOptionsFile("{").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SetOption, TakesJsonElseAString) {
  nlohmann::json options = {{"num_warps", 4}};
  EXPECT_TRUE(SetOption("num_warps=8", &options).ok());
  EXPECT_TRUE(SetOption("fast=true", &options).ok());
  EXPECT_TRUE(SetOption("precision=tf32", &options).ok());
  EXPECT_TRUE(SetOption("ptx_options=-v=1", &options).ok());
  EXPECT_EQ(options.dump(), R"({"fast":true,"num_warps":8,"precision":"tf32","ptx_options":"-v=1"})");
  EXPECT_FALSE(SetOption("=8", &options).ok());
  EXPECT_FALSE(SetOption("num_warps", &options).ok());
}

TEST(ToStruct, KeepsTypes) {
  const auto message = ToStruct({{"n", 1073741824}, {"none", nullptr}, {"list", {1, 2}}, {"on", false}});
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(message->fields().at("n").number_value(), 1073741824);
  EXPECT_TRUE(message->fields().at("none").has_null_value());
  EXPECT_EQ(message->fields().at("list").list_value().values_size(), 2);
  EXPECT_TRUE(message->fields().at("on").has_bool_value());
}

}  // namespace
}  // namespace tritond::client
