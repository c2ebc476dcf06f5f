// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_PROXY_LOG_H_
#define WORKERS_DEVICE_PROXY_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "workers/device/emulated/release_clocks.h"
#include "workers/device/host_abi.h"

namespace tritond::workers {

// Asynchronous instructions read shared memory on another path than loads and stores, its async proxy (PTX ISA, "Async
// proxy"). What a thread wrote is seen there only after a fence. The fence comes after the write and before the read,
// by the barriers that order the threads. This log knows of each byte who wrote it and which fences followed.
//
// `epoch` counts the barriers that all threads have passed; `clocks` know of the others.
class ProxyLog final {
 public:
  // Does not own `clocks`, which must outlive it.
  ProxyLog(uint64_t bytes, int warp_size, const emulated::ReleaseClocks& clocks)
      : warp_size_(warp_size), clocks_(clocks), bytes_(bytes), granules_((bytes + kGranuleBytes - 1) / kGranuleBytes) {}

  void Clear();
  void Wrote(int thread, const TritondHostSite* site, uint64_t offset, uint64_t bytes, uint32_t epoch);
  // What is there now needs no fence.
  void Forget(uint64_t offset, uint64_t bytes);
  void Fence(int thread, uint32_t epoch);
  // What is wrong with a read by an asynchronous instruction of the thread's warp, if anything.
  absl::optional<std::string> Read(int thread, const TritondHostSite* site, uint64_t offset, uint64_t bytes,
                                   uint32_t epoch) const;

 private:
  static constexpr uint64_t kGranuleBytes = 16;  // what a thread writes at most at once

  struct Byte {
    const TritondHostSite* site = nullptr;
    uint32_t write_epoch = 0;  // 0: not written
    uint32_t fence_epoch = 0;  // 0: not fenced since
    uint64_t fence_warps = 0;  // that have fenced in that epoch
    uint32_t write_mark = 0;   // by the clock of the writer's warp
    uint32_t fence_mark = 0;   // the same, of the writer's own fence; 0: none
    uint16_t writer = 0;
  };
  // Bytes that are looked at together, so that fences pass over what they have nothing to do with.
  struct Granule {
    uint64_t covered_warps = 0;  // whose fences in `epoch` cover every byte
    uint32_t epoch = 0;
    uint32_t write_epoch = 0, write_mark = 0;  // of the one write of every byte, by `writer`
    int writer = -1;                           // -1: there is no such write
    bool is_pending = false;                   // in pending_
    bool is_marked = false;                    // every byte was fenced by its writer
  };

  // Whether a fence may cover bytes of the granule.
  bool Concerns(const Granule& granule, int thread, uint32_t epoch) const;
  // Whether the granule needs fences of later threads no more.
  bool FenceGranule(uint32_t index, int thread, uint32_t epoch);
  // What a fence does to a byte that needs one.
  void FenceByte(Byte& byte, int thread, uint32_t epoch);

  int WarpOf(int thread) const { return thread / warp_size_; }

  const int warp_size_;
  const emulated::ReleaseClocks& clocks_;
  std::vector<Byte> bytes_;
  std::vector<Granule> granules_;
  std::vector<uint32_t> pending_;  // granules that may need fences, each once
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_PROXY_LOG_H_
