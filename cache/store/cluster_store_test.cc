// SPDX-License-Identifier: Apache-2.0
// Against real nodes of redis-server; skipped where that is not installed.
#include "cache/store/cluster_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "tests/support/cache_contract.h"
#include "tests/support/redis_fixture.h"

namespace tritond::cache {
namespace {

using testing::HasSubstr;
using tests::RedisNodes;

std::shared_ptr<RedisCluster> Dial(const std::vector<std::string>& nodes) {
  RedisOptions options;
  options.nodes = nodes;
  options.call_timeout = absl::Seconds(1);
  return std::make_shared<RedisCluster>(options);
}

// One set of nodes for all tests of this file; each test has a keyspace of its own.
class Nodes final : public testing::Environment {
 public:
  static RedisNodes* Cluster() {
    static RedisNodes* const nodes = RedisNodes::Available() ? new RedisNodes(3) : nullptr;  // Ended below.
    if (!ended_) created_ = nodes;
    return nodes;
  }
  void TearDown() override {
    delete created_;
    ended_ = true;
  }

 private:
  static inline RedisNodes* created_ = nullptr;
  static inline bool ended_ = false;
};
[[maybe_unused]] testing::Environment* const kNodes = testing::AddGlobalTestEnvironment(new Nodes);

std::unique_ptr<Cache> MakeStore(const std::string& keyspace, absl::Duration lifetime = absl::Hours(1)) {
  return std::make_unique<ClusterStore>(Dial(Nodes::Cluster()->addresses()), keyspace, lifetime);
}

class ClusterStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Nodes::Cluster() == nullptr) GTEST_SKIP() << "redis-server and redis-cli are not installed";
    ASSERT_TRUE(Nodes::Cluster()->ok());
  }
};

// The contract's parameters are made before main, when nothing may be started; so the nodes are when they are first
// needed.
int keyspaces = 0;
class LazyStore final : public Cache {
 public:
  absl::StatusOr<Blob> Get(const Digest& key) override { return store().Get(key); }
  absl::Status Put(const Digest& key, Blob value) override { return store().Put(key, std::move(value)); }
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override {
    return store().FindMissing(keys);
  }
  absl::Status Remove(const Digest& key) override { return store().Remove(key); }
  absl::StatusOr<std::vector<Digest>> List() override { return store().List(); }
  absl::StatusOr<uint64_t> RemoveAll() override { return store().RemoveAll(); }

 private:
  Cache& store() {
    absl::MutexLock lock(&mu_);
    if (store_ == nullptr) store_ = MakeStore(absl::StrCat("contract", keyspaces++));
    return *store_;
  }
  absl::Mutex mu_;
  std::unique_ptr<Cache> store_;
};

std::vector<CacheMaker> Makers() {
  if (!RedisNodes::Available()) return {};
  return {CacheMaker{[](const std::string&) { return std::make_unique<LazyStore>(); }}};
}
INSTANTIATE_TEST_SUITE_P(ClusterStore, CacheContract, testing::ValuesIn(Makers()));

TEST_F(ClusterStoreTest, KeyspacesAreApart) {
  const auto a = MakeStore("a"), b = MakeStore("b");
  ASSERT_TRUE(a->Put(Digest::Of("key"), Blob("of a")).ok());
  EXPECT_TRUE(absl::IsNotFound(b->Get(Digest::Of("key")).status()));
  EXPECT_THAT(*b->List(), testing::IsEmpty());
}

