// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_LAYER_BREAKER_CACHE_H_
#define CACHE_LAYER_BREAKER_CACHE_H_

#include <memory>
#include <vector>

#include "cache/api/cache.h"
#include "cache/layer/circuit_breaker.h"

namespace tritond::cache {

// A cache that may be away, behind a circuit breaker, which it may share with others of the same engine. Owns what it
// wraps.
class BreakerCache final : public Cache {
 public:
  BreakerCache(std::unique_ptr<Cache> next, std::shared_ptr<CircuitBreaker> breaker);

  absl::StatusOr<Blob> Get(const Digest& key) override;
  absl::Status Put(const Digest& key, Blob value) override;
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  absl::Status Remove(const Digest& key) override;
  absl::StatusOr<std::vector<Digest>> List() override;

 private:
  const std::unique_ptr<Cache> next_;
  const std::shared_ptr<CircuitBreaker> breaker_;
};

}  // namespace tritond::cache

#endif  // CACHE_LAYER_BREAKER_CACHE_H_
