// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_SCHEDULER_SCHEDULER_STATS_H_
#define SERVER_SCHEDULER_SCHEDULER_STATS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// The scheduler's state at a moment, and its counts since it began.
struct SchedulerStats {
  struct Class {
    size_t queued = 0;
    size_t running = 0;
    absl::Duration oldest_wait;
  };
  struct Tenant {
    size_t queued = 0;  // those that it made; not those that it has joined
    size_t running = 0;
  };
  std::array<Class, kJobClasses> classes;
  std::map<std::string, Tenant> tenants;                // those that have jobs now
  uint64_t started = 0;                                 // leases given
  uint64_t lost = 0;                                    // leases lost
  uint64_t rejected = 0;                                // queue full
  uint64_t hedged = 0;                                  // second runs of stuck jobs
  uint64_t flaked = 0;                                  // runs that ended in INTERNAL and were made again
  std::map<std::string, std::vector<OpenJob>> running;  // by worker
  std::map<std::string, uint64_t> done;                 // worker to leases finished
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_SCHEDULER_STATS_H_
