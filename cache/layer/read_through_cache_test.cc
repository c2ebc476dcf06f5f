// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/read_through_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/store/memory_store.h"
#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

INSTANTIATE_TEST_SUITE_P(ReadThroughCache, CacheContract, testing::Values(CacheMaker{[](const std::string&) {
                           return std::make_unique<ReadThroughCache>(std::make_unique<MemoryStore>(kGiB),
                                                                     std::make_unique<MemoryStore>(kGiB));
                         }}));
INSTANTIATE_TEST_SUITE_P(ReadThroughCacheWithATinyFastOne, CacheContract,
                         testing::Values(CacheMaker{[](const std::string&) {
                           return std::make_unique<ReadThroughCache>(std::make_unique<MemoryStore>(2000),
                                                                     std::make_unique<MemoryStore>(kGiB));
                         }}));

// A memory store whose verbs can be made to fail, and that can run something in the middle of a Get.
class FragileStore final : public Cache {
 public:
  absl::StatusOr<Blob> Get(const Digest& key) override {
    ++gets;
    if (!get_status.ok()) return get_status;
    absl::StatusOr<Blob> value = store.Get(key);
    if (after_get) std::exchange(after_get, nullptr)();
    return value;
  }
  absl::Status Put(const Digest& key, Blob value) override {
    return put_status.ok() ? store.Put(key, std::move(value)) : put_status;
  }
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override {
    if (!find_status.ok()) return find_status;
    return store.FindMissing(keys);
  }
  absl::Status Remove(const Digest& key) override { return remove_status.ok() ? store.Remove(key) : remove_status; }
  absl::StatusOr<std::vector<Digest>> List() override { return store.List(); }

  MemoryStore store{1 << 20};
  absl::Status get_status, put_status, find_status, remove_status;
  std::function<void()> after_get;
  int gets = 0;
};

class ReadThroughCacheTest : public testing::Test {
 protected:
  ReadThroughCacheTest() {
    auto fast = std::make_unique<FragileStore>();
    auto slow = std::make_unique<FragileStore>();
    fast_ = fast.get();
    slow_ = slow.get();
    cache_ = std::make_unique<ReadThroughCache>(std::move(fast), std::move(slow));
  }

  const Digest key_ = Digest::Of("key");
  FragileStore* fast_;
  FragileStore* slow_;
  std::unique_ptr<ReadThroughCache> cache_;
};

TEST_F(ReadThroughCacheTest, PutWritesBoth) {
  ASSERT_EQ(cache_->Put(key_, Blob("value")), absl::OkStatus());
  EXPECT_EQ(fast_->store.Get(key_)->bytes(), "value");
  EXPECT_EQ(slow_->store.Get(key_)->bytes(), "value");
}

TEST_F(ReadThroughCacheTest, SlowHitFillsTheFastCache) {
  ASSERT_EQ(slow_->store.Put(key_, Blob("value")), absl::OkStatus());
  EXPECT_EQ(cache_->Get(key_)->bytes(), "value");
  EXPECT_EQ(fast_->store.Get(key_)->bytes(), "value");
}

TEST_F(ReadThroughCacheTest, FastHitLeavesTheSlowCacheAlone) {
  ASSERT_EQ(cache_->Put(key_, Blob("value")), absl::OkStatus());
  EXPECT_EQ(cache_->Get(key_)->bytes(), "value");
  EXPECT_EQ(slow_->gets, 0);
}

TEST_F(ReadThroughCacheTest, FastFailureFallsThrough) {
  ASSERT_EQ(slow_->store.Put(key_, Blob("value")), absl::OkStatus());
  for (const absl::Status& failure : {absl::DataLossError("damaged"), absl::UnavailableError("gone")}) {
    fast_->get_status = failure;
    EXPECT_EQ(cache_->Get(key_)->bytes(), "value");
  }
}