TEST_F(ClusterStoreTest, RemoveAllTakesWhatIsLeftOfEntriesAndTheFailuresInTheirPlaceAndLeavesTheRest) {
  RedisNodes nodes(3);
  ASSERT_TRUE(nodes.ok());
  const auto engine = Dial(nodes.addresses());
  ClusterStore store(engine, "results", absl::Hours(1));
  ClusterStore other(engine, "results2", absl::Hours(1));
  ASSERT_TRUE(other.Put(Digest::Of("other's"), Blob("value")).ok());
  const std::string name = absl::StrCat("tritond:{", Digest::Of("key").ToHex(), "}:results");
  const std::vector<std::string> kept = {name + ":lease", name + ":fence", name + ":told:a.1",
                                         "tritond:{stream}:offers",
                                         absl::StrCat("tritond:{", Digest::Of("other's").ToHex(), "}:results2")};
  const std::vector<std::string> gone = {name + ":error", name + ":3"};
  for (const auto* names : {&kept, &gone}) {
    for (const std::string& one : *names) ASSERT_TRUE(engine->Call(one, {"SET", one, "v"}).ok());
  }
  constexpr uint64_t kEntries = 2500;  // more than one page of a scan, and one batch of deletions
  for (uint64_t i = 0; i < kEntries; ++i) ASSERT_TRUE(store.Put(Digest::Of(absl::StrCat(i)), Blob("value")).ok());
  EXPECT_EQ(*store.RemoveAll(), kEntries);
  std::vector<std::string> left;
  ASSERT_TRUE(engine->VisitKeys("*", [&](absl::string_view key) { left.emplace_back(key); }).ok());
  EXPECT_THAT(left, testing::UnorderedElementsAreArray(kept));
}

TEST_F(ClusterStoreTest, RemoveAllClearsTheNodesThatAnswerAndSaysThatOneDoesNot) {
  RedisNodes nodes(3, {"--cluster-require-full-coverage", "no"});
  ASSERT_TRUE(nodes.ok());
  const auto engine = Dial(nodes.addresses());
  ClusterStore store(engine, "results", absl::Hours(1));
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(store.Put(Digest::Of(absl::StrCat(i)), Blob("value")).ok());
  nodes.Signal(0, SIGSTOP);
  EXPECT_TRUE(absl::IsUnavailable(store.RemoveAll().status()));
  for (int i : {1, 2}) EXPECT_EQ(nodes.Command(i, "dbsize"), "0");
  nodes.Signal(0, SIGCONT);
  EXPECT_NE(nodes.Command(0, "dbsize"), "0");
}

TEST_F(ClusterStoreTest, EntriesExpire) {
  const auto store = MakeStore("expiring", absl::Seconds(1));
  ASSERT_TRUE(store->Put(Digest::Of("key"), Blob("value")).ok());
  EXPECT_TRUE(store->Get(Digest::Of("key")).ok());
  const absl::Time give_up = absl::Now() + absl::Seconds(10);
  while (store->Get(Digest::Of("key")).ok() && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_TRUE(absl::IsNotFound(store->Get(Digest::Of("key")).status()));
}

TEST_F(ClusterStoreTest, AMissingChunkIsDamage) {
  const auto store = MakeStore("chunks");
  const Digest key = Digest::Of("large");
  ASSERT_TRUE(store->Put(key, Blob(std::string(3 << 20, 'x'))).ok());
  const std::string chunk = absl::StrCat("tritond:{", key.ToHex(), "}:chunks:1");
  EXPECT_EQ(Nodes::Cluster()->Command(0, absl::StrCat("-c del '", chunk, "'")), "1");
  EXPECT_TRUE(absl::IsDataLoss(store->Get(key).status()));
}

TEST_F(ClusterStoreTest, FollowsASlotThatMoves) {
  RedisNodes& nodes = *Nodes::Cluster();
  const auto store = MakeStore("moving");
  const Digest key = Digest::Of("moved");
  ASSERT_TRUE(store->Put(key, Blob("before")).ok());
  const int slot = RedisSlot(key.ToHex());
  // The node of the slot, and another.
  std::vector<std::string> ids;
  int from = -1;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(nodes.Command(i, "cluster myid"));
    const std::string name = absl::StrCat("tritond:{", key.ToHex(), "}:moving");
    if (nodes.Command(i, absl::StrCat("exists '", name, "'")) == "1") from = i;
  }
  ASSERT_GE(from, 0);
  const int to = (from + 1) % 3;
  nodes.Command(to, absl::StrCat("cluster setslot ", slot, " importing ", ids[from]));
  nodes.Command(from, absl::StrCat("cluster setslot ", slot, " migrating ", ids[to]));
  // Half-way: a key that the old node does not have is asked of the new one.
  const Digest sibling = key;
  EXPECT_EQ(store->Get(sibling)->bytes(), "before");
  const std::string moved = absl::StrCat("tritond:{", key.ToHex(), "}:moving");
  const std::string port = nodes.addresses()[to].substr(nodes.addresses()[to].rfind(':') + 1);
  EXPECT_EQ(nodes.Command(from, absl::StrCat("migrate 127.0.0.1 ", port, " '", moved, "' 0 1000")), "OK");
  EXPECT_EQ(store->Get(key)->bytes(), "before");  // ASK
  for (int i : {to, from, 3 - to - from}) nodes.Command(i, absl::StrCat("cluster setslot ", slot, " node ", ids[to]));
  EXPECT_EQ(store->Get(key)->bytes(), "before");  // MOVED
  EXPECT_TRUE(store->Put(key, Blob("after")).ok());
  EXPECT_EQ(store->Get(key)->bytes(), "after");
}

