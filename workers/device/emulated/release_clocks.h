// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_RELEASE_CLOCKS_H_
#define WORKERS_DEVICE_EMULATED_RELEASE_CLOCKS_H_

#include <cstdint>
#include <vector>

namespace tritond::workers::emulated {

// What each thread of a program knows of the other warps' work, beside what barriers of all threads order. It knows
// this by mbarriers and by barriers of some threads. Vector clocks (Mattern, "Virtual time and global states of
// distributed systems"), one clock a warp. Which lane of a warp did something is left to SharedMemory's record of warp
// barriers.
//
// The work of a warp is marked with its clock's time. When one of its threads releases, the time goes on; who acquires
// what was released knows all earlier marks. Used by one system thread.
class ReleaseClocks final {
 public:
  using Times = std::vector<uint32_t>;  // by warp: work with an earlier mark is known. Empty: nothing is

  ReleaseClocks(int threads, int warp_size);

  // The next program starts: nobody knows anything of it.
  void Clear();

  int warps() const { return static_cast<int>(now_.size()); }
  uint32_t Mark(int warp) const { return now_[warp]; }
  bool Knows(int thread, int warp, uint32_t mark) const { return known_[thread][warp] > mark; }

  // Adds what `thread` knows, and what its warp has done.
  void Release(int thread, Times* times);
  void Acquire(int thread, const Times& times);
  // All threads of the warp have met, and know what one of them knows.
  void PassWarpBarrier(int warp);

  // Adds the knowledge of `more`.
  static void Join(Times* times, const Times& more);

 private:
  const int warp_size_;
  Times now_;
  std::vector<Times> known_;  // by thread
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_RELEASE_CLOCKS_H_
