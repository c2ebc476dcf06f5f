// SPDX-License-Identifier: Apache-2.0
#include "server/admission/byte_budget.h"

#include <gtest/gtest.h>

#include <vector>

namespace tritond::server {
namespace {

TEST(ByteBudget, TakesUpToItsLimitAndAgainWhatIsGivenBack) {
  ByteBudget budget(10);
  std::optional<ByteBudget::Hold> six = budget.Take(6);
  ASSERT_TRUE(six.has_value());
  EXPECT_FALSE(budget.Take(5).has_value());
  EXPECT_FALSE(budget.HasRoom(5));
  EXPECT_TRUE(budget.Take(4).has_value());  // And gives it back.
  EXPECT_EQ(budget.held(), 6u);
  six.reset();
  EXPECT_EQ(budget.held(), 0u);
  EXPECT_TRUE(budget.HasRoom(10));
}

TEST(ByteBudget, ARequestAboveTheLimitHasRoomAlone) {
  ByteBudget budget(10);
  std::optional<ByteBudget::Hold> large = budget.Take(100);
  ASSERT_TRUE(large.has_value());
  EXPECT_FALSE(budget.Take(0).has_value());
  large.reset();
  std::optional<ByteBudget::Hold> small = budget.Take(1);
  EXPECT_FALSE(budget.Take(100).has_value());
  EXPECT_FALSE(budget.Take(UINT64_MAX).has_value());
}

TEST(ByteBudget, WithoutALimitItOnlyCounts) {
  ByteBudget budget(0);
  std::optional<ByteBudget::Hold> one = budget.Take(1), large = budget.Take(uint64_t{1} << 50);
  ASSERT_TRUE(large.has_value());
  EXPECT_EQ(budget.held(), (uint64_t{1} << 50) + 1);
}

TEST(ByteBudget, APartIsGivenBackForItself) {
  ByteBudget budget(10);
  ByteBudget::Hold all = *budget.Take(10);
  {
    ByteBudget::Hold part = all.Split(7);
    EXPECT_EQ(part.bytes(), 7u);
    EXPECT_EQ(all.bytes(), 3u);
    EXPECT_EQ(budget.held(), 10u);
  }
  EXPECT_EQ(budget.held(), 3u);
  ByteBudget::Hold rest = all.Split(100);
  EXPECT_EQ(rest.bytes(), 3u);
  EXPECT_EQ(all.bytes(), 0u);
}

TEST(ByteBudget, AMovedHoldIsGivenBackOnce) {
  ByteBudget budget(10);
  ByteBudget::Hold first = *budget.Take(4), second = *budget.Take(6);
  second = std::move(first);  // What it had is given back.
  EXPECT_EQ(budget.held(), 4u);
  std::vector<ByteBudget::Hold> holds;
  holds.push_back(std::move(second));
  holds.clear();
  EXPECT_EQ(budget.held(), 0u);
}

}  // namespace
}  // namespace tritond::server
