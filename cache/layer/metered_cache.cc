// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/metered_cache.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <chrono>
#include <utility>

namespace tritond::cache {
namespace {

// From a hit in memory (microseconds) to a large value over a network.
prometheus::Histogram::BucketBoundaries LatencyBuckets() {
  return {1e-6,   2.5e-6, 5e-6, 1e-5,   2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3,
          2.5e-3, 5e-3,   1e-2, 2.5e-2, 5e-2,   0.1,  0.5,  1,      5};
}

prometheus::Counter* Requests(prometheus::Registry& registry, const std::string& name, const std::string& op,
                              const std::string& outcome) {
  return &prometheus::BuildCounter()
              .Name("tritond_cache_requests_total")
              .Help("Calls to a cache, by outcome")
              .Register(registry)
              .Add({{"cache", name}, {"op", op}, {"outcome", outcome}});
}

prometheus::Counter* Keys(prometheus::Registry& registry, const std::string& name, const std::string& outcome) {
  return &prometheus::BuildCounter()
              .Name("tritond_cache_keys_total")
              .Help("Keys that FindMissing was asked about")
              .Register(registry)
              .Add({{"cache", name}, {"outcome", outcome}});
}

prometheus::Counter* Bytes(prometheus::Registry& registry, const std::string& name, const std::string& direction) {
  return &prometheus::BuildCounter()
              .Name("tritond_cache_bytes_total")
              .Help("Bytes of values read from and written to a cache")
              .Register(registry)
              .Add({{"cache", name}, {"direction", direction}});
}

}  // namespace

absl::Duration SteadyNow() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

MeteredCache::MeteredCache(std::unique_ptr<Cache> next, const std::string& name, prometheus::Registry& registry,
                           MonotonicClock clock)
    : next_(std::move(next)),
      clock_(std::move(clock)),
      get_(RegisterVerb(name, "get", "hit", registry)),
      put_(RegisterVerb(name, "put", "ok", registry)),
      find_missing_(RegisterVerb(name, "find_missing", "ok", registry)),
      remove_(RegisterVerb(name, "remove", "ok", registry)),
      release_(RegisterVerb(name, "release", "ok", registry)),
      list_(RegisterVerb(name, "list", "ok", registry)),
      remove_all_(RegisterVerb(name, "remove_all", "ok", registry)),
      miss_(Requests(registry, name, "get", "miss")),
      corrupt_(Requests(registry, name, "get", "corrupt")),
      keys_present_(Keys(registry, name, "present")),
      keys_missing_(Keys(registry, name, "missing")),
      bytes_read_(Bytes(registry, name, "read")),
      bytes_written_(Bytes(registry, name, "written")) {}

MeteredCache::Verb MeteredCache::RegisterVerb(const std::string& name, const std::string& op,
                                              const std::string& ok_outcome, prometheus::Registry& registry) {
  Verb verb;
  verb.ok = Requests(registry, name, op, ok_outcome);
  verb.error = Requests(registry, name, op, "error");
  verb.latency_seconds = &prometheus::BuildHistogram()
                              .Name("tritond_cache_latency_seconds")
                              .Help("Time that calls to a cache take")
                              .Register(registry)
                              .Add({{"cache", name}, {"op", op}}, LatencyBuckets());
  return verb;
}

void MeteredCache::Observe(const Verb& verb, absl::Duration start) const {
  verb.latency_seconds->Observe(absl::ToDoubleSeconds(clock_() - start));
}

absl::StatusOr<Blob> MeteredCache::Get(const Digest& key) {
  const absl::Duration start = clock_();
  absl::StatusOr<Blob> value = next_->Get(key);
  Observe(get_, start);
  if (value.ok()) {
    get_.ok->Increment();
    bytes_read_->Increment(static_cast<double>(value->size()));
  } else if (absl::IsNotFound(value.status())) {
    miss_->Increment();
  } else if (absl::IsDataLoss(value.status())) {
    corrupt_->Increment();
  } else {
    get_.error->Increment();
  }
  return value;
}

absl::Status MeteredCache::Put(const Digest& key, Blob value) {
  const double size_bytes = static_cast<double>(value.size());
  const absl::Duration start = clock_();
  absl::Status status = next_->Put(key, std::move(value));
  Observe(put_, start);
  (status.ok() ? put_.ok : put_.error)->Increment();
  if (status.ok()) bytes_written_->Increment(size_bytes);
  return status;
}

absl::StatusOr<std::vector<Digest>> MeteredCache::FindMissing(absl::Span<const Digest> keys) {
  const absl::Duration start = clock_();
  absl::StatusOr<std::vector<Digest>> missing = next_->FindMissing(keys);
  Observe(find_missing_, start);
  (missing.ok() ? find_missing_.ok : find_missing_.error)->Increment();
  if (missing.ok()) {
    keys_present_->Increment(static_cast<double>(keys.size() - missing->size()));
    keys_missing_->Increment(static_cast<double>(missing->size()));
  }
  return missing;
}

absl::Status MeteredCache::Remove(const Digest& key) {
  const absl::Duration start = clock_();
  absl::Status status = next_->Remove(key);
  Observe(remove_, start);
  (status.ok() ? remove_.ok : remove_.error)->Increment();
  return status;
}

absl::Status MeteredCache::Release(const Digest& key) {
  const absl::Duration start = clock_();
  absl::Status status = next_->Release(key);
  Observe(release_, start);
  (status.ok() ? release_.ok : release_.error)->Increment();
  return status;
}

absl::StatusOr<std::vector<Digest>> MeteredCache::List() {
  const absl::Duration start = clock_();
  absl::StatusOr<std::vector<Digest>> keys = next_->List();
  Observe(list_, start);
  (keys.ok() ? list_.ok : list_.error)->Increment();
  return keys;
}

absl::StatusOr<uint64_t> MeteredCache::RemoveAll() {
  const absl::Duration start = clock_();
  absl::StatusOr<uint64_t> removed = next_->RemoveAll();
  Observe(remove_all_, start);
  (removed.ok() ? remove_all_.ok : remove_all_.error)->Increment();
  return removed;
}

}  // namespace tritond::cache
