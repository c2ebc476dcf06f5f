// SPDX-License-Identifier: Apache-2.0
#include "cache/store/redis_slots.h"

#include <gtest/gtest.h>

namespace tritond::cache {
namespace {

TEST(RedisSlot, IsThatOfTheSpecification) {
  EXPECT_EQ(RedisSlot("123456789"), 0x31c3);
  EXPECT_EQ(RedisSlot("foo"), 12182);
  EXPECT_EQ(RedisSlot(""), 0);
}

TEST(RedisSlot, CountsOnlyWhatIsInBraces) {
  EXPECT_EQ(RedisSlot("{foo}:bar"), RedisSlot("foo"));
  EXPECT_EQ(RedisSlot("a{foo}b{bar}"), RedisSlot("foo"));
  EXPECT_NE(RedisSlot("{}foo"), RedisSlot("foo"));
  EXPECT_EQ(RedisSlot("foo{{bar}}zap"), RedisSlot("{bar"));
  EXPECT_NE(RedisSlot("{foo"), RedisSlot("foo"));
}

}  // namespace
}  // namespace tritond::cache
