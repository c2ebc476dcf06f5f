// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/register_exchange.h"

#include <gtest/gtest.h>

namespace tritond::workers::emulated {
namespace {

TEST(RegisterExchange, WarpsOfAGroupDoTheSame) {
  RegisterExchange exchange(8);
  for (int warp = 4; warp < 8; ++warp) {
    EXPECT_FALSE(exchange.Set(warp, 24, false).has_value());
    EXPECT_FALSE(exchange.Set(warp, 168, true).has_value());
  }
  EXPECT_FALSE(exchange.End().has_value());
  EXPECT_FALSE(exchange.Set(4, 24, false).has_value());
  EXPECT_TRUE(exchange.End().has_value());
  EXPECT_TRUE(exchange.Set(5, 32, false).has_value());
  exchange.Clear();
  EXPECT_FALSE(exchange.End().has_value());
}

TEST(RegisterExchange, NumbersAreMultiplesOfEightInARange) {
  for (uint32_t wrong : {0u, 16u, 28u, 264u}) EXPECT_TRUE(RegisterExchange(4).Set(0, wrong, true).has_value()) << wrong;
  for (uint32_t right : {24u, 256u}) EXPECT_FALSE(RegisterExchange(4).Set(0, right, true).has_value()) << right;
}

TEST(RegisterExchange, MoreIsMoreThanBefore) {
  RegisterExchange exchange(4);
  EXPECT_FALSE(exchange.Set(0, 40, false).has_value());
  EXPECT_TRUE(exchange.Set(0, 32, true).has_value());
  exchange.Clear();
  exchange.StartWith(168);
  EXPECT_TRUE(exchange.Set(0, 232, false).has_value());
}

}  // namespace
}  // namespace tritond::workers::emulated
