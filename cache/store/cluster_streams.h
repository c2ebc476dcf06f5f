// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_CLUSTER_STREAMS_H_
#define CACHE_STORE_CLUSTER_STREAMS_H_

#include <memory>
#include <string>
#include <vector>

#include "cache/coordination/job_stream.h"
#include "cache/store/redis_cluster.h"

namespace tritond::cache {

// Offers as streams of the engine, "tritond:jobs:{GROUP}:NAME", with one consumer group that all daemons belong to.
// A stream holds about a thousand entries and goes when nothing came for an hour.
class ClusterStreams final : public JobStream {
 public:
  explicit ClusterStreams(std::shared_ptr<RedisCluster> cluster) : cluster_(std::move(cluster)) {}

  absl::StatusOr<std::string> Add(const StreamEntry& entry) override;
  absl::Status Remove(const StreamName& stream, const std::string& id) override;
  absl::StatusOr<std::vector<StreamEntry>> Take(absl::Span<const StreamName> streams, const std::string& taker,
                                                int count) override;
  absl::StatusOr<std::vector<StreamEntry>> TakeOver(const StreamName& stream, const std::string& taker,
                                                    absl::Duration idle, int count) override;

 private:
  // Takes from what remained of the entries, of the stream of that name among others, what has passed since.
  void Age(const std::string& name, std::vector<StreamEntry>* entries);

  const std::shared_ptr<RedisCluster> cluster_;  // Shared by the stores of one engine.
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_CLUSTER_STREAMS_H_
