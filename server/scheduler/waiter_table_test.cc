// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/waiter_table.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

const absl::Time kStart = absl::UnixEpoch();

Waiter WaitsUntil(absl::Time deadline, uint64_t job) {
  Waiter waiter;
  waiter.job = job;
  waiter.deadline = deadline;
  return waiter;
}

TEST(WaiterTable, GivesOutWhoWaits) {
  WaiterTable table;
  table.Add(1, WaitsUntil(absl::InfiniteFuture(), 7));
  ASSERT_NE(table.Find(1), nullptr);
  EXPECT_EQ(table.Take(1).job, 7u);
  EXPECT_EQ(table.Find(1), nullptr);
}

TEST(WaiterTable, KnowsWhoseDeadlinePassedFirst) {
  WaiterTable table;
  table.Add(1, WaitsUntil(kStart + absl::Seconds(2), 7));
  table.Add(2, WaitsUntil(kStart + absl::Seconds(1), 7));
  table.Add(3, WaitsUntil(absl::InfiniteFuture(), 8));
  EXPECT_EQ(table.FirstOverdue(kStart), std::nullopt);
  EXPECT_EQ(table.FirstOverdue(kStart + absl::Seconds(1)), 2u);
  EXPECT_EQ(table.FirstOverdue(kStart + absl::Hours(1)), 2u);
  table.Take(2);
  EXPECT_EQ(table.FirstOverdue(kStart + absl::Hours(1)), 1u);
  table.Take(1);
  EXPECT_EQ(table.FirstOverdue(kStart + absl::Hours(1)), std::nullopt);
}

TEST(WaiterTable, ADeadlineOnlyGrowsLater) {
  WaiterTable table;
  table.Add(1, WaitsUntil(kStart + absl::Seconds(2), 7));
  EXPECT_FALSE(table.Extend(1, kStart + absl::Seconds(1)));
  EXPECT_TRUE(table.Extend(1, kStart + absl::Seconds(3)));
  EXPECT_EQ(table.FirstOverdue(kStart + absl::Seconds(2)), std::nullopt);
  EXPECT_EQ(table.FirstOverdue(kStart + absl::Seconds(3)), 1u);
  EXPECT_TRUE(table.Extend(1, absl::InfiniteFuture()));
  EXPECT_EQ(table.FirstOverdue(kStart + absl::Hours(1)), std::nullopt);
  EXPECT_FALSE(table.Extend(2, absl::InfiniteFuture()));
  table.Take(1);
}

TEST(WaiterTable, TellsWaitersOfOneDeadlineApart) {
  WaiterTable table;
  for (uint64_t id : {4, 5, 6}) table.Add(id, WaitsUntil(kStart, id));
  EXPECT_EQ(table.Take(5).job, 5u);
  EXPECT_EQ(table.FirstOverdue(kStart), 4u);
  table.Take(4);
  EXPECT_EQ(table.FirstOverdue(kStart), 6u);
}

}  // namespace
}  // namespace tritond::server
