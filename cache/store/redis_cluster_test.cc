// SPDX-License-Identifier: Apache-2.0
// Against real nodes of redis-server; skipped where that is not installed.
#include "cache/store/redis_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/support/redis_fixture.h"

namespace tritond::cache {
namespace {

using tests::RedisNodes;

class RedisClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
    // The slots of other nodes are served on, as the manual wants it.
    nodes_ = std::make_unique<RedisNodes>(3, std::vector<std::string>{"--cluster-require-full-coverage", "no"});
    ASSERT_TRUE(nodes_->ok());
    RedisOptions options;
    options.nodes = nodes_->addresses();
    engine_ = std::make_unique<RedisCluster>(options);
  }
  absl::Status Get(const std::string& key) { return engine_->Call(key, {"GET", key}).status(); }
  // A key of the node's.
  std::string KeyOn(int index) const {
    for (int i = 0;; ++i) {
      const std::string key = absl::StrCat("key", i);
      const std::string answer = nodes_->Command(index, absl::StrCat("get ", key));
      if (answer.find("MOVED") == std::string::npos) return key;
    }
  }
  EngineNode Find(int index) const {
    for (const EngineNode& node : engine_->Nodes()) {
      if (node.address == nodes_->addresses()[index]) return node;
    }
    return {};
  }

  std::unique_ptr<RedisNodes> nodes_;
  std::unique_ptr<RedisCluster> engine_;
};

TEST_F(RedisClusterTest, NodesAreKnownByTheirSlotsAndFigures) {
  EXPECT_EQ(engine_->Nodes().size(), 3u);  // As it was told.
  ASSERT_TRUE(Get(KeyOn(1)).ok());
  int slots = 0;
  for (const EngineNode& node : engine_->Nodes()) slots += node.slots;
  EXPECT_EQ(slots, kRedisSlots);
  const EngineNode node = Find(1);
  EXPECT_TRUE(node.answers);
  EXPECT_GE(node.calls, 1u);
  EXPECT_EQ(node.failures, 0u);
  EXPECT_GT(node.latency, absl::ZeroDuration());
}

TEST_F(RedisClusterTest, OneStalledNodeFailsFastAndTheOthersGoOn) {
  const std::string keys[] = {KeyOn(0), KeyOn(1), KeyOn(2)};
  for (const std::string& key : keys) ASSERT_TRUE(Get(key).ok());
  nodes_->Signal(0, SIGSTOP);
  EXPECT_TRUE(absl::IsUnavailable(Get(keys[0])));  // Half a second, perhaps twice.
  EXPECT_TRUE(absl::IsUnavailable(Get(keys[0])));
  EXPECT_FALSE(Find(0).answers);
  absl::Duration slowest;
  for (int i = 0; i < 20; ++i) {
    const absl::Time start = absl::Now();
    EXPECT_TRUE(absl::IsUnavailable(Get(keys[0])));
    EXPECT_TRUE(Get(keys[1]).ok());
    EXPECT_TRUE(Get(keys[2]).ok());
    slowest = std::max(slowest, absl::Now() - start);
  }
  EXPECT_LT(slowest, absl::Milliseconds(400));  // No call waited for a time-out.
  EXPECT_TRUE(Find(1).answers);
  EXPECT_TRUE(Find(2).answers);
  EXPECT_THAT(NodesAway(engine_->Nodes()), testing::ElementsAre(nodes_->addresses()[0]));
  EXPECT_TRUE(SomeAnswer(engine_->Nodes()));
  nodes_->Signal(0, SIGCONT);
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  while (!Get(keys[0]).ok() && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(50));
  EXPECT_TRUE(Find(0).answers);
}

TEST_F(RedisClusterTest, SlotsThatAnotherNodeTookOverAreFoundWhileTheirOldNodeIsLeftAlone) {
  const std::string key = KeyOn(0);
  ASSERT_TRUE(Get(key).ok());
  const std::string heir = nodes_->Command(1, "cluster myid");
  const int slot = RedisSlot(key);
  nodes_->Signal(0, SIGSTOP);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(absl::IsUnavailable(Get(key)));
  ASSERT_FALSE(Find(0).answers);
  // The slot's old owner is gone for good: the others take it over by force, with a newer configuration.
  for (int i : {1, 2}) {
    nodes_->Command(i, absl::StrCat("cluster delslots ", slot));
  }
  nodes_->Command(1, absl::StrCat("cluster addslots ", slot));
  nodes_->Command(1, "cluster bumpepoch");
  nodes_->Command(2, absl::StrCat("cluster setslot ", slot, " node ", heir));
  const absl::Time give_up = absl::Now() + absl::Seconds(10);
  while (!Get(key).ok() && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(100));
  EXPECT_TRUE(Get(key).ok());
  EXPECT_FALSE(Find(0).answers);
}

