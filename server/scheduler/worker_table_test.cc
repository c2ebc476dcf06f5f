// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/worker_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const Requirement kText{"cuda:90", "build", false};
const Requirement kBinary{"cuda:90", "build", true};

WorkerOffer Offer(int slots, bool binary = true) {
  WorkerOffer offer;
  offer.build_id = "build";
  offer.targets["cuda:90"] = binary;
  offer.slots = slots;
  return offer;
}

std::vector<std::string> NamesOf(const std::vector<const WorkerTable::Worker*>& workers) {
  std::vector<std::string> names;
  for (const WorkerTable::Worker* worker : workers) names.push_back(worker->name);
  return names;
}

class WorkerTableTest : public testing::Test {
 protected:
  WorkerTableTest() {
    table_.Attach("a", Offer(2));
    table_.Attach("b", Offer(1, /*binary=*/false));
  }
  const WorkerTable::Worker& Named(const std::string& name) const { return table_.workers().at(name); }

  WorkerTable table_;
};

TEST_F(WorkerTableTest, ALeaseTakesASlotUntilItsWorkerHasAnswered) {
  table_.Grant(10, 1, "b");
  EXPECT_THAT(NamesOf(table_.WithFreeSlot()), ElementsAre("a"));
  const auto ended = table_.End(10);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->job, 1u);
  EXPECT_EQ(ended->worker, "b");
  EXPECT_EQ(Named("b").done, 1u);
  EXPECT_THAT(NamesOf(table_.WithFreeSlot()), ElementsAre("a", "b"));
  EXPECT_FALSE(table_.End(10).has_value());
}

TEST_F(WorkerTableTest, ADisownedLeaseStillTakesItsSlot) {
  table_.Grant(10, 1, "b");
  table_.Disown(10);
  table_.Disown(10);
  EXPECT_EQ(table_.disowned(), 1u);
  EXPECT_EQ(table_.Find(10)->job, 0u);
  EXPECT_THAT(table_.JobsOf("b"), IsEmpty());
  EXPECT_THAT(NamesOf(table_.WithFreeSlot()), ElementsAre("a"));
  EXPECT_EQ(table_.End(10)->job, 0u);
  EXPECT_EQ(table_.disowned(), 0u);
}

TEST_F(WorkerTableTest, AReturnedLeaseCountsAsNoJob) {
  table_.Grant(10, 1, "b");
  table_.Return(10);
  table_.Return(10);
  EXPECT_EQ(table_.Find(10), nullptr);
  EXPECT_EQ(Named("b").done, 0u);
  EXPECT_THAT(NamesOf(table_.WithFreeSlot()), ElementsAre("a", "b"));
}

TEST_F(WorkerTableTest, TheEmptiestComesFirst) {
  table_.Grant(10, 1, "a");
  EXPECT_THAT(NamesOf(table_.WithFreeSlot()), ElementsAre("b", "a"));
}

TEST_F(WorkerTableTest, ItsLeasesEndWithAWorker) {
  table_.Grant(10, 1, "a");
  table_.Grant(11, 2, "a");
  table_.Disown(11);
  const auto ended = table_.Remove("a");
  ASSERT_TRUE(ended.has_value());
  EXPECT_THAT(*ended, ElementsAre(Pair(10, 1), Pair(11, 0)));
  EXPECT_EQ(table_.disowned(), 0u);
  EXPECT_EQ(table_.Find(10), nullptr);
  EXPECT_FALSE(table_.Remove("a").has_value());
}

TEST_F(WorkerTableTest, ARetiredWorkerKeepsItsLeasesAndGetsNoOther) {
  table_.Grant(10, 1, "a");
  table_.Retire("a");
  EXPECT_THAT(NamesOf(table_.WithFreeSlot()), ElementsAre("b"));
  EXPECT_THAT(table_.JobsOf("a"), ElementsAre(1));
  EXPECT_EQ(table_.Slots(), 1);
  EXPECT_FALSE(table_.AnyCanRun(kBinary));
  EXPECT_TRUE(table_.End(10).has_value());
}

TEST_F(WorkerTableTest, AWorkerThatFailedAJobGetsItAgainOnlyIfNoOtherCanRunIt) {
  Requirement text = kText, binary = kBinary;
  text.not_on = binary.not_on = "a";
  EXPECT_FALSE(table_.MayRun(Named("a"), text));
  EXPECT_TRUE(table_.MayRun(Named("b"), text));
  EXPECT_TRUE(table_.MayRun(Named("a"), binary));
  EXPECT_FALSE(table_.MayRun(Named("b"), binary));
}

TEST_F(WorkerTableTest, ASpareWorkerHasNothingToDoAndIsNotTheLast) {
  // b makes text alone, which a does too; of binaries a is the only maker.
  EXPECT_EQ(table_.FindSpare(kText, "")->name, "b");
  EXPECT_EQ(table_.FindSpare(kBinary, ""), nullptr);
  table_.Attach("c", {"c", "build", {{"cuda:90", true}}, 1});
  EXPECT_EQ(table_.FindSpare(kBinary, "")->name, "a");
  table_.Grant(10, 1, "a");
  EXPECT_EQ(table_.FindSpare(kBinary, "a"), nullptr) << "c is the last idle one that makes binaries";
  EXPECT_EQ(table_.FindSpare(kText, "a")->name, "b");
}

TEST_F(WorkerTableTest, AWorkerThatAloneServesSomeTargetIsNotSpare) {
  table_.Attach("c", {"c", "build", {{"cuda:90", true}}, 1});
  table_.Attach("a", {"a", "build", {{"cuda:90", true}, {"host", true}}, 1});
  table_.Grant(10, 1, "b");
  EXPECT_EQ(table_.FindSpare(kBinary, "b")->name, "c");
  table_.Grant(11, 2, "c");
  EXPECT_EQ(table_.FindSpare(kBinary, "c"), nullptr);
}

TEST_F(WorkerTableTest, ARetiredWorkerNeitherIsSpareNorMakesAnotherOne) {
  table_.Attach("c", {"c", "build", {{"cuda:90", true}}, 1});
  table_.Retire("c");
  EXPECT_EQ(table_.FindSpare(kBinary, ""), nullptr);
}

TEST_F(WorkerTableTest, IdleSlotsAreCountedByWhatTheyCanRun) {
  table_.Grant(10, 1, "a");
  const auto idle = table_.IdleSlots();
  EXPECT_EQ(idle.at(kText), 2);
  EXPECT_EQ(idle.at(kBinary), 1);
}

TEST_F(WorkerTableTest, SlotsThatArrivingJobsNeedAreNotIdle) {
  EXPECT_EQ(table_.IdleSlots({{kBinary, 1}}).at(kBinary), 1);
  EXPECT_EQ(table_.IdleSlots({{kBinary, 1}}).at(kText), 2);
  EXPECT_EQ(table_.IdleSlots({{kBinary, 2}}).count(kBinary), 0u);
  EXPECT_TRUE(table_.IdleSlots({{kText, 5}}).empty());
  EXPECT_EQ(table_.IdleSlots({{{"cuda:80", "build", false}, 5}}).at(kText), 3);  // Nobody here can run these.
}

}  // namespace
}  // namespace tritond::server