TEST_F(ReadThroughCacheTest, SlowFailureIsReported) {
  slow_->get_status = absl::UnavailableError("gone");
  EXPECT_EQ(cache_->Get(key_).status(), slow_->get_status);
  slow_->get_status = absl::DataLossError("damaged");
  EXPECT_EQ(cache_->Get(key_).status(), slow_->get_status);
}

TEST_F(ReadThroughCacheTest, PutThatTheSlowCacheHasNoRoomForIsReportedAndServed) {
  slow_->put_status = absl::ResourceExhaustedError("full");
  EXPECT_EQ(cache_->Put(key_, Blob("value")), slow_->put_status);
  EXPECT_EQ(cache_->Get(key_)->bytes(), "value");
}

TEST_F(ReadThroughCacheTest, PutThatTheSlowCacheRefusesIsNotKept) {
  slow_->put_status = absl::InvalidArgumentError("wrong key");
  EXPECT_EQ(cache_->Put(key_, Blob("value")), slow_->put_status);
  EXPECT_TRUE(absl::IsNotFound(cache_->Get(key_).status()));
}

TEST_F(ReadThroughCacheTest, ValueThatTheFastCacheCannotTakeLeavesNoEarlierOneThere) {
  ASSERT_EQ(cache_->Put(key_, Blob("earlier")), absl::OkStatus());
  fast_->put_status = absl::ResourceExhaustedError("too large");
  ASSERT_EQ(cache_->Put(key_, Blob("later")), absl::OkStatus());
  EXPECT_EQ(cache_->Get(key_)->bytes(), "later");
}

TEST_F(ReadThroughCacheTest, MissingAreThoseNeitherHas) {
  const Digest in_fast = Digest::Of("fast"), in_slow = Digest::Of("slow"), absent = Digest::Of("absent");
  ASSERT_EQ(fast_->store.Put(in_fast, Blob()), absl::OkStatus());
  ASSERT_EQ(slow_->store.Put(in_slow, Blob()), absl::OkStatus());
  EXPECT_THAT(*cache_->FindMissing({in_fast, absent, in_slow}), testing::ElementsAre(absent));
}

TEST_F(ReadThroughCacheTest, FindMissingDoesWithoutTheFastCache) {
  fast_->find_status = absl::UnavailableError("gone");
  ASSERT_EQ(slow_->store.Put(key_, Blob()), absl::OkStatus());
  EXPECT_THAT(*cache_->FindMissing({key_}), testing::IsEmpty());
}

TEST_F(ReadThroughCacheTest, RemoveTriesBothAndReportsTheFailure) {
  ASSERT_EQ(cache_->Put(key_, Blob("value")), absl::OkStatus());
  slow_->remove_status = absl::UnavailableError("gone");
  EXPECT_EQ(cache_->Remove(key_), slow_->remove_status);
  EXPECT_TRUE(absl::IsNotFound(fast_->store.Get(key_).status()));
}

TEST_F(ReadThroughCacheTest, EntryRemovedDuringAGetStaysRemoved) {
  ASSERT_EQ(slow_->store.Put(key_, Blob("value")), absl::OkStatus());
  slow_->after_get = [this] { ASSERT_EQ(cache_->Remove(key_), absl::OkStatus()); };
  EXPECT_EQ(cache_->Get(key_)->bytes(), "value");
  EXPECT_TRUE(absl::IsNotFound(cache_->Get(key_).status()));
}

TEST_F(ReadThroughCacheTest, EntryReplacedDuringAGetStaysReplaced) {
  ASSERT_EQ(slow_->store.Put(key_, Blob("earlier")), absl::OkStatus());
  slow_->after_get = [this] { ASSERT_EQ(cache_->Put(key_, Blob("later")), absl::OkStatus()); };
  EXPECT_EQ(cache_->Get(key_)->bytes(), "earlier");
  EXPECT_EQ(cache_->Get(key_)->bytes(), "later");
}

}  // namespace
}  // namespace tritond::cache
