// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_LAYER_VERIFIED_CACHE_H_
#define CACHE_LAYER_VERIFIED_CACHE_H_

#include <memory>
#include <vector>

#include "cache/api/cache.h"

namespace tritond::cache {

// A content-addressed cache: each key is the digest of its value, checked on the way in and on the way out. For values
// under other keys there is SealedCache. Owns what it wraps.
class VerifiedCache final : public Cache {
 public:
  explicit VerifiedCache(std::unique_ptr<Cache> next);

  // DataLoss when the value is not what the key names, or the wrapped cache finds it damaged. Either way the entry is
  // removed, so the next Get is NotFound.
  absl::StatusOr<Blob> Get(const Digest& key) override;
  // InvalidArgument when `key` is not the digest of `value`.
  absl::Status Put(const Digest& key, Blob value) override;
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  absl::Status Remove(const Digest& key) override;
  absl::StatusOr<std::vector<Digest>> List() override;
  absl::StatusOr<uint64_t> RemoveAll() override;

 private:
  const std::unique_ptr<Cache> next_;
};

}  // namespace tritond::cache

#endif  // CACHE_LAYER_VERIFIED_CACHE_H_
