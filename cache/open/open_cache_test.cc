// SPDX-License-Identifier: Apache-2.0
#include "cache/open/open_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include <memory>
#include <string>
#include <utility>

#include "cache/store/rocksdb_store.h"
#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

using testing::StartsWith;

// Both caches of one configuration, as contract makers. Registries outlive every cache.
CacheMaker Maker(bool on_disk, uint64_t memory_bytes, bool blobs) {
  return {[=](const std::string& dir) {
            static auto* const registry = new prometheus::Registry;
            CacheConfig config;
            if (on_disk) config.data_dir = dir;
            config.memory_bytes = memory_bytes;
            auto opened = OpenCache(config, *registry);
            EXPECT_EQ(opened.status(), absl::OkStatus());
            return std::move(blobs ? opened->blobs : opened->results);
          },
          /*content_addressed=*/blobs};
}

constexpr uint64_t kGiB = uint64_t{1} << 30;

INSTANTIATE_TEST_SUITE_P(OpenedInMemory, CacheContract,
                         testing::Values(Maker(false, kGiB, false), Maker(false, kGiB, true)));
INSTANTIATE_TEST_SUITE_P(OpenedOnDisk, CacheContract, testing::Values(Maker(true, 0, false), Maker(true, 0, true)));
INSTANTIATE_TEST_SUITE_P(OpenedMemoryThenDisk, CacheContract,
                         testing::Values(Maker(true, kGiB, false), Maker(true, kGiB, true)));

class OpenCacheTest : public testing::Test {
 protected:
  OpenedCache Open() {
    CacheConfig config;
    config.data_dir = dir_.path();
    auto opened = OpenCache(config, registry_);
    EXPECT_EQ(opened.status(), absl::OkStatus());
    return *std::move(opened);
  }

  // Changes what is on disk, with the cache closed.
  void PutRaw(int keyspace, const Digest& key, const std::string& bytes) {
    auto stores = RocksdbStore::Open(dir_.path() + "/cache", {"results", "blobs"}, {});
    ASSERT_EQ(stores.status(), absl::OkStatus());
    ASSERT_EQ((*stores)[keyspace]->Put(key, Blob(bytes)), absl::OkStatus());
  }

  const TempDir dir_;
  prometheus::Registry registry_;
};

TEST_F(OpenCacheTest, EntriesSurviveReopening) {
  const Digest key = Digest::Of("request"), blob = Digest::Of("bytes");
  {
    const OpenedCache opened = Open();
    ASSERT_EQ(opened.results->Put(key, Blob("result")), absl::OkStatus());
    ASSERT_EQ(opened.blobs->Put(blob, Blob("bytes")), absl::OkStatus());
  }
  const OpenedCache opened = Open();
  EXPECT_EQ(opened.results->Get(key)->bytes(), "result");
  EXPECT_EQ(opened.blobs->Get(blob)->bytes(), "bytes");
}

TEST_F(OpenCacheTest, ResultsAndBlobsAreApart) {
  const OpenedCache opened = Open();
  ASSERT_EQ(opened.results->Put(Digest::Of("bytes"), Blob("result")), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(opened.blobs->Get(Digest::Of("bytes")).status()));
}

TEST_F(OpenCacheTest, DamagedBlobIsDataLossThenNotFoundThenReplaceable) {
  const Digest key = Digest::Of("bytes");
  ASSERT_EQ(Open().blobs->Put(key, Blob("bytes")), absl::OkStatus());
  PutRaw(1, key, "bytez");
  const OpenedCache opened = Open();
  EXPECT_TRUE(absl::IsDataLoss(opened.blobs->Get(key).status()));
  EXPECT_TRUE(absl::IsNotFound(opened.blobs->Get(key).status()));
  ASSERT_EQ(opened.blobs->Put(key, Blob("bytes")), absl::OkStatus());
  EXPECT_EQ(opened.blobs->Get(key)->bytes(), "bytes");
}

TEST_F(OpenCacheTest, DamagedResultIsDataLossThenNotFound) {
  const Digest key = Digest::Of("request");
  ASSERT_EQ(Open().results->Put(key, Blob("result")), absl::OkStatus());
  PutRaw(0, key, "forged result without the seal that belongs to it");
  const OpenedCache opened = Open();
  EXPECT_TRUE(absl::IsDataLoss(opened.results->Get(key).status()));
  EXPECT_TRUE(absl::IsNotFound(opened.results->Get(key).status()));
}

