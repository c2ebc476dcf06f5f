// SPDX-License-Identifier: Apache-2.0
// The workers that are attached, and the leases under which they run jobs. Each lease takes one of its worker's slots
// until the worker has answered or is gone, also when nobody wants the outcome any more.
#ifndef SERVER_SCHEDULER_WORKER_TABLE_H_
#define SERVER_SCHEDULER_WORKER_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// Not thread-safe. Jobs are numbers other than 0; leases are named by their makers, each name once.
class WorkerTable final {
 public:
  struct Worker {
    std::string name;
    WorkerOffer offer;
    std::set<uint64_t> leases;
    bool retired = false;
    uint64_t done = 0;  // leases that it has answered
  };
  struct Lease {
    uint64_t job = 0;  // 0: nobody wants its outcome any more
    std::string worker;
  };

  // A worker that is there already offers something else from now on.
  void Attach(const std::string& name, WorkerOffer offer);
  // It gets no lease from now on.
  void Retire(const std::string& name);
  // The worker is gone; its leases, each with its job, end. Nullopt when there is no such worker.
  std::optional<std::vector<std::pair<uint64_t, uint64_t>>> Remove(const std::string& name);

  void Grant(uint64_t lease, uint64_t job, const std::string& worker);
  // Null when there is none of this name (any more).
  const Lease* Find(uint64_t lease) const;
  // Nobody wants its outcome any more.
  void Disown(uint64_t lease);
  // The worker has answered: its slot is free. The lease as it was.
  std::optional<Lease> End(uint64_t lease);
  // Nothing ran under it: its slot is free.
  void Return(uint64_t lease);

  // Those that may get a lease, the emptiest first; valid until one comes or goes.
  std::vector<const Worker*> WithFreeSlot() const;
  // The first that has nothing to do, can run this, and is not missed: for everything that it could run another idle
  // worker is left. Null when there is none. `but`: not this one.
  const Worker* FindSpare(const Requirement& needs, const std::string& but) const;
  // Whether this worker may run it: one that failed only where no other can.
  bool MayRun(const Worker& worker, const Requirement& needs) const;
  // Whether any but `but` can run it, now or when it has a slot.
  bool AnyCanRun(const Requirement& needs, const std::string& but = "") const;
  // Of all that may get a lease.
  int Slots() const;
  // What could be run in free slots, once each of those that arrive has had one; by the number of these slots.
  std::map<Requirement, int> IdleSlots(const std::map<Requirement, int>& arriving = {}) const;
  // Leases whose outcome nobody wants.
  size_t disowned() const { return disowned_; }
  // The jobs under its leases; none when there is no such worker.
  std::vector<uint64_t> JobsOf(const std::string& worker) const;
  const std::map<std::string, Worker>& workers() const { return workers_; }

 private:
  // Forgets it and frees its slot.
  Worker& Erase(absl::flat_hash_map<uint64_t, Lease>::iterator lease);

  std::map<std::string, Worker> workers_;
  absl::flat_hash_map<uint64_t, Lease> leases_;
  size_t disowned_ = 0;
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_WORKER_TABLE_H_
