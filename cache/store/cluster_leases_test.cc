// SPDX-License-Identifier: Apache-2.0
// Leases and job streams against real nodes of redis-server; skipped where that is not installed.
#include "cache/store/cluster_leases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cache/store/cluster_store.h"
#include "cache/store/cluster_streams.h"
#include "tests/support/redis_fixture.h"

namespace tritond::cache {
namespace {

using tests::RedisNodes;
using State = KeyLeaseTable::State;

constexpr absl::Duration kLong = absl::Minutes(10);
constexpr absl::Duration kShort = absl::Milliseconds(60);

class ClusterLeasesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (RedisNodes::Available()) nodes_ = new RedisNodes(3);
  }
  static void TearDownTestSuite() { delete nodes_; }

  void SetUp() override {
    if (nodes_ == nullptr) GTEST_SKIP() << "redis-server and redis-cli are not installed";
    ASSERT_TRUE(nodes_->ok());
    RedisOptions options;
    options.nodes = nodes_->addresses();
    cluster = std::make_shared<RedisCluster>(options);
    table = std::make_unique<ClusterLeases>(cluster, "results", absl::Hours(1),
                                            [](const Digest&, const Blob& value) { return value; });
    store = std::make_unique<ClusterStore>(cluster, "results", absl::Hours(1));
    streams = std::make_unique<ClusterStreams>(cluster);
    key = Digest::Of(absl::StrCat(testing::UnitTest::GetInstance()->current_test_info()->name()));
  }

  KeyLeaseTable::Answer Ask(const std::string& owner, KeyLeaseTable::Wish wish = {}, absl::Duration lifetime = kLong) {
    absl::StatusOr<KeyLeaseTable::Answer> answer = table->Ask(key, owner, lifetime, wish);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? *answer : KeyLeaseTable::Answer();
  }
  std::string Stored() {
    absl::StatusOr<Blob> value = store->Get(key);
    return value.ok() ? std::string(value->bytes()) : std::string(value.status().message());
  }
  bool Renew(const KeyLease& lease) { return table->Renew(lease, kLong)->kept; }
  bool IsFollowed(const KeyLease& lease, absl::Duration lifetime = kLong) {
    return table->Renew(lease, lifetime)->followed;
  }

  std::shared_ptr<RedisCluster> cluster;  // Shared by the stores.
  std::unique_ptr<ClusterLeases> table;
  std::unique_ptr<ClusterStore> store;
  std::unique_ptr<ClusterStreams> streams;
  Digest key;
  static inline RedisNodes* nodes_ = nullptr;
};

TEST_F(ClusterLeasesTest, OneOwnerHasTheLeaseAndItsTokenGrowsWithEveryOne) {
  EXPECT_EQ(Ask("a", {/*take=*/false}).state, State::kFree);
  const KeyLeaseTable::Answer first = Ask("a");
  ASSERT_EQ(first.state, State::kGranted);
  EXPECT_EQ(first.lease.token, 1u);
  EXPECT_EQ(Ask("b").state, State::kHeld);
  EXPECT_EQ(Ask("b", {/*take=*/false}).state, State::kHeld);
  ASSERT_TRUE(table->Release(first.lease).ok());
  const KeyLeaseTable::Answer second = Ask("b");
  ASSERT_EQ(second.state, State::kGranted);
  EXPECT_EQ(second.lease.token, 2u);
}

// Else callers would meet at the engine less often than they could, and nothing would say so.
TEST_F(ClusterLeasesTest, EveryClientSeesTheLeasesOfTheOthersOnEachNode) {
  RedisOptions options;
  options.nodes = {nodes_->addresses()[2]};  // Knows the engine by another node.
  const auto other = std::make_shared<RedisCluster>(options);
  ClusterLeases others(other, "results", absl::Hours(1), [](const Digest&, const Blob& value) { return value; });
  for (int i = 0; i < 60; ++i) {
    key = Digest::Of(absl::StrCat("spread ", i));
    ASSERT_EQ(Ask("a").state, State::kGranted);
    const absl::StatusOr<KeyLeaseTable::Answer> seen = others.Ask(key, "b", kLong, {});
    ASSERT_TRUE(seen.ok()) << seen.status();
    EXPECT_EQ(seen->state, State::kHeld);
  }
  for (const auto& client : {cluster, other}) {
    for (const EngineNode& node : client->Nodes()) EXPECT_GE(node.calls, 5u) << node.address;
  }
}

