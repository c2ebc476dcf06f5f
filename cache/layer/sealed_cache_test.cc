// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/sealed_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "cache/store/memory_store.h"
#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

INSTANTIATE_TEST_SUITE_P(SealedCache, CacheContract, testing::Values(CacheMaker{[](const std::string&) {
                           return std::make_unique<SealedCache>(std::make_unique<MemoryStore>(kGiB));
                         }}));

class SealedCacheTest : public testing::Test {
 protected:
  SealedCacheTest() {
    auto store = std::make_unique<MemoryStore>(1 << 20);
    raw_ = store.get();
    cache_ = std::make_unique<SealedCache>(std::move(store));
  }

  // What is stored under key_, as changeable bytes.
  std::string Stored() {
    const Blob stored = *raw_->Get(key_);
    return std::string(stored.bytes());
  }

  void ExpectDamaged(std::string stored) {
    ASSERT_EQ(raw_->Put(key_, Blob(std::move(stored))), absl::OkStatus());
    EXPECT_TRUE(absl::IsDataLoss(cache_->Get(key_).status()));
    EXPECT_TRUE(absl::IsNotFound(cache_->Get(key_).status()));
  }

  const Digest key_ = Digest::Of("key");
  MemoryStore* raw_;
  std::unique_ptr<SealedCache> cache_;
};

TEST_F(SealedCacheTest, EveryFlippedBitIsDataLossOnceThenNotFound) {
  ASSERT_EQ(cache_->Put(key_, Blob("value")), absl::OkStatus());
  const std::string good = Stored();
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    ExpectDamaged(bad);
  }
}

TEST_F(SealedCacheTest, EveryCutIsDataLoss) {
  ASSERT_EQ(cache_->Put(key_, Blob("value")), absl::OkStatus());
  const std::string good = Stored();
  for (size_t size = 0; size < good.size(); ++size) ExpectDamaged(good.substr(0, size));
}

TEST_F(SealedCacheTest, ValueUnderAnotherKeyIsDataLoss) {
  ASSERT_EQ(cache_->Put(Digest::Of("other"), Blob("value")), absl::OkStatus());
  ASSERT_EQ(raw_->Put(key_, *raw_->Get(Digest::Of("other"))), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(cache_->Get(key_).status()));
  EXPECT_TRUE(cache_->Get(Digest::Of("other")).ok());
}

TEST_F(SealedCacheTest, HitSharesTheStoredBytes) {
  ASSERT_EQ(cache_->Put(key_, Blob("value")), absl::OkStatus());
  EXPECT_EQ(cache_->Get(key_)->data(), raw_->Get(key_)->data());
}

}  // namespace
}  // namespace tritond::cache
