// SPDX-License-Identifier: Apache-2.0
// How many files and sockets this process may have open, and who gets how many of them.
#ifndef SERVER_APP_DESCRIPTOR_LIMIT_H_
#define SERVER_APP_DESCRIPTOR_LIMIT_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace tritond::server {

struct DescriptorPlan {
  uint64_t limit = 0;         // of the process
  int rocksdb_files = 0;      // that each of the two databases keeps open
  int http_sessions = 0;      // of the status page's listener
  size_t redis_sessions = 0;  // of the Redis port
  size_t connections = 0;     // of gRPC's listeners, together
};

// Raises the soft limit of this process to its hard limit. Returns the limit that holds then.
uint64_t RaiseDescriptorLimit();
// The limit that holds now.
uint64_t DescriptorLimit();

// Divides `limit`, so that all together never reach it. `workers`: local ones; `engine_nodes`: of the cluster's engine;
// `max_connections` 0: as many as there is room for, within reason; `redis`: there is a Redis port. FailedPrecondition
// when the limit is too low for that, with the limit that it takes.
absl::StatusOr<DescriptorPlan> PlanDescriptors(uint64_t limit, uint64_t workers, uint64_t engine_nodes,
                                               uint64_t max_connections, bool redis);

// How many are open now, counted in /proc; 0 when that cannot be read.
uint64_t OpenDescriptors();

}  // namespace tritond::server

#endif  // SERVER_APP_DESCRIPTOR_LIMIT_H_
