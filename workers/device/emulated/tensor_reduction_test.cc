// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/tensor_reduction.h"

#include "gtest/gtest.h"

namespace tritond::workers::emulated {
namespace {

enum : uint32_t { kU8 = 0, kU32 = 2, kS32 = 3, kS64 = 5, kF16 = 6, kF32 = 7, kF64 = 9, kBf16 = 10 };

template <typename Word>
Word Combined(const std::string& operation, uint32_t type, Word there, Word own) {
  CombineInMemory(operation, type, reinterpret_cast<char*>(&there), reinterpret_cast<const char*>(&own));
  return there;
}

TEST(TensorReduction, IntegersHaveTheSignOfTheirType) {
  EXPECT_EQ(Combined<uint32_t>("max", kU32, 0xfffffff0, 5), 0xfffffff0u);
  EXPECT_EQ(Combined<uint32_t>("max", kS32, 0xfffffff0, 5), 5u);
  EXPECT_EQ(Combined<uint32_t>("add", kU32, 0xfffffff0, 0x20), 0x10u);
  EXPECT_EQ(Combined<int64_t>("min", kS64, 3, -4), -4);
  EXPECT_EQ(Combined<uint32_t>("xor", kU32, 0b1100, 0b1010), 0b0110u);
}

TEST(TensorReduction, FloatsAreRoundedToNearestEven) {
  EXPECT_EQ(Combined<float>("add", kF32, 16777216.0f, 1.0f), 16777216.0f);
  EXPECT_EQ(Combined<uint16_t>("add", kF16, 0x3c00, 0x3c00), 0x4000);   // 1 + 1
  EXPECT_EQ(Combined<uint16_t>("add", kBf16, 0x4380, 0x3f80), 0x4380);  // 256 + 1
  EXPECT_EQ(Combined<uint16_t>("min", kF16, 0xbc00, 0x3c00), 0xbc00);
}

TEST(TensorReduction, NotAllTypesHaveAll) {
  EXPECT_TRUE(CanCombine("add", kF32));
  EXPECT_FALSE(CanCombine("max", kF32));
  EXPECT_FALSE(CanCombine("and", kF16));
  EXPECT_FALSE(CanCombine("add", kU8));
  EXPECT_FALSE(CanCombine("add", kF64));
  EXPECT_FALSE(CanCombine("sub", kU32));
}

}  // namespace
}  // namespace tritond::workers::emulated
