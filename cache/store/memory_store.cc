// SPDX-License-Identifier: Apache-2.0
#include "cache/store/memory_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

// A shard must hold the largest value worth keeping, so small capacities are not cut up.
constexpr uint64_t kMinShardBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxShards = 16;

uint64_t ShardCount(uint64_t capacity_bytes) {
  uint64_t count = 1;
  while (count < kMaxShards && capacity_bytes / (count * 2) > kMinShardBytes) count *= 2;
  return count;
}

}  // namespace

MemoryStore::MemoryStore(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {
  shards_.resize(ShardCount(capacity_bytes));
  for (auto& shard : shards_) shard = std::make_unique<Shard>();
}

// Keys are digests, so their last byte spreads them; the first bytes already place them within a shard's table.
MemoryStore::Shard& MemoryStore::ShardOf(const Digest& key) {
  return *shards_[static_cast<unsigned char>(key.bytes().back()) % shards_.size()];
}

void MemoryStore::Detach(Shard& shard, const Digest& key, std::list<Entry>& removed) {
  auto found = shard.index.find(key);
  if (found == shard.index.end()) return;
  shard.size_bytes -= Cost(found->second->value);
  removed.splice(removed.end(), shard.entries, found->second);
  shard.index.erase(found);
}

absl::StatusOr<Blob> MemoryStore::Get(const Digest& key) {
  Shard& shard = ShardOf(key);
  absl::MutexLock lock(&shard.mu);
  auto found = shard.index.find(key);
  if (found == shard.index.end()) return absl::NotFoundError("not in memory");
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->value;
}

absl::Status MemoryStore::Put(const Digest& key, Blob value) {
  const uint64_t cost = Cost(value);
  const uint64_t shard_capacity_bytes = capacity_bytes_ / shards_.size();
  Shard& shard = ShardOf(key);
  std::list<Entry> removed;
  absl::MutexLock lock(&shard.mu);
  Detach(shard, key, removed);
  if (cost > shard_capacity_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a value of ", value.size(), " bytes exceeds the memory store's ", shard_capacity_bytes));
  }
  while (shard.size_bytes + cost > shard_capacity_bytes) {
    const Digest oldest = shard.entries.back().key;
    Detach(shard, oldest, removed);
  }
  shard.entries.push_front(Entry{key, std::move(value)});
  shard.index.emplace(key, shard.entries.begin());
  shard.size_bytes += cost;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Digest>> MemoryStore::FindMissing(absl::Span<const Digest> keys) {
  std::vector<Digest> missing;
  for (const Digest& key : keys) {
    Shard& shard = ShardOf(key);
    absl::MutexLock lock(&shard.mu);
    auto found = shard.index.find(key);
    if (found == shard.index.end()) {
      missing.push_back(key);
    } else {
      shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
    }
  }
  return missing;
}

absl::Status MemoryStore::Remove(const Digest& key) {
  Shard& shard = ShardOf(key);
  std::list<Entry> removed;
  absl::MutexLock lock(&shard.mu);
  Detach(shard, key, removed);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Digest>> MemoryStore::List() {
  std::vector<Digest> keys;
  for (const auto& shard : shards_) {
    absl::MutexLock lock(&shard->mu);
    for (const Entry& entry : shard->entries) keys.push_back(entry.key);
  }
  return keys;
}

StoreStats MemoryStore::Stats() const {
  StoreStats stats;
  stats.store = "memory";
  stats.capacity_bytes = static_cast<int64_t>(capacity_bytes_);
  for (const auto& shard : shards_) {
    absl::MutexLock lock(&shard->mu);
    stats.entries += static_cast<int64_t>(shard->entries.size());
    stats.size_bytes += static_cast<int64_t>(shard->size_bytes);
  }
  return stats;
}

}  // namespace tritond::cache
