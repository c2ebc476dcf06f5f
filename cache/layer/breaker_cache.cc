// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/breaker_cache.h"

#include <utility>

namespace tritond::cache {

BreakerCache::BreakerCache(std::unique_ptr<Cache> next, std::shared_ptr<CircuitBreaker> breaker)
    : next_(std::move(next)), breaker_(std::move(breaker)) {}

absl::StatusOr<Blob> BreakerCache::Get(const Digest& key) {
  return breaker_->Guard([&] { return next_->Get(key); });
}

absl::Status BreakerCache::Put(const Digest& key, Blob value) {
  return breaker_->Guard([&] { return next_->Put(key, std::move(value)); });
}

absl::StatusOr<std::vector<Digest>> BreakerCache::FindMissing(absl::Span<const Digest> keys) {
  return breaker_->Guard([&] { return next_->FindMissing(keys); });
}

absl::Status BreakerCache::Remove(const Digest& key) {
  return breaker_->Guard([&] { return next_->Remove(key); });
}

absl::StatusOr<std::vector<Digest>> BreakerCache::List() {
  return breaker_->Guard([&] { return next_->List(); });
}

}  // namespace tritond::cache
