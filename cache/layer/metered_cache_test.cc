// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/metered_cache.h"

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "cache/store/memory_store.h"
#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

INSTANTIATE_TEST_SUITE_P(MeteredCache, CacheContract, testing::Values(CacheMaker{[](const std::string&) {
                           static auto* const registry = new prometheus::Registry;  // Outlives every cache.
                           return std::make_unique<MeteredCache>(std::make_unique<MemoryStore>(uint64_t{1} << 30),
                                                                 "contract", *registry);
                         }}));

// Every sample of the registry: "name{label=value,...}" to its number; a histogram gives _count and _sum.
std::map<std::string, double> Samples(prometheus::Registry& registry) {
  std::map<std::string, double> samples;
  for (const prometheus::MetricFamily& family : registry.Collect()) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::map<std::string, std::string> sorted;
      for (const auto& label : metric.label) sorted[label.name] = label.value;
      std::string labels;
      for (const auto& [name, value] : sorted) labels += (labels.empty() ? "" : ",") + name + "=" + value;
      if (family.type == prometheus::MetricType::Histogram) {
        samples[family.name + "_count{" + labels + "}"] = static_cast<double>(metric.histogram.sample_count);
        samples[family.name + "_sum{" + labels + "}"] = metric.histogram.sample_sum;
      } else {
        samples[family.name + "{" + labels + "}"] = metric.counter.value;
      }
    }
  }
  return samples;
}

// Fails every call with one status.
class FailingStore final : public Cache {
 public:
  explicit FailingStore(absl::Status status) : status_(std::move(status)) {}
  absl::StatusOr<Blob> Get(const Digest&) override { return status_; }
  absl::Status Put(const Digest&, Blob) override { return status_; }
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest>) override { return status_; }
  absl::Status Remove(const Digest&) override { return status_; }
  absl::StatusOr<std::vector<Digest>> List() override { return status_; }

 private:
  const absl::Status status_;
};

TEST(MeteredCache, CountsHitsMissesAndBytes) {
  prometheus::Registry registry;
  MeteredCache cache(std::make_unique<MemoryStore>(1 << 20), "blobs", registry);
  const Digest key = Digest::Of("key");
  ASSERT_FALSE(cache.Get(key).ok());
  ASSERT_EQ(cache.Put(key, Blob("12345")), absl::OkStatus());
  ASSERT_TRUE(cache.Get(key).ok());
  ASSERT_TRUE(cache.Get(key).ok());
  ASSERT_TRUE(cache.FindMissing({key, Digest::Of("a"), Digest::Of("b")}).ok());
  ASSERT_EQ(cache.Remove(key), absl::OkStatus());

  auto samples = Samples(registry);
  EXPECT_EQ(samples["tritond_cache_requests_total{cache=blobs,op=get,outcome=hit}"], 2);
  EXPECT_EQ(samples["tritond_cache_requests_total{cache=blobs,op=get,outcome=miss}"], 1);
  EXPECT_EQ(samples["tritond_cache_requests_total{cache=blobs,op=get,outcome=error}"], 0);
  EXPECT_EQ(samples["tritond_cache_requests_total{cache=blobs,op=put,outcome=ok}"], 1);
  EXPECT_EQ(samples["tritond_cache_requests_total{cache=blobs,op=remove,outcome=ok}"], 1);
  EXPECT_EQ(samples["tritond_cache_bytes_total{cache=blobs,direction=read}"], 10);
  EXPECT_EQ(samples["tritond_cache_bytes_total{cache=blobs,direction=written}"], 5);
  EXPECT_EQ(samples["tritond_cache_keys_total{cache=blobs,outcome=present}"], 1);
  EXPECT_EQ(samples["tritond_cache_keys_total{cache=blobs,outcome=missing}"], 2);
  EXPECT_EQ(samples["tritond_cache_latency_seconds_count{cache=blobs,op=get}"], 3);
}

TEST(MeteredCache, CountsErrorsAndDamageApart) {
  prometheus::Registry registry;
  MeteredCache gone(std::make_unique<FailingStore>(absl::UnavailableError("gone")), "gone", registry);
  MeteredCache damaged(std::make_unique<FailingStore>(absl::DataLossError("damaged")), "damaged", registry);
  ASSERT_FALSE(gone.Get(Digest()).ok());
  ASSERT_FALSE(gone.Put(Digest(), Blob("12345")).ok());
  ASSERT_FALSE(gone.FindMissing({Digest()}).ok());
  ASSERT_FALSE(gone.Remove(Digest()).ok());
  ASSERT_FALSE(damaged.Get(Digest()).ok());

  auto samples = Samples(registry);
  for (const char* op : {"get", "put", "find_missing", "remove"}) {
    const std::string labels = std::string("{cache=gone,op=") + op + ",outcome=error}";
    EXPECT_EQ(samples["tritond_cache_requests_total" + labels], 1) << op;
  }
  EXPECT_EQ(samples["tritond_cache_bytes_total{cache=gone,direction=written}"], 0);
  EXPECT_EQ(samples["tritond_cache_requests_total{cache=damaged,op=get,outcome=corrupt}"], 1);
  EXPECT_EQ(samples["tritond_cache_requests_total{cache=damaged,op=get,outcome=error}"], 0);
}

TEST(MeteredCache, TimesCallsByTheGivenClock) {
  prometheus::Registry registry;
  absl::Duration now;
  // Each look at the clock finds it a quarter of a second later, so a call takes that long.
  MeteredCache cache(std::make_unique<MemoryStore>(1 << 20), "timed", registry,
                     [&now] { return now += absl::Milliseconds(250); });
  ASSERT_EQ(cache.Put(Digest(), Blob()), absl::OkStatus());
  ASSERT_TRUE(cache.Get(Digest()).ok());
  ASSERT_TRUE(cache.Get(Digest()).ok());
  auto samples = Samples(registry);
  EXPECT_EQ(samples["tritond_cache_latency_seconds_sum{cache=timed,op=get}"], 0.5);
  EXPECT_EQ(samples["tritond_cache_latency_seconds_sum{cache=timed,op=put}"], 0.25);
}

}  // namespace
}  // namespace tritond::cache
