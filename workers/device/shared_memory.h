// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_SHARED_MEMORY_H_
#define WORKERS_DEVICE_SHARED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "workers/device/emulated/release_clocks.h"
#include "workers/device/emulated/tensor_memory.h"
#include "workers/device/host_abi.h"
#include "workers/device/proxy_log.h"

namespace tritond::workers {

// "softmax.py:12:5 (softmax)", as far as the site knows.
std::string SiteText(const TritondHostSite* site);
// Whether the two name the same place.
bool SameSite(const TritondHostSite* a, const TritondHostSite* b);

// The shared memory of one program, with a record of who accessed each byte since when. Used by one system thread.
//
// Two accesses of one byte by different threads conflict when one of them writes; two atomics do not. A barrier between
// them prevents that, or a warp barrier where both threads are of one warp. Compiled code keeps copies of a value in
// several threads and lets each of them write its copy. Such a write changes nothing, whatever the order. So a
// conflicting write is held back as a suspicion until its thread next waits or ends. If the bytes are then as they were
// before it, it was harmless.
//
// On emulated devices mbarriers and barriers of some threads order accesses, too (ReleaseClocks). From the first
// release on, the mark of each warp's last access to each byte is kept.
class SharedMemory final {
 public:
  // `is_emulated`: the memory lies where host_abi.h says, and what asynchronous instructions read of it is checked;
  // that includes what cp.async has written where `copies_need_fences`.
  SharedMemory(uint64_t bytes, int threads, int warp_size, bool check_uninitialized, bool is_emulated = false,
               bool copies_need_fences = true);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Kinds of access: a write by cp.async, and by a bulk copy, which needs no fence before other asynchronous
  // instructions. PTX ISA, "Async proxy": cp.async is of the ordinary path. Many compilers take it for the other.
  static constexpr uint32_t kCopied = TRITOND_HOST_WRITE | TRITOND_HOST_SHARED | 8;
  static constexpr uint32_t kBulkCopied = TRITOND_HOST_WRITE | TRITOND_HOST_SHARED | 16;

  // The next program starts: the memory is filled with a pattern that no sane kernel makes.
  void StartProgram();

  // Null when the system has no memory below 4 GiB.
  char* data() const { return data_; }
  bool Holds(const void* address) const {
    return static_cast<const char*>(address) >= data_ && static_cast<const char*>(address) < data_ + bytes_;
  }

  // `thread` is about to access `bytes` at `address`. What is wrong with that, if anything.
  absl::optional<std::string> Access(int thread, const TritondHostSite* site, const void* address, uint64_t bytes,
                                     uint32_t kind);
  // The same for a read by an asynchronous instruction that `thread` waits for.
  absl::optional<std::string> ReadAsync(int thread, const TritondHostSite* site, const void* address, uint64_t bytes);
  // The same for one that an mbarrier ends: it is no thread's, so that all that have waited there may write. Who writes
  // earlier changes what is read.
  absl::optional<std::string> PeekAsync(int thread, const TritondHostSite* site, const void* address, uint64_t bytes);
  // A write that an mbarrier orders: no thread's, and seen by all.
  absl::optional<std::string> Receive(const TritondHostSite* site, const void* address, uint64_t bytes);
  // `thread` orders what it knows to be written before asynchronous reads.
  void FenceAsync(int thread) { proxies_->Fence(thread, epoch_); }
  // `thread` waits or ends: what its writes since it last did turned out to be.
  absl::optional<std::string> Settle(int thread);

  // All threads, or all of a warp, have met.
  void PassBarrier() { ++epoch_; }
  void PassWarpBarrier(int warp) {
    ++warp_epochs_[warp];
    if (has_released_) clocks_.PassWarpBarrier(warp);
  }
  // `thread` arrives where others wait: adds what it knows; has waited, and knows what was added.
  void Release(int thread, emulated::ReleaseClocks::Times* times);
  void Acquire(int thread, const emulated::ReleaseClocks::Times& times) { clocks_.Acquire(thread, times); }
  emulated::Moment Now(int thread) const {
    const int warp = thread / warp_size_;
    return {epoch_, warp, clocks_.Mark(warp), warp_epochs_[warp]};
  }
  bool Knows(int thread, const emulated::Moment& moment) const {
    const bool has_met = thread / warp_size_ == moment.warp && warp_epochs_[moment.warp] != moment.warp_epoch;
    return has_met || moment.epoch != epoch_ || clocks_.Knows(thread, moment.warp, moment.mark);
  }

 private:
  // The last access of one kind to a byte, and which warps made such since the last barrier.
  struct Touch {
    uint32_t epoch = 0;  // of the barrier; 0: none yet
    uint32_t warp_epoch = 0;
    uint64_t warps = 0;
    const TritondHostSite* site = nullptr;
    uint16_t thread = 0;
    bool is_atomic = false;
    bool is_several = false;  // other threads of that warp too, with no warp barrier between
  };
  struct Byte {
    Touch write;
    Touch read;
  };
  struct Suspicion {
    uint64_t offset;
    char before;
    bool after_write;
    uint16_t other_thread;
    const TritondHostSite* other;
    const TritondHostSite* site;
  };

  bool Unordered(uint64_t offset, bool is_write, int thread) const;
  void Record(uint64_t offset, bool is_write, int thread, const TritondHostSite* site, bool is_atomic);
  size_t MarkIndex(uint64_t offset, bool is_write, int warp) const {
    return (2 * offset + is_write) * clocks_.warps() + warp;
  }
  absl::optional<std::string> Read(int thread, const TritondHostSite* site, uint64_t offset);
  absl::optional<std::string> CheckRead(int thread, const TritondHostSite* site, uint64_t offset) const;
  absl::optional<std::string> Write(int thread, const TritondHostSite* site, uint64_t offset, bool is_atomic);
  std::string Conflict(uint64_t offset, const char* first_did, int first, const TritondHostSite* first_site,
                       const char* then_did, int then, const TritondHostSite* then_site) const;

  const uint64_t bytes_;
  const int warp_size_;
  const bool check_uninitialized_;
  const bool copies_need_fences_;
  std::vector<char> storage_;
  void* window_ = nullptr;  // instead of storage_, mapped
  char* data_;              // in one of them, aligned to 1024 or 256 Ki
  std::unique_ptr<ProxyLog> proxies_;
  std::vector<Byte> log_;
  // Counts on from one program to the next, so that the log of the last one needs no clearing.
  uint32_t epoch_ = 1;
  uint32_t first_epoch_ = 1;  // of this program
  std::vector<uint32_t> warp_epochs_;
  emulated::ReleaseClocks clocks_;
  bool has_released_ = false;          // since the launch has begun
  std::vector<uint32_t> marks_;        // by byte, read or write, and warp; empty until then
  std::vector<Suspicion> suspicions_;  // of the running thread
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_SHARED_MEMORY_H_
