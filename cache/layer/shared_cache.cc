// SPDX-License-Identifier: Apache-2.0
#include "cache/layer/shared_cache.h"

#include <utility>

namespace tritond::cache {

SharedCache::SharedCache(std::unique_ptr<Cache> own, std::unique_ptr<Cache> remote,
                         std::function<void(const absl::Status&)> on_error)
    : own_(std::move(own)), remote_(std::move(remote)), on_error_(std::move(on_error)) {}

absl::StatusOr<Blob> SharedCache::Get(const Digest& key) {
  absl::StatusOr<Blob> value = own_->Get(key);
  if (value.ok()) return value;
  absl::StatusOr<Blob> shared = remote_->Get(key);
  if (shared.ok()) {
    own_->Put(key, *shared).IgnoreError();  // It is asked for again otherwise, and that is all.
    return shared;
  }
  if (!absl::IsNotFound(shared.status())) on_error_(shared.status());
  return value;
}

absl::Status SharedCache::Put(const Digest& key, Blob value) {
  absl::Status status = own_->Put(key, value);
  absl::Status shared = remote_->Put(key, std::move(value));
  if (!shared.ok()) on_error_(shared);
  return status;
}

absl::StatusOr<std::vector<Digest>> SharedCache::FindMissing(absl::Span<const Digest> keys) {
  absl::StatusOr<std::vector<Digest>> missing = own_->FindMissing(keys);
  if (missing.ok() && missing->empty()) return missing;
  absl::StatusOr<std::vector<Digest>> nowhere = remote_->FindMissing(missing.ok() ? absl::MakeSpan(*missing) : keys);
  if (nowhere.ok()) return nowhere;
  on_error_(nowhere.status());
  return missing;
}

absl::Status SharedCache::Remove(const Digest& key) {
  absl::Status shared = remote_->Remove(key);
  if (!shared.ok()) on_error_(shared);
  return own_->Remove(key);
}

absl::Status SharedCache::Release(const Digest& key) { return own_->Release(key); }

absl::StatusOr<std::vector<Digest>> SharedCache::List() { return own_->List(); }

absl::StatusOr<uint64_t> SharedCache::RemoveAll() {
  const absl::StatusOr<uint64_t> shared = remote_->RemoveAll();
  if (!shared.ok()) on_error_(shared.status());
  return own_->RemoveAll();
}

}  // namespace tritond::cache
