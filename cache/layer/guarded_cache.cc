// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/guarded_cache.h"

#include <utility>

namespace tritond::cache {

GuardedCache::GuardedCache(std::unique_ptr<Cache> next, RecordGuard& guard) : next_(std::move(next)), guard_(guard) {}

absl::StatusOr<Blob> GuardedCache::Get(const Digest& key) {
  absl::StatusOr<Blob> value = next_->Get(key);
  if (!value.ok()) return value;
  absl::Status checked = guard_.Check(key, value->bytes());
  if (checked.ok()) return value;
  // A removal that fails leaves the record to be refused again.
  if (absl::IsDataLoss(checked)) next_->Remove(key).IgnoreError();
  return checked;
}

absl::Status GuardedCache::Put(const Digest& key, Blob value) { return next_->Put(key, std::move(value)); }

absl::StatusOr<std::vector<Digest>> GuardedCache::FindMissing(absl::Span<const Digest> keys) {
  return next_->FindMissing(keys);
}

absl::Status GuardedCache::Remove(const Digest& key) { return next_->Remove(key); }

absl::Status GuardedCache::Release(const Digest& key) { return next_->Release(key); }

absl::StatusOr<std::vector<Digest>> GuardedCache::List() { return next_->List(); }

absl::StatusOr<uint64_t> GuardedCache::RemoveAll() { return next_->RemoveAll(); }

}  // namespace tritond::cache
