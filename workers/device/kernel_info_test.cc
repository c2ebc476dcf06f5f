// SPDX-License-Identifier: Apache-2.0
#include "workers/device/kernel_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::workers {
namespace {

TEST(ParseKernelInfo, ReadsACompilesMetadata) {
  const auto info =
      ParseKernelInfo(R"({"name": "softmax", "shared": 512, "num_warps": 8, "num_ctas": 1, "warp_size": 32,
      "num_stages": 3, "cluster_dims": [1, 1, 1], "global_scratch_size": 64, "global_scratch_align": 16,
      "parameter_bytes": [8, 8, 4], "tensordesc_meta": [], "target": {"backend": "host"}})");
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->name, "softmax");
  EXPECT_EQ(info->shared, 512u);
  EXPECT_EQ(info->num_warps, 8u);
  EXPECT_EQ(info->global_scratch_size, 64u);
  EXPECT_EQ(info->global_scratch_align, 16u);
  EXPECT_EQ(info->profile_scratch_size, 0u);
  ASSERT_TRUE(info->parameter_bytes.has_value());
  EXPECT_THAT(*info->parameter_bytes, testing::ElementsAre(8, 8, 4));
}

TEST(ParseKernelInfo, UnnamedEntriesKeepTheirDefaults) {
  const auto info = ParseKernelInfo(R"({"name": "k", "launch_cooperative_grid": null})");
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->num_warps, 4u);
  EXPECT_EQ(info->warp_size, 32u);
  EXPECT_EQ(info->grf_mode, "default");
  EXPECT_FALSE(info->parameter_bytes.has_value());
}

TEST(ParseKernelInfo, NamesTheEntryThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "object"},
      {"{", "object"},
      {"{}", "\"name\""},
      {R"({"name": 3})", "\"name\""},
      {R"({"name": "k", "shared": -1})", "\"shared\""},
      {R"({"name": "k", "shared": 1.5})", "\"shared\""},
      {R"({"name": "k", "num_warps": 0})", "\"num_warps\""},
      {R"({"name": "k", "num_warps": 18446744073709551615})", "\"num_warps\""},
      {R"({"name": "k", "parameter_bytes": [8, "4"]})", "\"parameter_bytes\""},
      {R"({"name": "k", "grf_mode": "512"})", "\"grf_mode\": expected one of default, 128, 256, auto"},
      {R"({"name": "k", "grf_mode": 128})", "\"grf_mode\""},
      {R"({"name": "k", "launch_cooperative_grid": 1})", "\"launch_cooperative_grid\""},
  };
  for (const auto& [text, word] : cases) {
    const auto info = ParseKernelInfo(text);
    EXPECT_EQ(info.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(info.status().message()), testing::HasSubstr(word)) << text;
  }
}

}  // namespace
}  // namespace tritond::workers