TEST_F(OpenCacheTest, WrongBlobKeyIsRefusedAndNotServed) {
  const OpenedCache opened = Open();
  EXPECT_TRUE(absl::IsInvalidArgument(opened.blobs->Put(Digest::Of("other"), Blob("bytes"))));
  EXPECT_TRUE(absl::IsNotFound(opened.blobs->Get(Digest::Of("other")).status()));
}

TEST_F(OpenCacheTest, StatsNameEveryStoreFastestFirst) {
  const OpenedCache opened = Open();
  ASSERT_EQ(opened.results->Put(Digest::Of("request"), Blob("result")), absl::OkStatus());
  const std::vector<StoreStats> stats = opened.stats();
  ASSERT_EQ(stats.size(), 4u);
  EXPECT_EQ(stats[0].cache + "/" + stats[0].store, "results/memory");
  EXPECT_EQ(stats[1].cache + "/" + stats[1].store, "blobs/memory");
  EXPECT_EQ(stats[2].cache + "/" + stats[2].store, "results/rocksdb");
  EXPECT_EQ(stats[3].cache + "/" + stats[3].store, "blobs/rocksdb");
  EXPECT_EQ(stats[0].entries, 1);
  EXPECT_EQ(stats[1].entries, 0);
  EXPECT_EQ(stats[2].entries, 1);
  EXPECT_EQ(stats[0].capacity_bytes + stats[1].capacity_bytes, int64_t{512} << 20);
}

TEST_F(OpenCacheTest, ValuesOfClientsLieApartFromResults) {
  const Digest key = Digest::Of("request");
  CacheConfig config;
  config.data_dir = dir_.path();
  config.client_values = true;
  {
    const absl::StatusOr<OpenedCache> opened = OpenCache(config, registry_);
    ASSERT_EQ(opened.status(), absl::OkStatus());
    ASSERT_EQ(opened->client_records->Put(key, Blob("record")), absl::OkStatus());
    ASSERT_EQ(opened->client_values->Put(key, Blob("value")), absl::OkStatus());
    for (Cache* other : {opened->results.get(), opened->blobs.get(), opened->tunings.get()})
      EXPECT_TRUE(absl::IsNotFound(other->Get(key).status())) << "the same key, and nothing of it elsewhere";
    ASSERT_EQ(opened->results->Put(key, Blob("result")), absl::OkStatus());
    EXPECT_EQ(opened->client_values->Get(key)->bytes(), "value");
  }
  EXPECT_EQ(Open().client_values, nullptr) << "nobody asked for it";
  const absl::StatusOr<OpenedCache> again = OpenCache(config, registry_);
  ASSERT_EQ(again.status(), absl::OkStatus());
  EXPECT_EQ(again->client_values->Get(key)->bytes(), "value") << "kept while nobody asks for it";
  EXPECT_EQ(again->client_records->Get(key)->bytes(), "record");
  config.data_dir = "";
  EXPECT_TRUE(absl::IsInvalidArgument(OpenCache(config, registry_).status()));
}

TEST_F(OpenCacheTest, FolderInUseIsNamed) {
  const OpenedCache opened = Open();
  CacheConfig config;
  config.data_dir = dir_.path();
  const absl::Status status = OpenCache(config, registry_).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(status.message(), "open cache: rocksdb at " + dir_.path() + "/cache: lock held by this process");
}

TEST_F(OpenCacheTest, NoStoreIsInvalid) {
  CacheConfig config;
  config.memory_bytes = 0;
  const absl::Status status = OpenCache(config, registry_).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("open cache: "));
}

TEST_F(OpenCacheTest, EachLevelHasAMeterOfItsOwn) {
  const Digest key = Digest::Of("request");
  ASSERT_EQ(Open().results->Put(key, Blob("result")), absl::OkStatus());
  const OpenedCache opened = Open();  // Memory is empty now.
  ASSERT_TRUE(opened.results->Get(key).ok());
  ASSERT_TRUE(opened.results->Get(key).ok());
  const auto gets = [this](const std::string& level, const std::string& outcome) {
    double count = 0;
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      if (family.name != "tritond_cache_requests_total") continue;
      for (const prometheus::ClientMetric& metric : family.metric) {
        std::map<std::string, std::string> labels;
        for (const auto& label : metric.label) labels[label.name] = label.value;
        if (labels["cache"] == level && labels["op"] == "get" && labels["outcome"] == outcome)
          count += metric.counter.value;
      }
    }
    return count;
  };
  EXPECT_EQ(gets("results", "hit"), 2);
  EXPECT_EQ(gets("results/memory", "miss"), 1);
  EXPECT_EQ(gets("results/memory", "hit"), 1);
  EXPECT_EQ(gets("results/rocksdb", "hit"), 1);
}

}  // namespace
}  // namespace tritond::cache
