// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_API_STATS_H_
#define CACHE_API_STATS_H_

#include <cstdint>
#include <string>

namespace tritond::cache {

// What one store holds, for people to look at. Stores on disk estimate.
struct StoreStats {
  std::string cache;  // Which cache the store serves: "results", "blobs".
  std::string store;  // "memory", "rocksdb".
  int64_t entries = 0;
  int64_t size_bytes = 0;
  int64_t capacity_bytes = 0;  // 0: no limit.
};

}  // namespace tritond::cache

#endif  // CACHE_API_STATS_H_
