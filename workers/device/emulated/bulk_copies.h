// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_BULK_COPIES_H_
#define WORKERS_DEVICE_EMULATED_BULK_COPIES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "workers/device/emulated/release_clocks.h"

namespace tritond::workers::emulated {

// The mbarriers of a program, and its bulk copies in flight. Copies to shared memory are in flight until a thread
// cannot go on without them. Those to global memory read at a wait for their group, and write at a wait for that, or
// after the program: the last one first, for nothing else orders them.
class BulkCopies final {
 public:
  // Moves the bytes. What is wrong, if anything.
  using Copy = std::function<absl::optional<std::string>()>;

  // PTX ISA, "mbarrier": `address` is that of the object, which has no other contents.
  void Init(uint64_t address, uint64_t arrivals) { barriers_[address] = {arrivals, arrivals, 0, 0, {}, {}}; }
  // The current phase takes `arrivals` more.
  absl::optional<std::string> Expect(uint64_t address, uint64_t arrivals);
  void Invalidate(uint64_t address) { barriers_.erase(address); }
  // `released`: what the thread that arrives tells those that wait.
  absl::optional<std::string> Arrive(uint64_t address, uint64_t arrivals, int64_t expected_bytes,
                                     const ReleaseClocks::Times& released);
  // Whether the phase of that parity is over, and then what the threads that arrived have told.
  absl::optional<std::string> Test(uint64_t address, uint64_t parity, bool* is_over, ReleaseClocks::Times* told) const;

  // A copy whose `bytes` the mbarrier counts.
  void Load(uint64_t barrier, int64_t bytes, Copy copy) { loads_.push_back({barrier, bytes, std::move(copy)}); }
  bool HasLoads() const { return !loads_.empty(); }
  absl::optional<std::string> FinishLoad();

  // Copies of a thread, in groups: what they read, and then write.
  void Store(int thread, Copy read, Copy write) {
    stores_[thread].uncommitted.push_back({std::move(read), std::move(write)});
  }
  void Commit(int thread);
  // `reads_only`: they may still write.
  absl::optional<std::string> Wait(int thread, size_t pending, bool reads_only);
  // The program has ended: shared memory is gone.
  absl::optional<std::string> FinishStores();

  void Clear();

 private:
  struct Barrier {
    uint64_t expected = 0, pending = 0;  // arrivals
    int64_t bytes = 0;                   // still to come
    uint64_t phase = 0;
    ReleaseClocks::Times arriving, told;  // in this phase, in those before
  };
  struct PendingLoad {
    uint64_t barrier;
    int64_t bytes;
    Copy copy;
  };
  struct PendingStore {
    Copy read, write;
  };
  using Group = std::vector<PendingStore>;
  struct Stores {
    Group uncommitted;
    std::deque<Group> groups;
    size_t read = 0;  // the first groups have read
  };

  static void Settle(Barrier& barrier);

  std::map<uint64_t, Barrier> barriers_;
  std::deque<PendingLoad> loads_;
  std::map<int, Stores> stores_;
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_BULK_COPIES_H_
