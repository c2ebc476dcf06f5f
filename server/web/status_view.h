// SPDX-License-Identifier: Apache-2.0
// What the status page's data is made of; the daemon's parts fill it, status_json.cc writes it down.
#ifndef SERVER_WEB_STATUS_VIEW_H_
#define SERVER_WEB_STATUS_VIEW_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cache/api/stats.h"
#include "server/history/job_record.h"
#include "server/history/latency_series.h"
#include "server/scheduler/scheduler.h"

namespace tritond::server {

struct StatusView {
  struct Worker {
    std::string id, name, where, state, build_id, last_death;
    std::vector<std::string> targets, devices;
    uint64_t jobs_done = 0;
    uint64_t resident_bytes = 0;
    uint32_t deaths = 0;
    absl::Time attached = absl::InfinitePast();  // InfinitePast: it is not
    std::string confinement = {};                // what keeps files out of its reach; "": nothing
  };
  struct Target {
    std::string name;  // "": all that no worker has offered
    bool ready = false;
    uint64_t waiting = 0;                 // calls, and submitted jobs, that wait for a worker
    uint64_t workers = 0, of_others = 0;  // of the active compiler build, and of others, which idle
  };
  // One level at which requests may find what they want, nearest first.
  struct CacheLevel {
    std::string name;
    uint64_t hits = 0, misses = 0, errors = 0;
  };
  // A search for the fastest kernel.
  struct Tuning {
    struct Candidate {
      std::string name, state, reason;
      double median_us = 0, spread_us = 0;  // 0: not timed
    };
    std::string key, label, tenant, device;
    absl::Time started;
    std::string state;  // "running", "done" or why it failed
    int winner = -1;    // index of a candidate; -1: none yet
    std::vector<Candidate> candidates;
  };
  struct Series {
    std::string name;  // "hit", "queue", "compile"
    std::vector<LatencySeries::Point> points;
  };
  // What is shared with other daemons, and how the engine between them does.
  struct Cluster {
    std::string name;  // of this daemon
    std::vector<cache::EngineNode> nodes;
    uint64_t leases_held = 0, leases_granted = 0, leases_lost = 0, unleased = 0;
    uint64_t following = 0, followed = 0;
    uint64_t jobs_offered = 0, jobs_taken = 0;
    uint64_t publish_failures = 0;
  };
  std::string version;
  std::vector<std::string> addresses;  // where the RPCs are served, HOST:PORT or unix:PATH
  absl::Time now, started;
  absl::Duration wall_ahead;  // of what the wall clock shows before `now`; all times here are by the clock of `now`
  std::string not_ready, degraded;  // "" when all is well
  bool draining = false;
  bool tls_refused = false;                  // changed TLS files are not in use
  std::map<std::string, uint64_t> requests;  // by how they were answered
  double saved_cpu_seconds = 0;
  uint64_t workers_lost = 0, open_jobs = 0, quarantined = 0;
  uint64_t stored_results = 0, stored_bytes = 0, stored_limit_bytes = 0;
  std::vector<Worker> workers;
  std::vector<Target> targets;
  Scheduler::Stats scheduler;
  std::vector<CacheLevel> levels;
  std::vector<cache::StoreStats> stores;
  std::vector<Series> latency;
  std::vector<Tuning> tunings;                         // newest first
  std::optional<Cluster> cluster;                      // nothing: this daemon keeps to itself
  std::vector<std::shared_ptr<const JobRecord>> jobs;  // newest first
};

// A job's page. Either `ended` or `open` is there.
struct JobView {
  absl::Time now;
  absl::Duration wall_ahead;  // as in StatusView
  std::shared_ptr<const JobRecord> ended;
  std::optional<OpenJob> open;
  // The request that it compiled, in the words of the command line; "" where it is not kept. A JSON object {"target",
  // "input", "options", "launch_abi", "descriptor_flags", "debug_info", "outputs"}, and "host_tensor_maps" where it is
  // on.
  std::string request_json;
  std::vector<JobRecord::Text> made;  // the stages that were made since, with source locations
  // Of these: Unavailable while they are being made; else why they could not be.
  absl::Status making;
};

}  // namespace tritond::server

#endif  // SERVER_WEB_STATUS_VIEW_H_
