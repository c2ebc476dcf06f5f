// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/shared_cache.h"

#include <gtest/gtest.h>

#include "cache/store/memory_store.h"
#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

INSTANTIATE_TEST_SUITE_P(SharedCache, CacheContract, testing::Values(CacheMaker{[](const std::string&) {
                           return std::make_unique<SharedCache>(std::make_unique<MemoryStore>(uint64_t{1} << 30),
                                                                std::make_unique<MemoryStore>(uint64_t{1} << 30),
                                                                [](const absl::Status&) {});
                         }}));

// A store in which several caches meet, and which can be away.
struct Meeting {
  MemoryStore store{1 << 20};
  absl::Status away;
};

class View final : public Cache {
 public:
  explicit View(Meeting& meeting) : meeting_(meeting) {}
  absl::StatusOr<Blob> Get(const Digest& key) override {
    return meeting_.away.ok() ? meeting_.store.Get(key) : meeting_.away;
  }
  absl::Status Put(const Digest& key, Blob value) override {
    return meeting_.away.ok() ? meeting_.store.Put(key, std::move(value)) : meeting_.away;
  }
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override {
    return meeting_.away.ok() ? meeting_.store.FindMissing(keys) : meeting_.away;
  }
  absl::Status Remove(const Digest& key) override {
    return meeting_.away.ok() ? meeting_.store.Remove(key) : meeting_.away;
  }
  absl::StatusOr<std::vector<Digest>> List() override { return meeting_.store.List(); }

 private:
  Meeting& meeting_;
};

class SharedCacheTest : public testing::Test {
 protected:
  std::unique_ptr<SharedCache> Open() {
    return std::make_unique<SharedCache>(std::make_unique<MemoryStore>(1 << 20), std::make_unique<View>(meeting),
                                         [this](const absl::Status&) { ++errors; });
  }
  Meeting meeting;
  int errors = 0;
  const Digest key = Digest::Of("key");
};

TEST_F(SharedCacheTest, AValueOfOneCacheIsServedAndKeptByTheOther) {
  const auto one = Open(), two = Open();
  ASSERT_TRUE(one->Put(key, Blob("value")).ok());
  EXPECT_TRUE(two->FindMissing({key})->empty());
  EXPECT_EQ(two->Get(key)->bytes(), "value");
  meeting.away = absl::UnavailableError("away");
  EXPECT_EQ(two->Get(key)->bytes(), "value");
  EXPECT_EQ(errors, 0);
}

// As an engine does that confirms a write and fails over before a replica has it.
TEST_F(SharedCacheTest, AValueThatTheSharedCacheForgotIsStillServed) {
  const auto one = Open(), two = Open();
  ASSERT_TRUE(one->Put(key, Blob("value")).ok());
  ASSERT_TRUE(meeting.store.Remove(key).ok());
  EXPECT_EQ(one->Get(key)->bytes(), "value");
  EXPECT_TRUE(one->FindMissing({key})->empty());
  EXPECT_TRUE(absl::IsNotFound(two->Get(key).status()));
  EXPECT_EQ(two->FindMissing({key})->size(), 1u);
}

TEST_F(SharedCacheTest, GoesOnAloneWhenTheOthersAreAway) {
  const auto cache = Open();
  meeting.away = absl::UnavailableError("away");
  EXPECT_TRUE(absl::IsNotFound(cache->Get(key).status()));
  EXPECT_TRUE(cache->Put(key, Blob("value")).ok());
  EXPECT_EQ(cache->Get(key)->bytes(), "value");
  EXPECT_EQ(cache->FindMissing({Digest::Of("other")})->size(), 1u);
  EXPECT_TRUE(cache->Remove(key).ok());
  EXPECT_EQ(errors, 4);
}

TEST_F(SharedCacheTest, ReleaseKeepsItForTheOthersAndRemoveDoesNot) {
  const auto one = Open(), two = Open();
  ASSERT_TRUE(one->Put(key, Blob("value")).ok());
  EXPECT_TRUE(one->Release(key).ok());
  EXPECT_EQ(two->Get(key)->bytes(), "value");
  EXPECT_TRUE(one->Remove(key).ok());
  EXPECT_TRUE(absl::IsNotFound(one->Get(key).status()));
}

TEST_F(SharedCacheTest, RemoveAllTakesWhatOnlyTheRemoteOneHas) {
  const auto one = Open(), two = Open();
  ASSERT_TRUE(one->Put(key, Blob("value")).ok());
  EXPECT_TRUE(two->RemoveAll().ok());
  EXPECT_TRUE(absl::IsNotFound(two->Get(key).status()));
  EXPECT_TRUE(one->Get(key).ok());
}

}  // namespace
}  // namespace tritond::cache
