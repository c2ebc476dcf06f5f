// SPDX-License-Identifier: Apache-2.0
#include "server/app/descriptor_limit.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

// Listeners, pollers, logs, RocksDB's own files, bundles on their way, and what libraries open for a moment.
constexpr uint64_t kOwn = 128;
// Connections that are being closed while others already have their places.
constexpr uint64_t kLeaving = 64;
constexpr uint64_t kPerWorker = 3;                  // its standard error, and both ends of a pipe while it starts
constexpr uint64_t kPerNode = 32;                   // connections to a node of the cluster's engine
constexpr uint64_t kDatabases = 2;                  // the cache and the journal
constexpr uint64_t kFewest = 32;                    // connections, below which nothing works
constexpr uint64_t kMostByDefault = 16384;          // About half a GiB of memory, when all of them are idle.
constexpr uint64_t kMostLimit = uint64_t{1} << 20;  // More is never used.

}  // namespace

uint64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    // Where the kernel refuses it, the limit from before holds.
    static_cast<void>(setrlimit(RLIMIT_NOFILE, &raised));
  }
  return DescriptorLimit();
}

uint64_t DescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min<uint64_t>(limit.rlim_cur, kMostLimit);
}

absl::StatusOr<DescriptorPlan> PlanDescriptors(uint64_t limit, uint64_t workers, uint64_t engine_nodes,
                                               uint64_t max_connections, bool redis) {
  DescriptorPlan plan;
  plan.limit = limit;
  plan.rocksdb_files = static_cast<int>(std::clamp<uint64_t>(limit / 8, 32, 1024));
  plan.http_sessions = static_cast<int>(std::clamp<uint64_t>(limit / 8, 32, 256));
  plan.redis_sessions = redis ? std::clamp<uint64_t>(limit / 8, 32, 1024) : 0;
  const uint64_t reserved = kOwn + kLeaving + kPerWorker * workers + kPerNode * engine_nodes +
                            kDatabases * static_cast<uint64_t>(plan.rocksdb_files) +
                            static_cast<uint64_t>(plan.http_sessions) + plan.redis_sessions;
  const uint64_t wanted = std::max(max_connections, std::max(kFewest, 2 * workers));
  if (limit < reserved + wanted) {
    return absl::FailedPreconditionError(absl::StrCat(
        "this process may have ", limit, " files open, and needs ", reserved + wanted, " for ", wanted,
        " connections: raise the limit (LimitNOFILE= of systemd, ulimit -Hn of a shell), or lower --max-connections"));
  }
  plan.connections = max_connections > 0 ? max_connections : std::min(limit - reserved, kMostByDefault);
  return plan;
}

uint64_t OpenDescriptors() {
  struct stat folder {};
  if (stat("/proc/self/fd", &folder) == 0 && folder.st_size > 0) return folder.st_size;  // Linux 6.2: without a walk.
  std::error_code error;
  uint64_t count = 0;  // The walk counts its own too.
  for (std::filesystem::directory_iterator each("/proc/self/fd", error), end; !error && each != end;
       each.increment(error))
    ++count;
  return count == 0 ? 0 : count - 1;
}

}  // namespace tritond::server
