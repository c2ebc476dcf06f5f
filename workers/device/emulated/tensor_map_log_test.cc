// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/tensor_map_log.h"

#include "gtest/gtest.h"

namespace tritond::workers::emulated {
namespace {

constexpr uint64_t kMap = 4096;
const TensorMapLog::Knows kKnows = [](const Moment&) { return true; },
                          kKnowsNothing = [](const Moment&) { return false; };

TEST(TensorMapLog, CopiesNeedAnAcquiredMap) {
  TensorMapLog log;
  EXPECT_FALSE(log.Write(kMap, {}).has_value());
  EXPECT_TRUE(log.Begin(3, kMap, kKnows).has_value());
  log.End(kMap);
  log.Acquire(3, kMap, {}, kKnowsNothing);
  EXPECT_TRUE(log.Begin(3, kMap, kKnows).has_value());
  log.End(kMap);
  log.Acquire(3, kMap, {}, kKnows);
  EXPECT_FALSE(log.Begin(3, kMap, kKnowsNothing).has_value());
  EXPECT_TRUE(log.Begin(4, kMap, kKnowsNothing).has_value());
  EXPECT_FALSE(log.Begin(4, kMap, kKnows).has_value());  // the other thread has told it
}

TEST(TensorMapLog, WritesNeedCopiesToBeOver) {
  TensorMapLog log;
  EXPECT_FALSE(log.Write(kMap, {}).has_value());
  log.Acquire(3, kMap, {}, kKnows);
  EXPECT_FALSE(log.Begin(3, kMap, kKnows).has_value());
  EXPECT_TRUE(log.Write(kMap, {}).has_value());
  log.End(kMap);
  EXPECT_FALSE(log.Write(kMap, {}).has_value());
  EXPECT_TRUE(log.Begin(3, kMap, kKnows).has_value());  // what it acquired was the former one
}

TEST(TensorMapLog, MapsOfTheLaunchNeedNoFence) {
  TensorMapLog log;
  EXPECT_FALSE(log.Begin(3, kMap, kKnowsNothing).has_value());
  log.End(kMap);
}

}  // namespace
}  // namespace tritond::workers::emulated
