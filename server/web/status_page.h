// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_STATUS_PAGE_H_
#define SERVER_WEB_STATUS_PAGE_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cache/api/stats.h"
#include "server/scheduler/scheduler.h"

namespace tritond::server {

// What the page shows.
struct StatusView {
  struct Worker {
    std::string name, where, state, build_id, last_death;
    int targets = 0;
    uint64_t jobs_done = 0;
    uint64_t resident_bytes = 0;
    uint32_t deaths = 0;
  };
  std::string version;
  absl::Time now, started;
  bool draining = false;
  uint64_t hits = 0, misses = 0, joined = 0, failures = 0;
  double saved_cpu_seconds = 0;
  std::vector<Worker> workers;
  Scheduler::Stats scheduler;
  std::vector<cache::StoreStats> stores;
};

// The status page, whole; plain HTML that reloads itself. Everything that came from outside is escaped.
std::string RenderStatusPage(const StatusView& view);

}  // namespace tritond::server

#endif  // SERVER_WEB_STATUS_PAGE_H_
