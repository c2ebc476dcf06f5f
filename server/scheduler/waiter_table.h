// SPDX-License-Identifier: Apache-2.0
// Who waits for which job, and until when. Not thread-safe.
#ifndef SERVER_SCHEDULER_WAITER_TABLE_H_
#define SERVER_SCHEDULER_WAITER_TABLE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/scheduler/job.h"

namespace tritond::server {

struct Waiter {
  uint64_t job = 0;
  // Called at most once. `joined`: the job was there already when this waiter came.
  std::function<void(const Outcome& outcome, bool joined)> done;
  bool joined = false;
  bool refresh = false;  // no stored outcome answers it
  absl::Time deadline;   // InfiniteFuture: it waits as long as it takes
  std::string tenant;
};

class WaiterTable final {
 public:
  // Under a number that no other has or had.
  void Add(uint64_t id, Waiter waiter);
  // Null when it waits no longer.
  const Waiter* Find(uint64_t id) const;
  // Gives it a later deadline. False when it waits no longer, or has none that is earlier.
  bool Extend(uint64_t id, absl::Time deadline);
  // Takes out one that waits.
  Waiter Take(uint64_t id);
  // The one whose deadline passed first; nullopt when none has passed.
  std::optional<uint64_t> FirstOverdue(absl::Time now) const;

 private:
  absl::flat_hash_map<uint64_t, Waiter> waiters_;
  std::set<std::pair<absl::Time, uint64_t>> deadlines_;
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_WAITER_TABLE_H_
