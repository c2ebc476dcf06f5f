// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_OPEN_OPEN_CACHE_H_
#define CACHE_OPEN_OPEN_CACHE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cache/api/cache.h"
#include "cache/api/journal.h"
#include "cache/api/record_guard.h"
#include "cache/api/stats.h"
#include "cache/coordination/job_stream.h"
#include "cache/coordination/key_lease_table.h"
#include "cache/store/redis_connection.h"

namespace prometheus {
class Registry;
}

namespace tritond::cache {

struct CacheConfig {
  // Entries persist in the folder `cache` below this one, which is made when absent. Empty: memory only.
  std::string data_dir;
  // Bound on the memory tier: an eighth for results, the rest for blobs. 0: no memory tier.
  uint64_t memory_bytes = uint64_t{512} << 20;
  // An engine of a cluster, which shares results and blobs between daemons; no nodes: none.
  struct Cluster {
    std::vector<std::string> nodes;  // HOST:PORT
    std::string user, password;
    RedisTls tls;
    absl::Duration lifetime = absl::Hours(24 * 30);        // of an entry there
    absl::Duration remember_refusals = absl::Seconds(10);  // that its state tells, at least
  } cluster;
  // Put returns only when the disk has the entry. Without it a crash of the daemon loses nothing, a crash of the
  // machine may lose the last few entries.
  bool sync_writes = false;
  // Most files of a database that are open at once; below zero: all.
  int open_files = -1;
  // What decides which results count, when they are read from the disk and from the engine. Null: all of them. Not
  // owned; must outlive the caches.
  RecordGuard* own_guard = nullptr;
  RecordGuard* engine_guard = nullptr;
  // Open what clients store by themselves too: OpenedCache::client_records and client_values. Takes a data folder.
  bool client_values = false;
  // Hears of damaged files, and of what was saved from them. May be null; from any thread.
  std::function<void(const std::string&)> log;
};

// The two caches of a daemon, ready to use, with every store and wrapper below them.
struct OpenedCache {
  // Any bytes under a key of the caller's choice (action results). Damage is noticed by a seal stored with the value.
  std::unique_ptr<Cache> results;
  // Content-addressed: the key is Digest::Of(value). Damage is noticed by the key.
  std::unique_ptr<Cache> blobs;
  // The same, but only what this daemon has itself: never waits for the cluster. Parts of the two above.
  Cache* own_results = nullptr;
  Cache* own_blobs = nullptr;
  // The results on disk, without their guard: to take stock of what lies there. Null without a data folder. A part of
  // `results`.
  Cache* stored_results = nullptr;
  // What the cluster shares; null where there is none. Parts of the first two, or beside them.
  Cache* shared_results = nullptr;
  Cache* shared_blobs = nullptr;
  std::unique_ptr<KeyLeaseTable> leases;
  // Small records under a key of the caller's choice (tunings of programs), of this daemon and the cluster; sealed. The
  // leases are of their keys, null without a cluster.
  std::unique_ptr<Cache> tunings;
  std::unique_ptr<KeyLeaseTable> tuning_leases;
  std::unique_ptr<JobStream> jobs;
  // What clients store by themselves, in two keyspaces of their own on this daemon's disk. One has small records, the
  // other the values that they describe, under keys of the caller's choice. Sealed. Null unless
  // CacheConfig::client_values.
  std::unique_ptr<Cache> client_records, client_values;
  // Why nothing new is kept now, for people; "" when it is. Thread-safe, as below.
  std::function<std::string()> trouble;
  // What each store holds now, fastest first. Thread-safe; callable as long as both caches live.
  std::function<std::vector<StoreStats>()> stats;
  // The nodes of the cluster's engine; none where there is none. Thread-safe, as above.
  std::function<std::vector<EngineNode>()> engine_nodes;
};

// InvalidArgument when a node of an engine is not named as HOST:PORT.
absl::Status CheckEngineNode(const std::string& node);
// InvalidArgument when these files cannot be used for TLS to an engine, or one that belongs to another is missing.
absl::Status CheckEngineTls(const RedisTls& tls);

// Opens the stores that `config` asks for and registers their metrics; `registry` must outlive the result.
// InvalidArgument when the configuration leaves no store, none for client_values, a node is no HOST:PORT, or the TLS
// files of the engine cannot be used. Unavailable when the folder cannot be used, with the process that has it open if
// one does. What is damaged there is dropped. On a full disk what is there is read, and OpenedCache::trouble tells.
absl::StatusOr<OpenedCache> OpenCache(const CacheConfig& config, prometheus::Registry& registry);

// Opens the journal in the folder `journal` below `data_dir`. `log` and Unavailable as above; Journal::Trouble tells of
// a full disk.
absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const std::string& data_dir,
                                                     const std::function<void(const std::string&)>& log = nullptr,
                                                     int open_files = -1);

}  // namespace tritond::cache

#endif  // CACHE_OPEN_OPEN_CACHE_H_
