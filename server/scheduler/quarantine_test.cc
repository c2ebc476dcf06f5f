// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/quarantine.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

TEST(Quarantine, LocksAKeyUpAfterEnoughKills) {
  Quarantine quarantine(2, absl::Hours(1));
  EXPECT_FALSE(quarantine.AddKill("k", "matmul", "blue", "signal 6", kStart));
  EXPECT_EQ(quarantine.Find("k", kStart), nullptr);
  EXPECT_TRUE(quarantine.AddKill("k", "matmul", "blue", "signal 11", kStart));
  ASSERT_NE(quarantine.Find("k", kStart), nullptr);
  EXPECT_EQ(quarantine.Find("k", kStart)->tenant, "blue");
  EXPECT_EQ(quarantine.Find("k", kStart)->reports, (std::vector<std::string>{"signal 6", "signal 11"}));
  EXPECT_EQ(quarantine.Find("other", kStart), nullptr);
}

TEST(Quarantine, LetsAKeyOutAfterThePeriod) {
  Quarantine quarantine(1, absl::Hours(1));
  quarantine.AddKill("k", "", "blue", "r", kStart);
  EXPECT_NE(quarantine.Find("k", kStart + absl::Minutes(59)), nullptr);
  EXPECT_EQ(quarantine.Find("k", kStart + absl::Minutes(61)), nullptr);
}

TEST(Quarantine, KillsFarApartDoNotAddUp) {
  Quarantine quarantine(2, absl::Hours(1));
  quarantine.AddKill("k", "", "blue", "r", kStart);
  EXPECT_FALSE(quarantine.AddKill("k", "", "blue", "r", kStart + absl::Hours(2)));
}

TEST(Quarantine, ASuspectThatIsConvictedCountsOnce) {
  Quarantine quarantine(2, absl::Hours(1), /*max_entries=*/2);
  quarantine.Suspect(1, "k", "matmul", "blue");
  quarantine.Suspect(2, "k", "matmul", "blue");
  EXPECT_EQ(quarantine.Convict(1, "signal 6", kStart), "");
  EXPECT_EQ(quarantine.Convict(1, "signal 6", kStart), "");
  EXPECT_EQ(quarantine.Convict(2, "signal 11", kStart), "k");
  EXPECT_EQ(quarantine.EntryOf("k").reports, (std::vector<std::string>{"signal 6", "signal 11"}));
}

TEST(Quarantine, ForgetsTheOldestSuspectsWhenFull) {
  Quarantine quarantine(1, absl::Hours(1), /*max_entries=*/2);
  for (uint64_t lease : {1, 2, 3}) quarantine.Suspect(lease, "k", "", "blue");
  EXPECT_EQ(quarantine.Convict(1, "r", kStart), "");
  EXPECT_EQ(quarantine.Convict(3, "r", kStart), "k");
}

TEST(Quarantine, ReleaseAndLockWorkByHand) {
  Quarantine quarantine(2, absl::Hours(1));
  quarantine.Lock("k", "known bad", kStart);
  ASSERT_EQ(quarantine.Locked().size(), 1u);
  EXPECT_EQ(quarantine.Locked()[0].by_hand, "known bad");
  EXPECT_TRUE(quarantine.Release("k"));
  EXPECT_FALSE(quarantine.Release("k"));
  EXPECT_EQ(quarantine.Find("k", kStart), nullptr);
}

TEST(Quarantine, SaysWhetherKillsOrSomebodyLockedAKeyUp) {
  Quarantine quarantine(2, absl::Hours(1));
  quarantine.Lock("k", "wrong results", kStart);
  EXPECT_EQ(quarantine.Find("k", kStart)->Why(), "this kernel is quarantined by hand: wrong results");
  quarantine.AddKill("k", "", "blue", "signal 6", kStart);
  EXPECT_EQ(
      quarantine.Find("k", kStart)->Why(),
      "this kernel is quarantined by hand: wrong results; compiling this kernel killed 1 worker(s). Last: signal 6");
  quarantine.Lock("silent", "", kStart);
  EXPECT_EQ(quarantine.Find("silent", kStart)->Why(), "this kernel is quarantined by hand");
  quarantine.AddKill("killer", "", "blue", "signal 6", kStart);
  quarantine.AddKill("killer", "", "blue", "signal 11", kStart);
  EXPECT_EQ(quarantine.Find("killer", kStart)->Why(),
            "compiling this kernel killed 2 worker(s); it is quarantined. Last: signal 11");
}

TEST(Quarantine, ForgetsTheOldestWhenFull) {
  Quarantine quarantine(1, absl::Hours(1), /*max_entries=*/2);
  quarantine.AddKill("a", "", "blue", "r", kStart);
  quarantine.AddKill("b", "", "blue", "r", kStart + absl::Seconds(1));
  quarantine.AddKill("c", "", "blue", "r", kStart + absl::Seconds(2));
  EXPECT_EQ(quarantine.Find("a", kStart + absl::Seconds(3)), nullptr);
  EXPECT_NE(quarantine.Find("c", kStart + absl::Seconds(3)), nullptr);
}

}  // namespace
}  // namespace tritond::server
