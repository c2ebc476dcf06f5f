// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_LAYER_METERED_CACHE_H_
#define CACHE_LAYER_METERED_CACHE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cache/api/cache.h"

namespace prometheus {
class Counter;
class Histogram;
class Registry;
}  // namespace prometheus

namespace tritond::cache {

// The time since some fixed moment, never running backwards.
using MonotonicClock = std::function<absl::Duration()>;

// The steady clock of the machine.
absl::Duration SteadyNow();

// Counts and times every call and changes nothing else. Owns what it wraps. Metrics, labelled cache="NAME":
//
//   tritond_cache_requests_total{op, outcome}   get: hit, miss, corrupt, error; others: ok, error
//   tritond_cache_keys_total{outcome}           keys asked of FindMissing: present, missing
//   tritond_cache_bytes_total{direction}        bytes of values: read (hits), written (successful puts)
//   tritond_cache_latency_seconds{op}           histogram
//
// Two MeteredCaches of one name and registry count together.
class MeteredCache final : public Cache {
 public:
  // `registry` must outlive this. `clock` must be callable from any thread.
  MeteredCache(std::unique_ptr<Cache> next, const std::string& name, prometheus::Registry& registry,
               MonotonicClock clock = SteadyNow);

  // All fail as the wrapped cache does.
  absl::StatusOr<Blob> Get(const Digest& key) override;
  absl::Status Put(const Digest& key, Blob value) override;
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  absl::Status Remove(const Digest& key) override;
  absl::Status Release(const Digest& key) override;
  absl::StatusOr<std::vector<Digest>> List() override;
  absl::StatusOr<uint64_t> RemoveAll() override;

 private:
  // The metrics of one verb; the registry owns them.
  struct Verb {
    prometheus::Counter* ok;
    prometheus::Counter* error;
    prometheus::Histogram* latency_seconds;
  };

  static Verb RegisterVerb(const std::string& name, const std::string& op, const std::string& ok_outcome,
                           prometheus::Registry& registry);
  void Observe(const Verb& verb, absl::Duration start) const;

  const std::unique_ptr<Cache> next_;
  const MonotonicClock clock_;
  const Verb get_, put_, find_missing_, remove_, release_, list_, remove_all_;
  prometheus::Counter* miss_;
  prometheus::Counter* corrupt_;
  prometheus::Counter* keys_present_;
  prometheus::Counter* keys_missing_;
  prometheus::Counter* bytes_read_;
  prometheus::Counter* bytes_written_;
};

}  // namespace tritond::cache

#endif  // CACHE_LAYER_METERED_CACHE_H_
