// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_API_STATS_H_
#define CACHE_API_STATS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tritond::cache {

// What one store holds, for people to look at. Stores on disk estimate.
struct StoreStats {
  std::string cache;  // Which cache the store serves: "results", "blobs".
  std::string store;  // "memory", "rocksdb".
  int64_t entries = 0;
  int64_t size_bytes = 0;
  int64_t capacity_bytes = 0;  // 0: no limit.
};

// A node of an engine that a cluster shares, as this process sees it.
struct EngineNode {
  std::string address;  // HOST:PORT
  bool answers = true;  // false: it did not lately, or not as it should
  std::string trouble;  // what it says instead of an answer, for people; "": it says nothing, or all is well
  bool slow = false;    // it has answered slowly for a while
  int slots = 0;        // hash slots that it serves
  uint64_t calls = 0;
  uint64_t failures = 0;   // calls that it did not answer, or not with what was asked for
  absl::Duration latency;  // of a round trip, lately; zero before the first
};

// Whether the engine is there at all: some node answers, or there is none to.
inline bool SomeAnswer(const std::vector<EngineNode>& nodes) {
  return nodes.empty() || std::any_of(nodes.begin(), nodes.end(), [](const EngineNode& node) { return node.answers; });
}

// The addresses of those that do not answer.
inline std::vector<std::string> NodesAway(const std::vector<EngineNode>& nodes) {
  std::vector<std::string> away;
  for (const EngineNode& node : nodes) {
    if (!node.answers) away.push_back(node.address);
  }
  return away;
}

// The addresses of those that answer slowly.
inline std::vector<std::string> NodesSlow(const std::vector<EngineNode>& nodes) {
  std::vector<std::string> slow;
  for (const EngineNode& node : nodes) {
    if (node.answers && node.slow) slow.push_back(node.address);
  }
  return slow;
}

// What is wrong with the engine, for people; "" when nothing is.
std::string DescribeTrouble(const std::vector<EngineNode>& nodes);

}  // namespace tritond::cache

#endif  // CACHE_API_STATS_H_
