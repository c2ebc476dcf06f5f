// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_TENSOR_MEMORY_H_
#define WORKERS_DEVICE_EMULATED_TENSOR_MEMORY_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"

namespace tritond::workers::emulated {

class Machine;

// A point of a warp's work, for Machine::Knows.
struct Moment {
  uint64_t epoch = 0;  // barriers of all threads so far
  int warp = 0;
  uint32_t mark = 0;        // ReleaseClocks
  uint32_t warp_epoch = 0;  // barriers of the warp so far
};

// The tensor memory of a program (PTX ISA, "Tensor Memory"): 128 lanes of 512 columns of 32 bits. With it are the
// products in flight that write it, and which threads have to wait for them. A product is computed when a thread cannot
// go on without it.
//
// Accesses are recorded for 16 lanes of a column at a time. Each takes a wait that ends it. Other warps' accesses and
// products have to be ordered by a fence before and a fence after the threads meet.
class TensorMemory final {
 public:
  using Fault = absl::optional<std::string>;
  static constexpr int kLanes = 128, kColumns = 512, kGroupLanes = 16, kWarpLanes = 32;

  // Lanes and columns that an instruction accesses.
  struct Region {
    int first_group = 0, groups = 0, group_step = 1;
    int column = 0, columns = 0;
  };

  // The next program starts. False when the program before has not given back what it had.
  bool Clear();

  // Columns of all lanes: `column` is the first. Faults where the block would wait forever, and after Relinquish.
  Fault Allocate(int columns, int* column);
  Fault Free(int column, int columns);
  void Relinquish() { may_allocate_ = false; }

  uint32_t& At(int lane, int column) { return words_[lane * kColumns + column]; }

  // A warp, by its first thread, begins to read or to write; its wait ends all of these.
  Fault Load(Machine& machine, int thread, const Region& region);
  Fault Store(Machine& machine, int thread, const Region& region);
  void EndLoads(int warp) { End(warp, &Record::read); }
  void EndStores(int warp) { End(warp, &Record::write); }

  // `thread` issues a product that writes `region` when Finish comes to it.
  Fault Issue(Machine& machine, int thread, const Region& region, std::function<Fault()> compute);
  uint64_t Issued(int thread) { return products_[thread].issued; }
  // The first `count` products of `thread` are computed, if they are not.
  Fault Finish(Machine& machine, int thread, uint64_t count);

  // tcgen05.fence of a thread. A thread that has met others needs one before it depends on what they did.
  void FenceBefore(int thread);
  void FenceAfter(int thread) { Mark(thread, false); }
  void Meet(int thread) { Mark(thread, true); }
  void MeetAll() { needs_fence_.assign(needs_fence_.size(), true); }

 private:
  struct Touch {
    Moment when;
    bool exists = false, by_product = false;
    bool has_ended = false;     // by the warp's wait
    bool is_published = false;  // by a fence after it
  };
  struct Record {
    Touch write, read;
    int products = 0;  // in flight
  };
  struct Products {
    std::deque<std::pair<Region, std::function<Fault()>>> pending;
    uint64_t issued = 0, finished = 0;
  };

  Fault CheckAllocated(const Region& region) const;
  // What is wrong with an access of `thread` after `touch`, if anything. `what`: the names of both.
  Fault CheckAfter(Machine& machine, int thread, const Touch& touch, const char* what) const;
  Fault Access(Machine& machine, int thread, const Region& region, bool writes);
  void End(int warp, Touch Record::*touch);
  void Mark(int thread, bool needs);
  bool NeedsFence(int thread) const {
    return thread < static_cast<int>(needs_fence_.size()) && needs_fence_[thread] != 0;
  }
  // Each record of the region; stops at a fault.
  Fault ForEach(const Region& region, const std::function<Fault(Record&)>& visit);

  std::vector<uint32_t> words_;    // empty until something is allocated
  std::vector<Record> records_;    // likewise
  std::vector<int> sizes_;         // of the allocation that a column is of; 0: none
  std::vector<char> needs_fence_;  // by thread
  std::map<int, Products> products_;
  bool may_allocate_ = true;
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_TENSOR_MEMORY_H_
