// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/residency.h"

#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

TargetInfo Device() {
  TargetInfo info;
  info.lanes = 32;
  info.registers = 64 * 1024;
  info.multiprocessor = {/*warps=*/64,          /*blocks=*/32,
                         /*register_unit=*/256, /*shared_bytes=*/228 * 1024,
                         /*shared_unit=*/128,   /*reserved_shared_bytes=*/1024};
  return info;
}

struct Case {
  int64_t registers, shared, warps;  // of the kernel
  int64_t blocks, resident;          // expected
  const char* limit;
};

class ResidencyTest : public testing::TestWithParam<Case> {};

TEST_P(ResidencyTest, IsTheLeastOfWhatEachResourceAllows) {
  const Case& c = GetParam();
  const std::optional<Residency> got = ResidencyOf({c.registers, 0}, c.shared, c.warps, Device());
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->blocks, c.blocks);
  EXPECT_EQ(got->warps, c.resident);
  EXPECT_EQ(got->most_warps, 64);
  EXPECT_EQ(got->limit, c.limit);
}

INSTANTIATE_TEST_SUITE_P(All, ResidencyTest,
                         testing::Values(Case{32, 0, 4, 16, 64, "warps"}, Case{32, 0, 1, 32, 32, "blocks"},
                                         Case{128, 0, 4, 4, 16, "registers"},
                                         Case{33, 0, 4, 12, 48, "registers"},  // 33 × 32 words are 5 units of 256.
                                         Case{32, 100 * 1024, 4, 2, 8, "shared memory"},
                                         Case{32, 113 * 1024, 4, 2, 8, "shared memory"},
                                         Case{32, 113 * 1024 + 1, 4, 1, 4, "shared memory"}));

TEST(Residency, IsUnknownWhereTheBinaryOrTheDeviceDoesNotSay) {
  EXPECT_FALSE(ResidencyOf({}, 0, 4, Device()).has_value());
  EXPECT_FALSE(ResidencyOf({32, 0}, 0, 4, TargetInfo()).has_value());
}

}  // namespace
}  // namespace tritond::compiler
