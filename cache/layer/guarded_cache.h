// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_LAYER_GUARDED_CACHE_H_
#define CACHE_LAYER_GUARDED_CACHE_H_

#include <memory>
#include <vector>

#include "cache/api/cache.h"
#include "cache/api/record_guard.h"

namespace tritond::cache {

// Gives out only records that a guard lets pass. What is put here is not checked: only readers depend on it. Owns the
// cache that it wraps; borrows the guard, which must outlive it.
class GuardedCache final : public Cache {
 public:
  GuardedCache(std::unique_ptr<Cache> next, RecordGuard& guard);

  // Fails as the guard does when it refuses the record. With DataLoss the entry is removed, so the next Get is
  // NotFound; with NotFound it stays.
  absl::StatusOr<Blob> Get(const Digest& key) override;
  absl::Status Put(const Digest& key, Blob value) override;
  // Does not read the records: one that Get refuses counts as present.
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  absl::Status Remove(const Digest& key) override;
  absl::Status Release(const Digest& key) override;
  absl::StatusOr<std::vector<Digest>> List() override;
  absl::StatusOr<uint64_t> RemoveAll() override;

 private:
  const std::unique_ptr<Cache> next_;
  RecordGuard& guard_;
};

}  // namespace tritond::cache

#endif  // CACHE_LAYER_GUARDED_CACHE_H_
