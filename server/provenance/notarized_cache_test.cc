// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/notarized_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "tests/support/cache_contract.h"

namespace tritond::server {
namespace {

using cache::CacheContract;
using cache::CacheMaker;

class MapCache final : public cache::Cache {
 public:
  absl::StatusOr<cache::Blob> Get(const cache::Digest& key) override {
    absl::MutexLock lock(&mu);
    auto it = entries.find(key);
    return it == entries.end() ? absl::StatusOr<cache::Blob>(absl::NotFoundError("absent")) : it->second;
  }
  absl::Status Put(const cache::Digest& key, cache::Blob value) override {
    absl::MutexLock lock(&mu);
    entries[key] = std::move(value);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<cache::Digest>> FindMissing(absl::Span<const cache::Digest> keys) override {
    absl::MutexLock lock(&mu);
    std::vector<cache::Digest> missing;
    for (const cache::Digest& key : keys)
      if (entries.count(key) == 0) missing.push_back(key);
    return missing;
  }
  absl::Status Remove(const cache::Digest& key) override {
    absl::MutexLock lock(&mu);
    entries.erase(key);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<cache::Digest>> List() override {
    absl::MutexLock lock(&mu);
    std::vector<cache::Digest> keys;
    for (const auto& [key, value] : entries) keys.push_back(key);
    return keys;
  }

  absl::Mutex mu;
  std::map<cache::Digest, cache::Blob> entries;
};

std::unique_ptr<Notary> NewNotary() {
  return std::make_unique<Notary>(
      *SigningKey::Generate(), TrustedKeys(), [](const std::string&) {}, absl::Now);
}

// Owns what a NotarizedCache borrows.
class OwningCache final : public cache::Cache {
 public:
  absl::StatusOr<cache::Blob> Get(const cache::Digest& key) override { return cache_.Get(key); }
  absl::Status Put(const cache::Digest& key, cache::Blob value) override { return cache_.Put(key, std::move(value)); }
  absl::StatusOr<std::vector<cache::Digest>> FindMissing(absl::Span<const cache::Digest> keys) override {
    return cache_.FindMissing(keys);
  }
  absl::Status Remove(const cache::Digest& key) override { return cache_.Remove(key); }
  absl::StatusOr<std::vector<cache::Digest>> List() override { return cache_.List(); }

 private:
  MapCache records_;
  const std::unique_ptr<Notary> notary_ = NewNotary();
  NotarizedCache cache_{records_, *notary_, Purpose::kTuning};
};

INSTANTIATE_TEST_SUITE_P(NotarizedCache, CacheContract, testing::Values(CacheMaker{[](const std::string&) {
                           return std::make_unique<OwningCache>();
                         }}));

TEST(NotarizedCache, GivesOutOnlyWhatATrustedDaemonSignedForTheKeyAndThePurpose) {
  const auto notary = NewNotary(), stranger = NewNotary();
  MapCache records;
  NotarizedCache cache(records, *notary, Purpose::kTuning);
  const cache::Digest key = cache::Digest::Of("key"), other = cache::Digest::Of("other");
  ASSERT_EQ(cache.Put(key, cache::Blob("value")), absl::OkStatus());
  EXPECT_EQ(cache.Get(key)->bytes(), "value");
  EXPECT_NE(records.entries[key].bytes(), "value");
  records.entries[other] = records.entries[key];
  EXPECT_TRUE(absl::IsNotFound(cache.Get(other).status()));
  for (const std::string& forged : {std::string("value"), notary->Sign(Purpose::kResult, key, "value"),
                                    stranger->Sign(Purpose::kTuning, key, "value")}) {
    records.entries[key] = cache::Blob(forged);
    EXPECT_TRUE(absl::IsNotFound(cache.Get(key).status()));
  }
  EXPECT_EQ(notary->refused(Origin::kEngine, Refusal::kUnsigned), 1u);
  EXPECT_EQ(notary->refused(Origin::kEngine, Refusal::kWrongKey), 2u);
  EXPECT_EQ(notary->refused(Origin::kEngine, Refusal::kUnknownSigner), 1u);
}

}  // namespace
}  // namespace tritond::server
