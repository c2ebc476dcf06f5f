// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_ADMISSION_TURN_QUEUE_H_
#define SERVER_ADMISSION_TURN_QUEUE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace tritond::server {

// Work that waits, in fair turns: the caller that has been served least comes next, where an item counts as much as it
// costs. A caller's own items keep their order. A caller that was idle starts level with those that are served now, so
// it saves nothing up. (Start-time fair queueing: Goyal, Vin, Cheng, 1996.) Each call takes time in the logarithm of
// the callers. Not thread-safe.
class TurnQueue final {
 public:
  // `id` is not in the queue; `cost` in any unit.
  void Push(const std::string& caller, uint64_t id, uint64_t cost);
  // The item whose turn it is; nothing when the queue is empty.
  std::optional<uint64_t> Pop();
  // False when it is not in the queue. What is removed costs its caller nothing.
  bool Remove(uint64_t id);

  size_t size() const { return caller_of_.size(); }

 private:
  struct Item {
    uint64_t id = 0;
    uint64_t cost = 0;
  };
  struct Caller {
    uint64_t start = 0;  // cost units at which its next item begins
    std::deque<Item> items;
  };
  using Callers = std::map<std::string, Caller>;
  using Turn = std::pair<uint64_t, std::string>;  // start and caller

  static constexpr size_t kMostIdle = 4096;

  // Forgets idle callers that a new one would be level with, and those nearest to that where there are too many.
  void ForgetIdle();

  uint64_t now_ = 0;  // where the item that was served last began
  Callers callers_;
  std::set<Turn> turns_;  // of callers with items
  std::set<Turn> idle_;   // of those without
  absl::flat_hash_map<uint64_t, std::string> caller_of_;
};

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_TURN_QUEUE_H_
