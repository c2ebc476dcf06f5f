// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_REDIS_CLUSTER_H_
#define CACHE_STORE_REDIS_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "cache/api/stats.h"
#include "cache/store/circuit_breaker.h"
#include "cache/store/node_health.h"
#include "cache/store/redis_connection.h"
#include "cache/store/redis_slots.h"

namespace tritond::cache {

struct RedisOptions {
  std::vector<std::string> nodes;  // HOST:PORT, any of the cluster's; the others are learnt from them
  std::string user, password;      // of the engine's ACL; password empty: none
  RedisTls tls;
  absl::Duration connect_timeout = absl::Milliseconds(300);
  absl::Duration call_timeout = absl::Milliseconds(500);  // of one round trip
  CircuitBreaker::Config breaker;                         // of each node
  absl::Duration remember_refusals = NodeHealth::kRemember;
  absl::Duration relearn = absl::Seconds(1);  // how often to ask the others who has the slots of a node that is away
};

// A client of an engine that speaks the Redis protocol, with hash slots (Redis or Valkey Cluster, Apache Kvrocks) or
// alone. Learns which node has which slot, follows MOVED and ASK, and dials again what broke. Connections are kept and
// reused. A node that failed a few times in a row is left alone for a while. Calls for its slots then fail at once,
// unless another node has taken them over. That does not touch the slots of the other nodes. Thread-safe; calls block
// for at most a few round trips.
class RedisCluster final {
 public:
  // InvalidArgument for what is no HOST:PORT.
  static absl::Status CheckAddress(const std::string& node);

  // Does not connect yet.
  explicit RedisCluster(RedisOptions options);
  ~RedisCluster();

  // Sends a command to the node that has `key`. Unavailable when no node answers in time, or the cluster is down for
  // this slot. ResourceExhausted when the engine takes no writes; PermissionDenied or FailedPrecondition when it
  // refuses this daemon; Internal for another error of the engine. A command may have been carried out although the
  // answer was lost.
  absl::StatusOr<RedisReply> Call(absl::string_view key, absl::Span<const absl::string_view> command);
  // Deletes these keys, those of one node in one round trip; how many there were. The first error, after trying all.
  absl::StatusOr<uint64_t> Delete(absl::Span<const std::string> keys);
  // Calls `visit` with every key that fits the glob `pattern`, on every node that serves slots; a key may come twice.
  // Unavailable when one of them does not answer, after the others'.
  absl::Status VisitKeys(absl::string_view pattern, const std::function<void(absl::string_view key)>& visit);
  // The nodes that serve slots, by address; before those are known the ones it was given.
  std::vector<EngineNode> Nodes() const;

 private:
  using Connection = std::unique_ptr<RedisConnection>;
  using Command = RedisConnection::Command;

  absl::StatusOr<Connection> Dial(const std::string& node) const;
  absl::StatusOr<Connection> Take(const std::string& node);
  void GiveBack(const std::string& node, Connection connection);
  // One round trip, with a reply for each command. The connection is kept only when it is still good.
  absl::StatusOr<std::vector<RedisReply>> Exchange(const std::string& node, absl::Span<const Command> commands);
  // The same unless the node is left alone. `judge` says what the last reply tells of the node, as NodeHealth wants it.
  using Judge = absl::Status (*)(const redisReply& reply);
  absl::StatusOr<std::vector<RedisReply>> CallNode(const std::string& node, absl::Span<const Command> commands,
                                                   Judge judge);
  absl::StatusOr<RedisReply> CallNode(const std::string& node, bool asking, absl::Span<const absl::string_view> command,
                                      Judge judge);
  absl::StatusOr<uint64_t> DeleteAt(const std::string& node, absl::Span<const absl::string_view> keys);
  std::shared_ptr<NodeHealth> HealthOf(const std::string& node);
  // Whether a failure of this node is a reason to ask for the slots now.
  bool MayRelearn(const std::string& node);
  // The node that has the slot, as far as is known; learns the slots first when nothing is.
  absl::StatusOr<std::string> NodeOf(int slot);
  absl::Status LearnSlots();
  absl::Status VisitKeysOf(const std::string& node, absl::string_view pattern,
                           const std::function<void(absl::string_view key)>& visit);
  void Learn(int slot, const std::string& node);
  // Nodes that have left the cluster have no figures any more.
  void ForgetStrangersLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const RedisOptions options_;
  mutable absl::Mutex mu_;
  std::vector<std::string> slots_ ABSL_GUARDED_BY(mu_);  // node of each slot; empty: not learnt yet
  std::map<std::string, std::vector<Connection>> idle_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<NodeHealth>> health_ ABSL_GUARDED_BY(mu_);  // Shared with calls under way.
  absl::Duration relearn_at_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_REDIS_CLUSTER_H_
