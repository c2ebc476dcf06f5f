// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/verified_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::cache {

VerifiedCache::VerifiedCache(std::unique_ptr<Cache> next) : next_(std::move(next)) {}

absl::StatusOr<Blob> VerifiedCache::Get(const Digest& key) {
  absl::StatusOr<Blob> value = next_->Get(key);
  if (value.ok()) {
    Blob named = value->WithDigest();
    const Digest actual = *named.digest();
    if (actual == key) return named;
    value = absl::DataLossError(
        absl::StrCat("entry ", key.ToHex(), " held ", value->size(), " bytes with digest ", actual.ToHex()));
  }
  // A removal that fails leaves the entry to be found damaged again.
  if (absl::IsDataLoss(value.status())) next_->Remove(key).IgnoreError();
  return value;
}

absl::Status VerifiedCache::Put(const Digest& key, Blob value) {
  value = value.WithDigest();
  const Digest actual = *value.digest();
  if (actual != key) {
    return absl::InvalidArgumentError(
        absl::StrCat("put under ", key.ToHex(), " of bytes with digest ", actual.ToHex()));
  }
  return next_->Put(key, std::move(value));
}

absl::StatusOr<std::vector<Digest>> VerifiedCache::FindMissing(absl::Span<const Digest> keys) {
  return next_->FindMissing(keys);
}

absl::Status VerifiedCache::Remove(const Digest& key) { return next_->Remove(key); }

absl::StatusOr<std::vector<Digest>> VerifiedCache::List() { return next_->List(); }

absl::StatusOr<uint64_t> VerifiedCache::RemoveAll() { return next_->RemoveAll(); }

}  // namespace tritond::cache