TEST_F(ClusterLeasesTest, AskingAgainAsTheSameOwnerGivesTheSameLease) {
  EXPECT_EQ(Ask("a").lease.token, 1u);
  EXPECT_EQ(Ask("a").lease.token, 1u);
}

TEST_F(ClusterLeasesTest, ALeaseRunsOutAndTheNextOwnerHasAHigherToken) {
  const KeyLease lost = Ask("a", {}, kShort).lease;
  while (Ask("b", {/*take=*/false}).state == State::kHeld) absl::SleepFor(absl::Milliseconds(5));
  const KeyLeaseTable::Answer taken = Ask("b");
  ASSERT_EQ(taken.state, State::kGranted);
  EXPECT_GT(taken.lease.token, lost.token);
  EXPECT_FALSE(Renew(lost));
  EXPECT_TRUE(Renew(taken.lease));
  // What the loser releases is not the winner's.
  ASSERT_TRUE(table->Release(lost).ok());
  EXPECT_EQ(Ask("c").state, State::kHeld);
}

TEST_F(ClusterLeasesTest, ALeaseThatRanOutUnnoticedIsItsOwnersAgainWhenItRenews) {
  const KeyLease lease = Ask("a", {}, kShort).lease;
  while (Ask("b", {/*take=*/false}).state == State::kHeld) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_TRUE(Renew(lease));
  EXPECT_EQ(Ask("b").state, State::kHeld);
}

TEST_F(ClusterLeasesTest, AHolderHearsOfFollowersAsLongAsThereAreAny) {
  const KeyLeaseTable::Wish look{/*take=*/false, false, false}, follow{/*take=*/false, false, /*follow=*/true};
  const KeyLease lease = Ask("a", {}, kLong).lease;
  EXPECT_FALSE(IsFollowed(lease));
  EXPECT_EQ(Ask("b", look).state, State::kHeld);
  EXPECT_FALSE(IsFollowed(lease));
  EXPECT_EQ(Ask("b", follow).state, State::kHeld);
  EXPECT_TRUE(IsFollowed(lease));
  ASSERT_TRUE(table->Unfollow(key).ok());
  ASSERT_TRUE(table->Unfollow(key).ok());
  EXPECT_FALSE(IsFollowed(lease));
  EXPECT_EQ(Ask("c", follow, kShort).state, State::kHeld);
  EXPECT_TRUE(IsFollowed(lease));
  while (IsFollowed(lease)) absl::SleepFor(absl::Milliseconds(5));  // It was lost.
}

TEST_F(ClusterLeasesTest, PublishingReleasesTheLeaseAndTheValueIsFound) {
  const KeyLease lease = Ask("a").lease;
  EXPECT_TRUE(*table->Publish(lease, Blob("value")));
  EXPECT_EQ(Stored(), "value");
  EXPECT_EQ(Ask("b").state, State::kDone);
  EXPECT_EQ(Ask("b", {true, /*ignore_outcome=*/true}).state, State::kGranted);
}

TEST_F(ClusterLeasesTest, AnOlderTokenDoesNotReplaceALaterValue) {
  const KeyLease old = Ask("a", {}, kShort).lease;
  while (Ask("b", {/*take=*/false}).state == State::kHeld) absl::SleepFor(absl::Milliseconds(5));
  const KeyLease later = Ask("b").lease;
  EXPECT_TRUE(*table->Publish(later, Blob("later")));
  EXPECT_FALSE(*table->Publish(old, Blob("old")));
  EXPECT_FALSE(*table->PublishError(old, "old", kLong));
  EXPECT_FALSE(*table->Publish({key, "nobody", 0}, Blob("without a lease")));
  EXPECT_EQ(Stored(), "later");
}

TEST_F(ClusterLeasesTest, ALostLeasesValueCountsWhileThereIsNoLaterOne) {
  const KeyLease old = Ask("a", {}, kShort).lease;
  while (Ask("b", {/*take=*/false}).state == State::kHeld) absl::SleepFor(absl::Milliseconds(5));
  const KeyLease later = Ask("b").lease;
  EXPECT_TRUE(*table->Publish(old, Blob("old")));
  EXPECT_EQ(Stored(), "old");
  EXPECT_TRUE(*table->Publish(later, Blob("later")));
  EXPECT_EQ(Stored(), "later");
}