TEST_F(ClusterStoreTest, AnEngineThatIsAwayIsUnavailableAndComesBack) {
  RedisNodes alone(1);
  ASSERT_TRUE(alone.ok());
  RedisOptions options;
  options.nodes = alone.addresses();
  options.breaker.failures = 1000;  // So that it is asked each time.
  ClusterStore store(std::make_shared<RedisCluster>(options), "k", absl::Hours(1));
  ASSERT_TRUE(store.Put(Digest::Of("key"), Blob("value")).ok());
  alone.Signal(0, SIGSTOP);
  const absl::Time start = absl::Now();
  EXPECT_TRUE(absl::IsUnavailable(store.Get(Digest::Of("key")).status()));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  alone.Signal(0, SIGCONT);
  EXPECT_EQ(store.Get(Digest::Of("key"))->bytes(), "value");
  alone.Signal(0, SIGKILL);
  absl::SleepFor(absl::Milliseconds(100));
  EXPECT_TRUE(absl::IsUnavailable(store.Get(Digest::Of("key")).status()));
}

TEST_F(ClusterStoreTest, AFullEngineSaysSo) {
  RedisNodes small(1, {"--maxmemory", "4mb"});
  ASSERT_TRUE(small.ok());
  ClusterStore store(Dial(small.addresses()), "k", absl::Hours(1));
  absl::Status status;
  for (int i = 0; i < 20 && status.ok(); ++i)
    status = store.Put(Digest::Of(absl::StrCat(i)), Blob(std::string(500000, 'x')));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

TEST_F(ClusterStoreTest, APasswordIsShown) {
  RedisNodes locked(1);
  ASSERT_EQ(locked.Command(0, "config set requirepass secret"), "OK");
  RedisOptions options;
  options.nodes = locked.addresses();
  options.password = "wrong";
  ClusterStore refused(std::make_shared<RedisCluster>(options), "k", absl::Hours(1));
  const absl::Status status = refused.Get(Digest::Of("key")).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::Not(HasSubstr("wrong ")));
  options.password = "secret";
  ClusterStore store(std::make_shared<RedisCluster>(options), "k", absl::Hours(1));
  EXPECT_TRUE(store.Put(Digest::Of("key"), Blob("value")).ok());
}

TEST(RedisClusterAlone, WithoutANodeNothingIsReached) {
  RedisCluster nobody{RedisOptions()};
  EXPECT_TRUE(absl::IsUnavailable(nobody.Call("key", {"GET", "key"}).status()));
  RedisOptions bad;
  bad.nodes = {"nonsense"};
  EXPECT_TRUE(absl::IsInvalidArgument(RedisCluster(bad).Call("key", {"GET", "key"}).status()));
}

}  // namespace
}  // namespace tritond::cache