TEST(RedisClusterFailover, AReplicaThatTakesOverIsFoundAndTakesWrites) {
  if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
  RedisNodes nodes(6, {}, {}, /*replicas=*/1);
  ASSERT_TRUE(nodes.ok());
  RedisOptions options;
  options.nodes = nodes.addresses();
  RedisCluster engine(options);
  ASSERT_TRUE(engine.Call("k", {"SET", "k", "v"}).ok());
  // Node 0 is a master, as redis-cli deals roles out; a key of its slots.
  std::string key = "k";
  for (int i = 0; nodes.Command(0, absl::StrCat("get ", key)).find("MOVED") != std::string::npos; ++i)
    key = absl::StrCat("key", i);
  ASSERT_TRUE(engine.Call(key, {"SET", key, "before"}).ok());
  EXPECT_EQ(nodes.Command(0, "wait 1 10000"), "1");
  nodes.Signal(0, SIGKILL);
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  while (!engine.Call(key, {"SET", key, "after"}).ok() && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(50));
  EXPECT_TRUE(engine.Call(key, {"GET", key}).ok());
  const std::vector<EngineNode> serving = engine.Nodes();
  EXPECT_EQ(serving.size(), 3u);
  for (const EngineNode& node : serving) EXPECT_NE(node.address, nodes.addresses()[0]);
}

// One node that is set up in a way of its own, and a client of it.
class OddEngineTest : public testing::Test {
 protected:
  bool Start(const std::vector<std::string>& options, const std::string& password = "") {
    nodes_ = std::make_unique<RedisNodes>(1, options);
    RedisOptions client;
    client.nodes = nodes_->addresses();
    client.password = password;
    client.breaker.first_pause = absl::Milliseconds(50);
    engine_ = std::make_unique<RedisCluster>(client);
    return nodes_->ok();
  }
  void SetUp() override {
    if (!RedisNodes::Available()) GTEST_SKIP() << "redis-server and redis-cli are not installed";
  }
  absl::Status Set() { return engine_->Call("k", {"SET", "k", "v"}).status(); }
  EngineNode Node() const { return engine_->Nodes()[0]; }

  std::unique_ptr<RedisNodes> nodes_;
  std::unique_ptr<RedisCluster> engine_;
};

TEST_F(OddEngineTest, WithoutThePasswordThatItWantsItIsNotUp) {
  ASSERT_TRUE(Start({}));
  nodes_->Command(0, "config set requirepass hush");
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Set().ok());
  EXPECT_FALSE(Node().answers);
  EXPECT_THAT(Node().trouble, testing::StartsWith("NOAUTH: "));
  nodes_->Command(0, "-a hush config set requirepass \"\"");
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  while (!Node().answers && absl::Now() < give_up) {
    Set().IgnoreError();
    absl::SleepFor(absl::Milliseconds(50));
  }
  EXPECT_TRUE(Node().answers);
  EXPECT_EQ(Node().trouble, "");
}

TEST_F(OddEngineTest, WithAnotherPasswordItIsNotUpAndThePasswordIsNotSaid) {
  ASSERT_TRUE(Start({}, "tell-nobody"));
  nodes_->Command(0, "config set requirepass hush");
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(std::string(Set().message()), testing::Not(testing::HasSubstr("tell-nobody")));
  EXPECT_FALSE(Node().answers);
  EXPECT_THAT(Node().trouble, testing::StartsWith("WRONGPASS: "));
}

TEST_F(OddEngineTest, WithAPasswordThatItDoesNotWantItIsNotUp) {
  ASSERT_TRUE(Start({}, "tell-nobody"));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Set().ok());
  EXPECT_FALSE(Node().answers);
  EXPECT_THAT(Node().trouble, testing::HasSubstr("password"));
}

TEST_F(OddEngineTest, FullOfDataItIsReadAndNotUp) {
  ASSERT_TRUE(Start({}));
  ASSERT_TRUE(Set().ok());
  nodes_->Command(0, "config set maxmemory 1");
  EXPECT_TRUE(absl::IsResourceExhausted(Set()));
  EXPECT_TRUE(absl::IsResourceExhausted(
      engine_->Call("k", {"EVAL", "redis.call('SET', KEYS[1], 'v') return 1", "1", "k"}).status()));
  EXPECT_TRUE(engine_->Call("k", {"GET", "k"}).ok());
  EXPECT_FALSE(Node().answers);
  EXPECT_THAT(Node().trouble, testing::StartsWith("OOM: "));
}

TEST_F(OddEngineTest, WithoutRightsOrAsAReplicaItIsNotUp) {
  ASSERT_TRUE(Start({}));
  nodes_->Command(0, "acl setuser default -set");
  EXPECT_TRUE(absl::IsPermissionDenied(Set()));
  EXPECT_THAT(Node().trouble, testing::StartsWith("NOPERM: "));
  nodes_->Command(0, "acl setuser default +set");
  nodes_->Command(0, "replicaof 127.0.0.1 1");
  EXPECT_TRUE(absl::IsResourceExhausted(Set()));
  EXPECT_THAT(Node().trouble, testing::StartsWith("READONLY: "));
}

TEST_F(OddEngineTest, InAClusterThatWasNeverMadeItIsNotUp) {
  ASSERT_TRUE(Start({"--cluster-enabled", "yes"}));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Set().ok());
  EXPECT_FALSE(Node().answers);
  EXPECT_THAT(Node().trouble, testing::HasSubstr("no hash slots"));
}

TEST(RedisClusterAddress, IsAHostAndAPort) {
  EXPECT_TRUE(RedisCluster::CheckAddress("kv-0.kv:6379").ok());
  EXPECT_TRUE(RedisCluster::CheckAddress("[::1]:6379").ok());
  for (const char* wrong : {"", "kv", ":6379", "kv:", "kv:0", "kv:x"})
    EXPECT_TRUE(absl::IsInvalidArgument(RedisCluster::CheckAddress(wrong))) << wrong;
}

}  // namespace
}  // namespace tritond::cache
