// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_LAYER_SEALED_CACHE_H_
#define CACHE_LAYER_SEALED_CACHE_H_

#include <memory>
#include <vector>

#include "cache/api/cache.h"

namespace tritond::cache {

// Guards values that their keys say nothing about. Stores each with a seal after it, the SHA-256 of key and value. On
// the way out it checks and strips the seal: it notices changed bytes, lost bytes and a value under the wrong key. It
// is no defence against an author of bad values, who can seal too. Owns what it wraps.
class SealedCache final : public Cache {
 public:
  explicit SealedCache(std::unique_ptr<Cache> next);

  // DataLoss when the seal does not fit, or the wrapped cache finds the entry damaged. Either way the entry is removed,
  // so the next Get is NotFound. The value shares the stored bytes.
  absl::StatusOr<Blob> Get(const Digest& key) override;
  // Copies `value`, to append the seal.
  absl::Status Put(const Digest& key, Blob value) override;
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  absl::Status Remove(const Digest& key) override;
  absl::StatusOr<std::vector<Digest>> List() override;
  absl::StatusOr<uint64_t> RemoveAll() override;

  // The stored form of a value, for those who write past this object.
  static Blob Seal(const Digest& key, const Blob& value);

 private:
  const std::unique_ptr<Cache> next_;
};

}  // namespace tritond::cache

#endif  // CACHE_LAYER_SEALED_CACHE_H_
