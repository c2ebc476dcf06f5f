// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_CLUSTER_CLUSTER_TURN_H_
#define SERVER_CLUSTER_CLUSTER_TURN_H_

#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "cache/coordination/key_lease_table.h"
#include "server/admission/waiting_caller.h"

namespace tritond::server {

// The right to make the value of one key, in a cluster where one daemon shall make it. It is for work that takes long
// and has a thread of its own. SingleFlight does the same for compiles, thousands at once and without threads. Used by
// one thread. Does not own the table.
class ClusterTurn final {
 public:
  struct Config {
    std::string owner;  // of this one attempt: no two share it
    absl::Duration lease = absl::Seconds(5);
    absl::Duration first_poll = absl::Milliseconds(20);  // of a key that another daemon has; doubles
    absl::Duration longest_poll = absl::Milliseconds(500);
    // No work takes so long: a lease that is held longer is not believed.
    absl::Duration longest_wait = absl::Minutes(30);
  };
  enum class State {
    kMine,  // the value is to be made here: under the lease, or without one where the engine is away
    kDone,  // another daemon has made it
  };

  ClusterTurn(Config config, cache::KeyLeaseTable& table, const cache::Digest& key)
      : config_(std::move(config)), table_(table), key_(key) {}
  // Gives the turn back.
  ~ClusterTurn();
  ClusterTurn(const ClusterTurn&) = delete;
  ClusterTurn& operator=(const ClusterTurn&) = delete;

  // Blocks until the turn is this caller's, or its value there; renews it from then on. `anew`: a value that is there
  // does not count. Cancelled: the caller has gone.
  absl::StatusOr<State> Await(bool anew, WaitingCaller& caller);
  // Ends the turn with its value. False when the engine is away, or has a later one.
  bool Publish(cache::Blob value);

 private:
  void Keep();
  void StopKeeping();

  const Config config_;
  cache::KeyLeaseTable& table_;
  const cache::Digest key_;
  cache::KeyLease lease_;  // token 0: none
  absl::Notification end_;
  std::thread keeper_;  // renews the lease
};

}  // namespace tritond::server

#endif  // SERVER_CLUSTER_CLUSTER_TURN_H_
