// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_CLUSTER_LEASES_H_
#define CACHE_STORE_CLUSTER_LEASES_H_

#include <functional>
#include <memory>
#include <string>

#include "cache/coordination/key_lease_table.h"
#include "cache/store/redis_cluster.h"

namespace tritond::cache {

// Leases beside the entries of a ClusterStore, in the same hash slot, each verb one script and so atomic:
//
//   tritond:{HEX}:KEYSPACE         the value, as the ClusterStore keeps it
//   tritond:{HEX}:KEYSPACE:error   a failure
//   tritond:{HEX}:KEYSPACE:lease   "TOKEN OWNER", expires
//   tritond:{HEX}:KEYSPACE:fence   granted: the last token; written: that of the value or failure that is there
//   tritond:{HEX}:KEYSPACE:told:OWNER   a failure for one owner, expires
class ClusterLeases final : public KeyLeaseTable {
 public:
  // Makes a value's stored form, that of the layers above the ClusterStore.
  using Seal = std::function<Blob(const Digest& key, const Blob& value)>;

  // `lifetime` is that of values.
  ClusterLeases(std::shared_ptr<RedisCluster> cluster, std::string keyspace, absl::Duration lifetime, Seal seal);

  absl::StatusOr<Answer> Ask(const Digest& key, const std::string& owner, absl::Duration lifetime,
                             const Wish& wish) override;
  absl::StatusOr<Renewal> Renew(const KeyLease& lease, absl::Duration lifetime) override;
  absl::Status Unfollow(const Digest& key) override;
  absl::Status Release(const KeyLease& lease) override;
  absl::StatusOr<bool> Publish(const KeyLease& lease, Blob value) override;
  absl::StatusOr<bool> PublishError(const KeyLease& lease, const std::string& error, absl::Duration lifetime) override;
  absl::Status Tell(const Digest& key, const std::string& owner, const std::string& error,
                    absl::Duration lifetime) override;
  absl::Status ForgetError(const Digest& key) override;

 private:
  std::string NameOf(const Digest& key) const;
  // Runs a script on the five keys of a name and an owner.
  absl::StatusOr<RedisReply> Run(absl::string_view script, const Digest& key, absl::string_view owner,
                                 absl::Span<const absl::string_view> arguments);
  absl::StatusOr<bool> RunForTruth(absl::string_view script, const KeyLease& lease,
                                   absl::Span<const absl::string_view> arguments);

  const std::shared_ptr<RedisCluster> cluster_;  // Shared by the stores of one engine.
  const std::string keyspace_;
  const std::string lifetime_ms_;
  const Seal seal_;
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_CLUSTER_LEASES_H_
