// SPDX-License-Identifier: Apache-2.0
#include "cache/store/memory_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

CacheMaker Maker(uint64_t capacity_bytes) {
  return {[capacity_bytes](const std::string&) { return std::make_unique<MemoryStore>(capacity_bytes); }};
}

INSTANTIATE_TEST_SUITE_P(MemoryStoreOfOneShard, CacheContract, testing::Values(Maker(100 * kMiB)));
INSTANTIATE_TEST_SUITE_P(MemoryStoreOfManyShards, CacheContract, testing::Values(Maker(2048 * kMiB)));

Digest Key(int i) { return Digest::Of(std::to_string(i)); }

constexpr uint64_t kValueBytes = 1000;
constexpr uint64_t kCost = kValueBytes + MemoryStore::kEntryOverheadBytes;

void PutKey(MemoryStore& store, int i) {
  ASSERT_EQ(store.Put(Key(i), Blob(std::string(kValueBytes, 'v'))), absl::OkStatus());
}

TEST(MemoryStore, EvictsTheLeastRecentlyPut) {
  MemoryStore store(3 * kCost);
  for (int i = 0; i < 4; ++i) PutKey(store, i);
  EXPECT_TRUE(absl::IsNotFound(store.Get(Key(0)).status()));
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(store.Get(Key(i)).ok()) << i;
}

TEST(MemoryStore, GetCountsAsUse) {
  MemoryStore store(3 * kCost);
  for (int i = 0; i < 3; ++i) PutKey(store, i);
  ASSERT_TRUE(store.Get(Key(0)).ok());
  PutKey(store, 3);
  EXPECT_TRUE(store.Get(Key(0)).ok());
  EXPECT_TRUE(absl::IsNotFound(store.Get(Key(1)).status()));
}

TEST(MemoryStore, FindMissingCountsAsUse) {
  MemoryStore store(3 * kCost);
  for (int i = 0; i < 3; ++i) PutKey(store, i);
  ASSERT_TRUE(store.FindMissing({Key(0)}).ok());
  PutKey(store, 3);
  EXPECT_TRUE(store.Get(Key(0)).ok());
  EXPECT_TRUE(absl::IsNotFound(store.Get(Key(1)).status()));
}

TEST(MemoryStore, NeverExceedsItsCapacity) {
  constexpr uint64_t kCapacity = 100000;
  MemoryStore store(kCapacity);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(store.Put(Key(i), Blob(std::string(i * 37 % 9000, 'v'))), absl::OkStatus());
    ASSERT_LE(store.Stats().size_bytes, static_cast<int64_t>(kCapacity));
  }
  EXPECT_GT(store.Stats().entries, 5);
}

TEST(MemoryStore, ManyShardsStayWithinTheCapacityTogether) {
  constexpr uint64_t kCapacity = 256 * kMiB;
  MemoryStore store(kCapacity);
  const Blob value(std::string(kMiB, 'v'));
  for (int i = 0; i < 600; ++i) ASSERT_EQ(store.Put(Key(i), value), absl::OkStatus());
  EXPECT_LE(store.Stats().size_bytes, static_cast<int64_t>(kCapacity));
  EXPECT_GT(store.Stats().size_bytes, static_cast<int64_t>(kCapacity / 2));
}

TEST(MemoryStore, TooLargeAValueIsRefusedAndEvictsNothing) {
  MemoryStore store(3 * kCost);
  PutKey(store, 0);
  EXPECT_TRUE(absl::IsResourceExhausted(store.Put(Key(1), Blob(std::string(3 * kCost, 'v')))));
  EXPECT_TRUE(store.Get(Key(0)).ok());
  EXPECT_TRUE(absl::IsNotFound(store.Get(Key(1)).status()));
}

TEST(MemoryStore, TooLargeAReplacementRemovesTheEarlierValue) {
  MemoryStore store(3 * kCost);
  PutKey(store, 0);
  EXPECT_TRUE(absl::IsResourceExhausted(store.Put(Key(0), Blob(std::string(3 * kCost, 'v')))));
  EXPECT_TRUE(absl::IsNotFound(store.Get(Key(0)).status()));
}

TEST(MemoryStore, StatsCountEntriesAndBytes) {
  MemoryStore store(10 * kCost);
  PutKey(store, 0);
  PutKey(store, 1);
  PutKey(store, 1);
  EXPECT_EQ(store.Stats().entries, 2);
  EXPECT_EQ(store.Stats().size_bytes, static_cast<int64_t>(2 * kCost));
  EXPECT_EQ(store.Stats().capacity_bytes, static_cast<int64_t>(10 * kCost));
  ASSERT_EQ(store.Remove(Key(0)), absl::OkStatus());
  ASSERT_EQ(store.Remove(Key(1)), absl::OkStatus());
  EXPECT_EQ(store.Stats().entries, 0);
  EXPECT_EQ(store.Stats().size_bytes, 0);
}

TEST(MemoryStore, HitSharesTheStoredBytes) {
  MemoryStore store(10 * kCost);
  const Blob value(std::string(kValueBytes, 'v'));
  ASSERT_EQ(store.Put(Key(0), value), absl::OkStatus());
  EXPECT_EQ(store.Get(Key(0))->data(), value.data());
}

}  // namespace
}  // namespace tritond::cache