TEST_F(ClusterLeasesTest, AFailureIsKeptForAWhileAndAValueReplacesIt) {
  const KeyLease lease = Ask("a").lease;
  EXPECT_TRUE(*table->PublishError(lease, "it is wrong", kLong));
  const KeyLeaseTable::Answer failed = Ask("b");
  EXPECT_EQ(failed.state, State::kFailed);
  EXPECT_EQ(failed.error, "it is wrong");
  ASSERT_TRUE(table->ForgetError(key).ok());
  const KeyLeaseTable::Answer again = Ask("b");
  ASSERT_EQ(again.state, State::kGranted);
  EXPECT_TRUE(*table->PublishError(again.lease, "it is wrong", kShort));
  while (Ask("c", {/*take=*/false}).state == State::kFailed) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_TRUE(*table->Publish(Ask("c").lease, Blob("value")));
  EXPECT_EQ(Ask("d").state, State::kDone);
}

TEST_F(ClusterLeasesTest, ANoteForOneOwnerIsFoundByThatOwnerAloneForAWhile) {
  const KeyLeaseTable::Answer lease = Ask("holder");
  ASSERT_TRUE(table->Tell(key, "a", "crashed", kLong).ok());
  const KeyLeaseTable::Answer told = Ask("a", {/*take=*/false});
  EXPECT_EQ(told.state, State::kFailed);
  EXPECT_EQ(told.error, "crashed");
  EXPECT_EQ(Ask("a", {/*take=*/true, /*ignore_outcome=*/true}).state, State::kFailed);
  EXPECT_EQ(Ask("b").state, State::kHeld);
  ASSERT_TRUE(*table->Publish(lease.lease, Blob("result")));
  EXPECT_EQ(Ask("a").state, State::kDone);
  ASSERT_TRUE(table->Tell(key, "b", "crashed", kShort).ok());
  absl::SleepFor(kShort * 2);  // What was told is forgotten, the result is not.
  EXPECT_EQ(Ask("b", {/*take=*/false, /*ignore_outcome=*/true}).state, State::kFree);
}

TEST_F(ClusterLeasesTest, FollowsASlotThatHasMoved) {
  Ask("warms up the map of slots", {/*take=*/false});
  const int slot = RedisSlot(absl::StrCat("{", key.ToHex(), "}"));
  const auto owner = [&](int node) {
    // The node that has a slot answers for its keys; the others name it.
    return nodes_->Command(node, absl::StrCat("get '{", key.ToHex(), "}'")).rfind("MOVED", 0) != 0;
  };
  const int from = owner(0) ? 0 : owner(1) ? 1 : 2, to = (from + 1) % 3;
  const std::string id = nodes_->Command(to, "cluster myid");
  for (int node = 0; node < 3; ++node)
    EXPECT_EQ(nodes_->Command(node, absl::StrCat("cluster setslot ", slot, " node ", id)), "OK");
  const KeyLeaseTable::Answer answer = Ask("a");
  EXPECT_EQ(answer.state, State::kGranted);
  EXPECT_TRUE(Renew(answer.lease));
  EXPECT_TRUE(*table->Publish(answer.lease, Blob("value")));
  EXPECT_EQ(Stored(), "value");
}

class ClusterStreamsTest : public ClusterLeasesTest {
 protected:
  StreamEntry Entry(const std::string& name, const std::string& body) {
    StreamEntry entry;
    entry.stream = Stream(name);
    entry.key = "key of " + body;
    entry.remaining = absl::Seconds(1000);
    entry.body = body;
    return entry;
  }
  StreamName Stream(const std::string& name) { return {key.ToHex(), name}; }
  std::vector<std::string> Bodies(const absl::StatusOr<std::vector<StreamEntry>>& entries) {
    EXPECT_TRUE(entries.ok()) << entries.status();
    std::vector<std::string> bodies;
    if (entries.ok())
      for (const StreamEntry& entry : *entries) bodies.push_back(entry.body);
    return bodies;
  }
};

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_F(ClusterStreamsTest, AnEntryGoesToOneTakerWhole) {
  ASSERT_TRUE(streams->Add(Entry("x", "before the first taker")).ok());
  const auto taken = streams->Take({Stream("x"), Stream("y")}, "a", 1);
  ASSERT_THAT(Bodies(taken), ElementsAre("before the first taker"));
  EXPECT_EQ((*taken)[0].key, "key of before the first taker");
  EXPECT_EQ((*taken)[0].stream.name, "x");
  EXPECT_LE((*taken)[0].remaining, absl::Seconds(1000));
  EXPECT_GT((*taken)[0].remaining, absl::Seconds(900));
  EXPECT_THAT(Bodies(streams->Take({Stream("x"), Stream("y")}, "b", 1)), IsEmpty());
  ASSERT_TRUE(streams->Add(Entry("x", "1")).ok());
  ASSERT_TRUE(streams->Add(Entry("y", "2")).ok());
  EXPECT_THAT(Bodies(streams->Take({Stream("x"), Stream("y")}, "b", 10)), UnorderedElementsAre("1", "2"));
}

