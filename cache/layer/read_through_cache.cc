// SPDX-License-Identifier: Apache-2.0
//
// The slow cache is always written before the fast one. A Get that missed reads the stripe's count, then the slow
// cache, and fills only if the count is still the same. A writer of the slow cache after it was read has not yet
// counted up, or has and is noticed. In the first case that writer overwrites the filled entry.
#include "cache/layer/read_through_cache.h"

#include <algorithm>
#include <utility>

namespace tritond::cache {
namespace {

// A slow cache that is full or out of reach says nothing against the value; one that refuses it does.
bool IsWorthKeeping(const absl::Status& slow_put) {
  return slow_put.ok() || absl::IsResourceExhausted(slow_put) || absl::IsUnavailable(slow_put);
}

}  // namespace

ReadThroughCache::ReadThroughCache(std::unique_ptr<Cache> fast, std::unique_ptr<Cache> slow)
    : fast_(std::move(fast)), slow_(std::move(slow)) {}

ReadThroughCache::Stripe& ReadThroughCache::StripeOf(const Digest& key) {
  return stripes_[static_cast<unsigned char>(key.bytes()[0]) % stripes_.size()];
}

absl::StatusOr<Blob> ReadThroughCache::Get(const Digest& key) {
  absl::StatusOr<Blob> value = fast_->Get(key);
  if (value.ok()) return value;
  Stripe& stripe = StripeOf(key);
  uint64_t writes_before;
  {
    absl::MutexLock lock(&stripe.mu);
    writes_before = stripe.writes;
  }
  value = slow_->Get(key);
  if (!value.ok()) return value;
  absl::MutexLock lock(&stripe.mu);
  if (stripe.writes == writes_before) fast_->Put(key, *value).IgnoreError();
  return value;
}

absl::Status ReadThroughCache::Put(const Digest& key, Blob value) {
  absl::Status status = slow_->Put(key, value);
  Stripe& stripe = StripeOf(key);
  absl::MutexLock lock(&stripe.mu);
  ++stripe.writes;
  // What the fast cache does not take it must not answer with an earlier value either.
  if (!IsWorthKeeping(status) || !fast_->Put(key, std::move(value)).ok()) fast_->Remove(key).IgnoreError();
  return status;
}

absl::StatusOr<std::vector<Digest>> ReadThroughCache::FindMissing(absl::Span<const Digest> keys) {
  absl::StatusOr<std::vector<Digest>> missing = fast_->FindMissing(keys);
  if (!missing.ok()) return slow_->FindMissing(keys);
  if (missing->empty()) return missing;
  return slow_->FindMissing(*missing);
}

absl::Status ReadThroughCache::RemoveFast(const Digest& key) {
  Stripe& stripe = StripeOf(key);
  absl::MutexLock lock(&stripe.mu);
  ++stripe.writes;
  return fast_->Remove(key);
}

absl::Status ReadThroughCache::Remove(const Digest& key) {
  absl::Status status = slow_->Remove(key);
  status.Update(RemoveFast(key));
  return status;
}

absl::Status ReadThroughCache::Release(const Digest& key) {
  absl::Status status = slow_->Release(key);
  status.Update(RemoveFast(key));
  return status;
}

absl::StatusOr<std::vector<Digest>> ReadThroughCache::List() {
  absl::StatusOr<std::vector<Digest>> keys = slow_->List();
  if (!keys.ok()) return keys;
  absl::StatusOr<std::vector<Digest>> fast = fast_->List();
  if (fast.ok()) keys->insert(keys->end(), fast->begin(), fast->end());
  std::sort(keys->begin(), keys->end());
  keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
  return keys;
}

}  // namespace tritond::cache
