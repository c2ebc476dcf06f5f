// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_ATOMIC_SCOPES_H_
#define WORKERS_DEVICE_EMULATED_ATOMIC_SCOPES_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace tritond::workers::emulated {

// Which programs of a launch have changed a place in global memory by atomic operations. An operation of the scope of
// one work-group is atomic among the program's own threads alone. A GPU may execute it in a cache that other programs
// do not see. Thread-safe.
class AtomicScopes final {
 public:
  // `program` changes the place at `address`. False where another program has or did so, and one of the two is of the
  // scope of a work-group.
  bool Update(uint64_t address, uint64_t program, bool of_work_group) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Place {
    uint64_t program = 0;
    bool of_several = false;     // programs
    bool of_work_group = false;  // scope, of one operation at least
  };

  absl::Mutex mu_;
  absl::flat_hash_map<uint64_t, Place> places_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_ATOMIC_SCOPES_H_