TEST_F(ClusterStreamsTest, TheFirstStreamsAreTakenFromFirstAndNoMoreThanIsAskedFor) {
  for (const char* body : {"p1", "p2", "p3"}) ASSERT_TRUE(streams->Add(Entry("prebuild", body)).ok());
  for (const char* body : {"i1", "i2"}) ASSERT_TRUE(streams->Add(Entry("interactive", body)).ok());
  const std::vector<StreamName> names = {Stream("interactive"), Stream("nothing"), Stream("prebuild")};
  EXPECT_THAT(Bodies(streams->Take(names, "a", 1)), ElementsAre("i1"));
  EXPECT_THAT(Bodies(streams->Take(names, "b", 2)), ElementsAre("i2", "p1"));
  EXPECT_THAT(Bodies(streams->Take(names, "a", 9)), ElementsAre("p2", "p3"));
  EXPECT_THAT(Bodies(streams->Take(names, "a", 9)), IsEmpty());
}

TEST_F(ClusterStreamsTest, TheRemainingTimeFollowsTheEnginesClock) {
  ASSERT_TRUE(streams->Add(Entry("x", "waits")).ok());
  absl::SleepFor(absl::Milliseconds(300));
  const auto taken = streams->Take({Stream("x")}, "a", 1);
  ASSERT_THAT(Bodies(taken), ElementsAre("waits"));
  EXPECT_LE((*taken)[0].remaining, absl::Milliseconds(1000000 - 299));
  StreamEntry endless = Entry("x", "endless");
  endless.remaining = absl::InfiniteDuration();
  ASSERT_TRUE(streams->Add(endless).ok());
  const auto later = streams->Take({Stream("x")}, "a", 1);
  ASSERT_THAT(Bodies(later), ElementsAre("endless"));
  EXPECT_EQ((*later)[0].remaining, absl::InfiniteDuration());
}

TEST_F(ClusterStreamsTest, ARemovedEntryIsNotTaken) {
  const absl::StatusOr<std::string> id = streams->Add(Entry("x", "gone"));
  ASSERT_TRUE(id.ok());
  ASSERT_TRUE(streams->Remove(Stream("x"), *id).ok());
  ASSERT_TRUE(streams->Remove(Stream("x"), *id).ok());
  EXPECT_THAT(Bodies(streams->Take({Stream("x")}, "a", 10)), IsEmpty());
}

TEST_F(ClusterStreamsTest, AnEntryThatATakerLeftIsTakenOverUntilItIsRemoved) {
  EXPECT_THAT(Bodies(streams->TakeOver(Stream("x"), "a", absl::ZeroDuration(), 10)), IsEmpty());
  ASSERT_TRUE(streams->Add(Entry("x", "left")).ok());
  ASSERT_THAT(Bodies(streams->Take({Stream("x")}, "a", 10)), ElementsAre("left"));
  EXPECT_THAT(Bodies(streams->TakeOver(Stream("x"), "b", absl::Hours(1), 10)), IsEmpty());
  const auto over = streams->TakeOver(Stream("x"), "b", absl::ZeroDuration(), 10);
  ASSERT_THAT(Bodies(over), ElementsAre("left"));
  ASSERT_TRUE(streams->Remove(Stream("x"), (*over)[0].id).ok());
  EXPECT_THAT(Bodies(streams->TakeOver(Stream("x"), "c", absl::ZeroDuration(), 10)), IsEmpty());
}

TEST_F(ClusterStreamsTest, AStreamIsBounded) {
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(streams->Add(Entry("x", absl::StrCat(i))).ok());
  EXPECT_LT(Bodies(streams->Take({Stream("x")}, "a", 10000)).size(), 1200u);
}

}  // namespace
}  // namespace tritond::cache
