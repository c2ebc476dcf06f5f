// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_CLUSTER_STORE_H_
#define CACHE_STORE_CLUSTER_STORE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cache/api/cache.h"
#include "cache/store/redis_cluster.h"

namespace tritond::cache {

// Keeps entries in an engine that a cluster shares. An entry is "tritond:{HEX}:KEYSPACE". A value of more than a chunk
// lies beside it in chunks of 1 MiB, in the same slot, written before it. Entries expire `lifetime` after they were
// written, so that what nobody needs any more goes without anybody's count; the engine may also evict them.
//
// The engine promises little (an acknowledged write may be lost in a failover): wrap this in a VerifiedCache or
// SealedCache. Unavailable when the engine does not answer; ResourceExhausted when it is full.
class ClusterStore final : public Cache {
 public:
  ClusterStore(std::shared_ptr<RedisCluster> cluster, std::string keyspace, absl::Duration lifetime);

  // DataLoss when chunks are missing.
  absl::StatusOr<Blob> Get(const Digest& key) override;
  absl::Status Put(const Digest& key, Blob value) override;
  absl::StatusOr<std::vector<Digest>> FindMissing(absl::Span<const Digest> keys) override;
  absl::Status Remove(const Digest& key) override;
  // Walks through every node's keys.
  absl::StatusOr<std::vector<Digest>> List() override;
  // The same walk. With them go chunks that no entry needs any more, and the failures that ClusterLeases keeps in place
  // of entries; its leases stay.
  absl::StatusOr<uint64_t> RemoveAll() override;

 private:
  std::string NameOf(const Digest& key) const;
  static std::string ChunkName(const std::string& name, uint64_t index);
  absl::Status Set(const std::string& name, absl::string_view value);
  absl::StatusOr<Blob> GetChunks(const std::string& name, absl::string_view head);

  const std::shared_ptr<RedisCluster> cluster_;  // Shared by the stores of one engine.
  const std::string keyspace_;
  const std::string lifetime_ms_;
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_CLUSTER_STORE_H_
