// SPDX-License-Identifier: Apache-2.0
#include "server/admission/connection_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using Id = ConnectionTable::Id;
using Reason = ConnectionTable::Reason;

class ConnectionTableTest : public testing::Test {
 protected:
  // Names are the peer and a number.
  Id Add(const std::string& peer) {
    const Id id = table_.Add(absl::StrCat(peer, "/", ++count_), peer, now_, &victim_);
    last_ = absl::StrCat(peer, "/", count_);
    return id;
  }
  Id AddAdmitted(const std::string& peer, bool worker = false) {
    const Id id = Add(peer);
    victim_ = table_.Admit(last_, worker, now_);
    return id;
  }

  absl::Time now_ = absl::UnixEpoch();
  ConnectionTable table_{16};  // two places for silent ones
  std::optional<ConnectionTable::Victim> victim_;
  std::string last_;
  int count_ = 0;
};

TEST_F(ConnectionTableTest, NoConnectionIsClosedWhileThereIsRoom) {
  for (int i = 0; i < 16; ++i) {
    Add("a");
    EXPECT_FALSE(victim_.has_value());
  }
  EXPECT_EQ(table_.size(), 16);
  EXPECT_EQ(table_.silent(), 16);
}

TEST_F(ConnectionTableTest, TheSilentOneThatHasWaitedLongestGoesFirst) {
  const Id first = Add("a");
  for (int i = 0; i < 15; ++i) Add("a");
  Add("a");
  ASSERT_TRUE(victim_.has_value());
  EXPECT_EQ(victim_->id, first);
  EXPECT_EQ(victim_->reason, Reason::kSilent);
  EXPECT_EQ(table_.size(), 16);
}

TEST_F(ConnectionTableTest, APeerThatFloodsDoesNotDisplaceOthersWhoHaveJustCome) {
  const Id honest = Add("honest");
  for (int i = 0; i < 1000; ++i) {
    Add("flood");
    if (victim_.has_value()) {
      ASSERT_NE(victim_->id, honest);
    }
  }
}

TEST_F(ConnectionTableTest, SilentOnesNeverDisplaceAdmittedOnes) {
  std::vector<Id> admitted;
  for (int i = 0; i < 14; ++i) admitted.push_back(AddAdmitted(absl::StrCat("peer", i)));
  for (int i = 0; i < 1000; ++i) {
    Add(absl::StrCat("flood", i));
    ASSERT_TRUE(!victim_.has_value() || victim_->reason == Reason::kSilent);
  }
  EXPECT_EQ(table_.silent(), 2);
  EXPECT_EQ(table_.size(), 16);
}

TEST_F(ConnectionTableTest, ThePeerWithMostAdmittedOnesLosesItsLeastUsed) {
  std::vector<Id> many;
  std::vector<std::string> names;
  for (int i = 0; i < 14; ++i) {
    many.push_back(AddAdmitted("many"));
    names.push_back(last_);
    EXPECT_FALSE(victim_.has_value());
  }
  table_.Admit(names[0], false, now_);  // Used again.
  AddAdmitted("few");
  ASSERT_TRUE(victim_.has_value());
  EXPECT_EQ(victim_->id, many[1]);
  EXPECT_EQ(victim_->reason, Reason::kShare);
}

TEST_F(ConnectionTableTest, APeerThatHasMostReplacesItsOwnIdleOnesAlone) {
  std::vector<Id> many;
  for (int i = 0; i < 14; ++i) many.push_back(AddAdmitted("many"));
  const Id early = AddAdmitted("many");
  ASSERT_TRUE(victim_.has_value());
  EXPECT_EQ(victim_->id, early);
  now_ += absl::Seconds(11);
  AddAdmitted("many");
  ASSERT_TRUE(victim_.has_value());
  EXPECT_EQ(victim_->id, many[0]);
}

TEST_F(ConnectionTableTest, WorkersStay) {
  const Id worker = AddAdmitted("many", /*worker=*/true);
  now_ += absl::Hours(1);
  for (int i = 0; i < 100; ++i) {
    now_ += absl::Minutes(1);
    AddAdmitted("many");
    if (victim_.has_value()) {
      ASSERT_NE(victim_->id, worker);
    }
  }
  EXPECT_EQ(table_.size(), 14);
}

TEST_F(ConnectionTableTest, AWorkerFindsAPlaceAmongCallers) {
  for (int i = 0; i < 14; ++i) AddAdmitted("many");
  const Id worker = AddAdmitted("many", /*worker=*/true);
  ASSERT_TRUE(victim_.has_value());
  EXPECT_NE(victim_->id, worker);
}

TEST_F(ConnectionTableTest, WorkersLeaveRoomForThoseWhoCome) {
  for (int i = 0; i < 100; ++i) AddAdmitted("fleet", /*worker=*/true);
  EXPECT_EQ(table_.size(), 14);
  Add("a");
  EXPECT_FALSE(victim_.has_value());
}

TEST_F(ConnectionTableTest, AConnectionThatResetsTooManyCallsIsClosedAlone) {
  const Id resets = AddAdmitted("a");
  const std::string name = last_;
  const Id other = AddAdmitted("a");
  for (int i = 0; i < ConnectionTable::kMostResets; ++i) ASSERT_FALSE(table_.NoteReset(name, now_).has_value()) << i;
  const std::optional<ConnectionTable::Victim> victim = table_.NoteReset(name, now_);
  ASSERT_TRUE(victim.has_value());
  EXPECT_EQ(victim->id, resets);
  EXPECT_NE(victim->id, other);
  EXPECT_EQ(victim->reason, Reason::kResets);
  EXPECT_EQ(table_.size(), 1);
  EXPECT_FALSE(table_.NoteReset(name, now_).has_value()) << "it has gone";
}

TEST_F(ConnectionTableTest, ResetsThatComeSlowlyEnoughAreFree) {
  AddAdmitted("a");
  for (int i = 0; i < 10 * ConnectionTable::kMostResets; ++i) {
    now_ += absl::Seconds(1 / ConnectionTable::kResetsPerSecond);
    ASSERT_FALSE(table_.NoteReset(last_, now_).has_value()) << i;
  }
}

TEST_F(ConnectionTableTest, AWorkersResetsAreNotCounted) {
  AddAdmitted("fleet", /*worker=*/true);
  for (int i = 0; i < 2 * ConnectionTable::kMostResets; ++i) ASSERT_FALSE(table_.NoteReset(last_, now_).has_value());
}

TEST_F(ConnectionTableTest, ARemovedConnectionMakesRoomAndItsNameMayComeAgain) {
  const Id first = table_.Add("name", "a", now_, &victim_);
  const Id second = table_.Add("name", "a", now_, &victim_);
  table_.Remove(first);
  table_.Remove(first);
  EXPECT_EQ(table_.size(), 1);
  table_.Admit("name", false, now_);
  EXPECT_EQ(table_.silent(), 0);
  table_.Remove(second);
  EXPECT_EQ(table_.size(), 0);
  EXPECT_FALSE(table_.Admit("name", false, now_).has_value());
}

}  // namespace
}  // namespace tritond::server
