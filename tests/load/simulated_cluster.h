// SPDX-License-Identifier: Apache-2.0
// A cluster's start of a training job under simulated time. It has:
//
// - the daemons' own schedulers, leases and offers of work
// - an engine in memory
// - workers that only take time
// - clients that ask for kernels in their program's order
#ifndef TESTS_LOAD_SIMULATED_CLUSTER_H_
#define TESTS_LOAD_SIMULATED_CLUSTER_H_

#include <cstdint>

#include "absl/time/time.h"

namespace tritond::tests {

struct ClusterScenario {
  int daemons = 1000;
  int workers = 20;      // of each daemon
  int clients = 100000;  // a multiple of `daemons` * `groups`
  int groups = 1;        // of each daemon's clients; those of a group go in step
  int kernels = 2000;    // that each client asks for, all in the same order
  int parallel = 1;      // kernels that one client asks for at once
  bool by_key = true;    // clients name all daemons; else each keeps to one, as behind a load balancer
  bool warm = false;     // the engine has every kernel; no daemon has any
  absl::Duration start_spread = absl::Seconds(10);    // between the first client's start and the last one's
  absl::Duration round_trip = absl::Milliseconds(1);  // to a daemon or the engine
  absl::Duration median_compile = absl::Milliseconds(250);
  absl::Duration restart_every = absl::InfiniteDuration();  // one daemon after the other is killed …
  absl::Duration restart_takes = absl::Seconds(5);          // … and comes back with its disk
  bool upgrade = false;                                     // … and with a newer compiler build, once
  int shards = 6;                                           // of the engine
  absl::Duration shard_lost_at = absl::InfiniteDuration();  // one of them …
  absl::Duration shard_lost_for = absl::Seconds(15);        // … until its replica takes over
};

struct ClusterFigures {
  uint64_t requests = 0;         // of clients, answered
  uint64_t compiles = 0;         // begun
  int most_of_a_key = 0;         // compiles of the key that was compiled most often: of one kernel, by one build
  uint64_t lost = 0;             // compiles that a killed daemon had begun
  uint64_t operations = 0;       // of the engine, for leases and values
  uint64_t peak_operations = 0;  // within a second
  uint64_t polls = 0;            // of the engine, for offers of work
  absl::Duration last_answer;    // after the first client's start
  int unanswered = 0;            // clients that had not ended after an hour
};

// The same scenario gives the same figures.
ClusterFigures SimulateCluster(const ClusterScenario& scenario);

}  // namespace tritond::tests

#endif  // TESTS_LOAD_SIMULATED_CLUSTER_H_
