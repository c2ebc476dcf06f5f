// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_LAYER_READ_THROUGH_CACHE_H_
#define CACHE_LAYER_READ_THROUGH_CACHE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "cache/api/cache.h"

namespace tritond::cache {

// A fast cache in front of a slow one. The slow one decides what is stored. The fast one only saves trips to it, so
// its failures are not reported and cost no more than time. Owns both.
//
// A value that was removed or replaced does not come back through a Get that was under way. Concurrent Puts of
// different values under one key may leave one of them in the fast cache and another in the slow one.
class ReadThroughCache final : public Cache {
 public:
  ReadThroughCache(std::unique_ptr<Cache> fast, std::unique_ptr<Cache> slow);

  // From the fast cache, else (absent, damaged, unreachable) from the slow one, which then fills the fast one.
  // Fails as the slow one does.
  absl::StatusOr<Blob> Get(const Digest& key) override;
  // Into both. Fails as the slow one does; when that one is full or out of reach the fast one has the value even so.
  absl::Status Put(const Digest& key, Blob value) override;
  // Missing are those that neither has. Fails as the slow one does.
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  // From both. Fails with the first error, after trying both.
  absl::Status Remove(const Digest& key) override;
  absl::Status Release(const Digest& key) override;
  // What either has.
  absl::StatusOr<std::vector<Digest>> List() override;

 private:
  // Counts the writes to the fast cache under some of the keys; a Get fills only if none came between.
  struct Stripe {
    absl::Mutex mu;
    uint64_t writes ABSL_GUARDED_BY(mu) = 0;
  };

  Stripe& StripeOf(const Digest& key);
  // The fast cache forgets the entry, and a Get that is under way does not bring it back.
  absl::Status RemoveFast(const Digest& key);

  const std::unique_ptr<Cache> fast_;
  const std::unique_ptr<Cache> slow_;
  std::array<Stripe, 64> stripes_;
};

}  // namespace tritond::cache

#endif  // CACHE_LAYER_READ_THROUGH_CACHE_H_
