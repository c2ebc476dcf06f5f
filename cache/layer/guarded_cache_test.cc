// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/guarded_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "cache/store/memory_store.h"
#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

class TrustingGuard final : public RecordGuard {
 public:
  absl::Status Check(const Digest&, absl::string_view) override { return absl::OkStatus(); }
};

// Answers with one status, and remembers what it was asked about. For one thread.
class FixedGuard final : public RecordGuard {
 public:
  absl::Status Check(const Digest& key, absl::string_view record) override {
    asked_key = key;
    asked_record = std::string(record);
    return answer;
  }

  absl::Status answer;
  Digest asked_key;
  std::string asked_record;
};

INSTANTIATE_TEST_SUITE_P(GuardedCache, CacheContract, testing::Values(CacheMaker{[](const std::string&) {
                           static auto* const guard = new TrustingGuard;  // Outlives every cache.
                           return std::make_unique<GuardedCache>(std::make_unique<MemoryStore>(uint64_t{1} << 30),
                                                                 *guard);
                         }}));

class GuardedCacheTest : public testing::Test {
 protected:
  GuardedCacheTest() {
    auto store = std::make_unique<MemoryStore>(1 << 20);
    raw_ = store.get();
    cache_ = std::make_unique<GuardedCache>(std::move(store), guard_);
    EXPECT_EQ(cache_->Put(key_, Blob("record")), absl::OkStatus());
  }

  const Digest key_ = Digest::Of("key");
  FixedGuard guard_;
  MemoryStore* raw_;
  std::unique_ptr<GuardedCache> cache_;
};

TEST_F(GuardedCacheTest, TheGuardSeesTheKeyThatWasAskedForAndTheWholeRecord) {
  ASSERT_TRUE(cache_->Get(key_).ok());
  EXPECT_EQ(guard_.asked_key, key_);
  EXPECT_EQ(guard_.asked_record, "record");
}

TEST_F(GuardedCacheTest, AForgedRecordIsDataLossAndGone) {
  guard_.answer = absl::DataLossError("forged");
  EXPECT_EQ(cache_->Get(key_).status(), guard_.answer);
  EXPECT_TRUE(absl::IsNotFound(raw_->Get(key_).status()));
}

TEST_F(GuardedCacheTest, ARecordThatDoesNotCountHereStaysForOthers) {
  guard_.answer = absl::NotFoundError("not trusted");
  EXPECT_EQ(cache_->Get(key_).status(), guard_.answer);
  EXPECT_TRUE(raw_->Get(key_).ok());
  guard_.answer = absl::OkStatus();
  EXPECT_EQ(cache_->Get(key_)->bytes(), "record");
}

}  // namespace
}  // namespace tritond::cache
