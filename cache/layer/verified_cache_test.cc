// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/verified_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "cache/store/memory_store.h"
#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

INSTANTIATE_TEST_SUITE_P(VerifiedCache, CacheContract,
                         testing::Values(CacheMaker{[](const std::string&) {
                                                      return std::make_unique<VerifiedCache>(
                                                          std::make_unique<MemoryStore>(kGiB));
                                                    },
                                                    /*content_addressed=*/true}));

TEST(VerifiedCache, ChangedValueIsDataLossOnceThenNotFound) {
  auto store = std::make_unique<MemoryStore>(1 << 20);
  MemoryStore& raw = *store;
  VerifiedCache cache(std::move(store));
  const Digest key = Digest::Of("value");
  ASSERT_EQ(cache.Put(key, Blob("value")), absl::OkStatus());
  ASSERT_EQ(raw.Put(key, Blob("valuf")), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(cache.Get(key).status()));
  EXPECT_TRUE(absl::IsNotFound(cache.Get(key).status()));
}

TEST(VerifiedCache, CutValueIsDataLoss) {
  auto store = std::make_unique<MemoryStore>(1 << 20);
  MemoryStore& raw = *store;
  VerifiedCache cache(std::move(store));
  ASSERT_EQ(raw.Put(Digest::Of("value"), Blob("")), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(cache.Get(Digest::Of("value")).status()));
}

TEST(VerifiedCache, PutUnderAnotherKeyIsRefused) {
  VerifiedCache cache(std::make_unique<MemoryStore>(1 << 20));
  EXPECT_TRUE(absl::IsInvalidArgument(cache.Put(Digest::Of("other"), Blob("value"))));
  EXPECT_TRUE(absl::IsNotFound(cache.Get(Digest::Of("other")).status()));
}

// A store that finds an entry damaged until it is removed.
class DamagedStore final : public Cache {
 public:
  absl::StatusOr<Blob> Get(const Digest&) override {
    if (removed) return absl::NotFoundError("removed");
    return absl::DataLossError("checksum mismatch");
  }
  absl::Status Put(const Digest&, Blob) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest>) override { return std::vector<Digest>(); }
  absl::Status Remove(const Digest&) override {
    removed = true;
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Digest>> List() override { return std::vector<Digest>(); }

  bool removed = false;
};

TEST(VerifiedCache, DamageThatTheStoreFindsIsRemovedToo) {
  VerifiedCache cache(std::make_unique<DamagedStore>());
  EXPECT_TRUE(absl::IsDataLoss(cache.Get(Digest::Of("value")).status()));
  EXPECT_TRUE(absl::IsNotFound(cache.Get(Digest::Of("value")).status()));
}

}  // namespace
}  // namespace tritond::cache
