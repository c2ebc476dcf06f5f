// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/breaker_cache.h"

#include <gtest/gtest.h>

#include "cache/store/memory_store.h"
#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

INSTANTIATE_TEST_SUITE_P(BreakerCache, CacheContract, testing::Values(CacheMaker{[](const std::string&) {
                           return std::make_unique<BreakerCache>(
                               std::make_unique<MemoryStore>(uint64_t{1} << 30),
                               std::make_shared<CircuitBreaker>(CircuitBreaker::Config(),
                                                                [] { return absl::ZeroDuration(); }));
                         }}));

class MoodyStore final : public Cache {
 public:
  absl::StatusOr<Blob> Get(const Digest&) override { return Answer(); }
  absl::Status Put(const Digest&, Blob) override { return Answer(); }
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest>) override { return Answer(); }
  absl::Status Remove(const Digest&) override { return Answer(); }
  absl::StatusOr<std::vector<Digest>> List() override { return Answer(); }

  absl::Status status = absl::UnavailableError("away");
  int calls = 0;

 private:
  absl::Status Answer() {
    ++calls;
    return status;
  }
};

class BreakerCacheTest : public testing::Test {
 protected:
  BreakerCacheTest() {
    auto next = std::make_unique<MoodyStore>();
    store = next.get();
    circuit = std::make_shared<CircuitBreaker>(CircuitBreaker::Config(), [this] { return now; });
    breaker = std::make_unique<BreakerCache>(std::move(next), circuit);
  }
  absl::Status Call() { return breaker->Remove(Digest()); }

  absl::Duration now;
  std::shared_ptr<CircuitBreaker> circuit;  // Shared with the cache that it guards.
  MoodyStore* store;
  std::unique_ptr<BreakerCache> breaker;
};

TEST_F(BreakerCacheTest, OpensAfterFailuresInARow) {
  Call().IgnoreError();
  store->status = absl::NotFoundError("an answer all the same");
  Call().IgnoreError();
  store->status = absl::UnavailableError("away");
  Call().IgnoreError();
  EXPECT_TRUE(circuit->closed());
  Call().IgnoreError();
  EXPECT_FALSE(circuit->closed());
  const int before = store->calls;
  EXPECT_TRUE(absl::IsUnavailable(Call()));
  EXPECT_TRUE(absl::IsUnavailable(breaker->Get(Digest()).status()));
  EXPECT_EQ(store->calls, before);
}

TEST_F(BreakerCacheTest, ASuccessfulTryClosesIt) {
  for (int i = 0; i < 2; ++i) Call().IgnoreError();
  store->status = absl::OkStatus();
  now += absl::Milliseconds(999);
  EXPECT_FALSE(Call().ok());
  now += absl::Milliseconds(1);
  EXPECT_TRUE(Call().ok());
  EXPECT_TRUE(circuit->closed());
  EXPECT_TRUE(Call().ok());
}

TEST_F(BreakerCacheTest, FailedTriesComeEverMoreRarely) {
  for (int i = 0; i < 2; ++i) Call().IgnoreError();
  std::vector<int> seconds;
  absl::Duration last = now;
  for (int calls = store->calls; seconds.size() < 8; now += absl::Milliseconds(250)) {
    Call().IgnoreError();
    if (store->calls == calls) continue;
    calls = store->calls;
    seconds.push_back(static_cast<int>((now - last) / absl::Seconds(1)));
    last = now;
  }
  EXPECT_EQ(seconds, (std::vector<int>{1, 2, 4, 8, 16, 30, 30, 30}));
}

}  // namespace
}  // namespace tritond::cache
