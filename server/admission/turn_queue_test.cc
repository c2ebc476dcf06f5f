// SPDX-License-Identifier: Apache-2.0
#include "server/admission/turn_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace tritond::server {
namespace {

using ::testing::ElementsAre;

std::vector<uint64_t> PopAll(TurnQueue* queue) {
  std::vector<uint64_t> ids;
  while (std::optional<uint64_t> id = queue->Pop()) ids.push_back(*id);
  return ids;
}

TEST(TurnQueue, OneCallersItemsKeepTheirOrder) {
  TurnQueue queue;
  for (uint64_t id : {3, 1, 2}) queue.Push("a", id, 10);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_THAT(PopAll(&queue), ElementsAre(3, 1, 2));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(TurnQueue, ALateCallerWaitsForOneItemOfTheOthers) {
  TurnQueue queue;
  for (uint64_t id = 0; id < 100; ++id) queue.Push("flood", id, 1000);
  EXPECT_EQ(queue.Pop(), 0u);
  queue.Push("late", 500, 1);
  EXPECT_EQ(queue.Pop(), 500u);
}

TEST(TurnQueue, CallersGetEqualCostNotEqualNumbers) {
  TurnQueue queue;
  for (uint64_t id = 0; id < 10; ++id) queue.Push("large", id, 100);
  for (uint64_t id = 100; id < 300; ++id) queue.Push("small", id, 10);
  std::map<bool, uint64_t> cost;
  for (int i = 0; i < 55; ++i) {
    const uint64_t id = *queue.Pop();
    cost[id >= 100] += id >= 100 ? 10 : 100;
  }
  EXPECT_NEAR(static_cast<double>(cost[true]), static_cast<double>(cost[false]), 100);
}

TEST(TurnQueue, IdleTimeSavesNothingUp) {
  TurnQueue queue;
  queue.Push("idle", 1, 1);
  EXPECT_EQ(queue.Pop(), 1u);
  for (uint64_t id = 10; id < 20; ++id) queue.Push("busy", id, 5);
  for (uint64_t id = 10; id < 18; ++id) EXPECT_EQ(queue.Pop(), id);
  for (uint64_t id = 30; id < 34; ++id) queue.Push("idle", id, 5);
  const std::vector<uint64_t> rest = PopAll(&queue);
  // Turn by turn, not all of the returning caller's first.
  EXPECT_LT(std::find(rest.begin(), rest.end(), 18) - rest.begin(), 2);
  EXPECT_LT(std::find(rest.begin(), rest.end(), 19) - rest.begin(), 4);
}

TEST(TurnQueue, ARemovedEntryIsNotServedAndCostsNothing) {
  TurnQueue queue;
  queue.Push("a", 1, 1000);
  queue.Push("a", 2, 1);
  queue.Push("b", 3, 1);
  queue.Push("b", 4, 1);
  EXPECT_TRUE(queue.Remove(1));
  EXPECT_FALSE(queue.Remove(1));
  EXPECT_THAT(PopAll(&queue), ElementsAre(2, 3, 4));
  EXPECT_FALSE(queue.Remove(2));
}

TEST(TurnQueue, ACallerThatComesAndGoesGetsNoMoreThanItsShare) {
  TurnQueue queue;
  for (uint64_t id = 0; id < 200; ++id) queue.Push("steady", id, 10);
  uint64_t served = 0;
  for (uint64_t id = 1000; id < 1100; ++id) {
    queue.Push("comes and goes", id, 10);
    while (*queue.Pop() < 1000) ++served;
  }
  EXPECT_NEAR(static_cast<double>(served), 100, 2);
}

TEST(TurnQueue, ServesEverythingOnceWhileEntriesComeAndGo) {
  std::mt19937 random(7);
  TurnQueue queue;
  std::map<uint64_t, int> state;  // 1: in the queue
  for (uint64_t step = 0; step < 20000; ++step) {
    switch (random() % 3) {
      case 0:
        queue.Push(std::string(1, static_cast<char>('a' + random() % 5)), step, random() % 100);
        state[step] = 1;
        break;
      case 1:
        if (std::optional<uint64_t> id = queue.Pop()) {
          EXPECT_EQ(state.erase(*id), 1u);
        } else {
          EXPECT_TRUE(state.empty());
        }
        break;
      default: {
        const uint64_t id = step - random() % 20;
        EXPECT_EQ(queue.Remove(id), state.erase(id) == 1);
      }
    }
    ASSERT_EQ(queue.size(), state.size());
  }
}

}  // namespace
}  // namespace tritond::server
