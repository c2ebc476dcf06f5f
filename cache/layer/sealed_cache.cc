// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/sealed_cache.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

// The key has a fixed size, so key and value cannot be mistaken for one another.
Digest SealOf(const Digest& key, absl::string_view value) {
  DigestHasher hasher;
  hasher.Update(key.bytes());
  hasher.Update(value);
  return hasher.Finish();
}

// The value before the seal, or DataLoss.
absl::StatusOr<Blob> Unseal(const Digest& key, const Blob& sealed) {
  if (sealed.size() < Digest::kSizeBytes) {
    return absl::DataLossError(absl::StrCat("entry ", key.ToHex(), " has lost its seal"));
  }
  const size_t value_size = sealed.size() - Digest::kSizeBytes;
  Blob value = sealed.Slice(0, value_size);
  if (sealed.bytes().substr(value_size) != SealOf(key, value.bytes()).bytes()) {
    return absl::DataLossError(absl::StrCat("the seal of entry ", key.ToHex(), " does not fit its bytes"));
  }
  return value;
}

}  // namespace

SealedCache::SealedCache(std::unique_ptr<Cache> next) : next_(std::move(next)) {}

absl::StatusOr<Blob> SealedCache::Get(const Digest& key) {
  absl::StatusOr<Blob> value = next_->Get(key);
  if (value.ok()) value = Unseal(key, *value);
  // A removal that fails leaves the entry to be found damaged again.
  if (absl::IsDataLoss(value.status())) next_->Remove(key).IgnoreError();
  return value;
}

absl::Status SealedCache::Put(const Digest& key, Blob value) { return next_->Put(key, Seal(key, value)); }

Blob SealedCache::Seal(const Digest& key, const Blob& value) {
  return Blob(absl::StrCat(value.bytes(), SealOf(key, value.bytes()).bytes()));
}

absl::StatusOr<std::vector<Digest>> SealedCache::FindMissing(absl::Span<const Digest> keys) {
  return next_->FindMissing(keys);
}

absl::Status SealedCache::Remove(const Digest& key) { return next_->Remove(key); }

absl::StatusOr<std::vector<Digest>> SealedCache::List() { return next_->List(); }

absl::StatusOr<uint64_t> SealedCache::RemoveAll() { return next_->RemoveAll(); }

}  // namespace tritond::cache
