// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_MEMORY_STORE_H_
#define CACHE_STORE_MEMORY_STORE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "cache/api/cache.h"
#include "cache/api/stats.h"

namespace tritond::cache {

// Keeps entries in memory, bounded in bytes, and evicts the least recently used. A hit shares the stored bytes, so
// it costs the same at every size. Entries are spread over shards by key, each with a lock and an equal part of the
// capacity. A capacity of up to 128 MiB is one shard and exactly LRU, a larger one is LRU within each shard.
//
// An entry costs its size plus kEntryOverheadBytes. Get, Put and FindMissing all count as use.
class MemoryStore final : public Cache {
 public:
  static constexpr uint64_t kEntryOverheadBytes = 192;

  explicit MemoryStore(uint64_t capacity_bytes);

  // NotFound; never DataLoss.
  absl::StatusOr<Blob> Get(const Digest& key) override;
  // ResourceExhausted when the value alone is larger than its shard; an earlier value of the key is then gone.
  absl::Status Put(const Digest& key, Blob value) override;
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  absl::Status Remove(const Digest& key) override;
  absl::StatusOr<std::vector<Digest>> List() override;

  // Exact, though shards are read one after the other. `size_bytes` includes the overhead.
  StoreStats Stats() const;

 private:
  struct Entry {
    Digest key;
    Blob value;
  };
  struct Shard {
    mutable absl::Mutex mu;
    std::list<Entry> entries ABSL_GUARDED_BY(mu);  // Most recently used first.
    absl::flat_hash_map<Digest, std::list<Entry>::iterator> index ABSL_GUARDED_BY(mu);
    uint64_t size_bytes ABSL_GUARDED_BY(mu) = 0;
  };

  static uint64_t Cost(const Blob& value) { return value.size() + kEntryOverheadBytes; }

  Shard& ShardOf(const Digest& key);
  // Moves the entry of `key`, if any, to `removed`: destroying large values can wait until the lock is released.
  static void Detach(Shard& shard, const Digest& key, std::list<Entry>& removed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mu);

  const uint64_t capacity_bytes_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_MEMORY_STORE_H_
