// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_HOST_PROGRAM_H_
#define WORKERS_DEVICE_HOST_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "workers/device/device.h"
#include "workers/device/emulated/atomic_scopes.h"
#include "workers/device/emulated/instruction.h"
#include "workers/device/emulated/register_exchange.h"
#include "workers/device/fiber.h"
#include "workers/device/host_abi.h"
#include "workers/device/memory_map.h"
#include "workers/device/shared_memory.h"
#include "workers/device/stack_pool.h"

namespace tritond::workers {

// What one launch is, and how it stands: shared by the system threads that run its programs.
struct HostLaunch {
  void (*entry)(void* const*) = nullptr;
  void* const* parameters = nullptr;
  Grid grid;
  int blocks = 1;   // of a program
  int threads = 0;  // of a block, at most 1024
  int warp_size = 32;
  uint64_t shared_bytes = 0;
  bool check_uninitialized = false;
  bool is_emulated = false;                      // code of an `emulated` target
  bool reads_whole_words = false;                // a word of a buffer's end, or of its beginning, may be read
  bool copies_need_fences = true;                // DeviceOptions
  emulated::AtomicScopes atomic_scopes;          // of emulated code
  absl::Time deadline = absl::InfiniteFuture();  // by the steady clock
  const MemoryMap* memory = nullptr;
  const std::function<void(absl::string_view)>* print = nullptr;

  std::atomic<uint64_t> next_program{0};
  std::atomic<bool> has_failed{false};
  absl::Mutex mu;
  absl::Status status ABSL_GUARDED_BY(mu);  // the first failure

  void Fail(absl::Status why);
};

class HostCluster;

// Runs a block of programs of a launch on the calling system thread, one program after the other, with a fiber a
// thread. Most programs are one block (HostCluster).
//
// A fiber runs until it must wait: for the block's threads or its warp's. The last to arrive goes on, the others
// queue after it. When none can run and some have not ended, they wait for each other forever: an error that names
// where. The first error ends the launch; fibers are then abandoned where they are.
class HostProgram final {
 public:
  // The block `rank` of programs that `cluster` runs.
  HostProgram(HostLaunch& launch, StackPool& stacks, HostCluster& cluster, int rank);
  ~HostProgram();

  absl::Status MakeThreads();
  void Start(uint64_t program);
  // Until none of its threads can go on, or the launch has failed. Whether one could.
  bool RunReady();
  // Once no block can go on.
  void End();
  // All blocks have come to the barrier of the cluster.
  void PassClusterBarrier();

  // What the kernel's code calls, through host_runtime.cc; on a fiber.
  int32_t ThreadId() const { return current_; }
  int32_t ProgramId(int axis) const;
  int32_t NumPrograms(int axis) const;
  void* Shared() const { return shared_.data(); }
  void Barrier(const TritondHostSite* site);
  void WarpBarrier(const TritondHostSite* site);
  uint32_t Shuffle(const TritondHostSite* site, uint32_t value, uint32_t lane);
  void CheckAccess(const TritondHostSite* site, const void* address, uint64_t bytes, uint32_t kind);
  void Fail(const TritondHostSite* site, const char* message);
  void Print(absl::string_view text);
  // A copy happens as late as it may, in the wait. Until then its bytes hold a pattern.
  void AsyncCopy(const TritondHostSite* site, void* to, const void* from, uint32_t bytes, uint32_t read);
  void AsyncCommit();
  void AsyncWait(const TritondHostSite* site, uint32_t num);
  // host_instructions.cc
  void Execute(const TritondHostSite* site, const char* name, const uint64_t* in, uint64_t* out);

 private:
  enum class Wait { kNothing, kBarrier, kWarpBarrier, kShuffle, kInstruction, kPartBarrier, kOthersOfWarp, kCluster };
  class Registers;  // what instructions see of the program

  struct Copy {
    const TritondHostSite* site;
    char* to;
    const char* from;
    uint32_t bytes, read;
  };

  struct Thread {
    HostProgram* program;
    int index;
    std::unique_ptr<Fiber> fiber;
    Wait wait = Wait::kNothing;
    const TritondHostSite* site = nullptr;  // where it waits
    const char* instruction = nullptr;      // that it waits at
    uint64_t order = 0;                     // of that instruction in the code, when it waits for kOthersOfWarp
    bool has_signalled = false;             // the first half of a split barrier
    uint64_t cluster_phase = 0;             // of the barrier of the cluster, when it arrived there
    bool has_ended = false;
    std::deque<Copy> copies;    // in flight
    std::deque<size_t> groups;  // how many of these each group has
    size_t uncommitted = 0;
    uint64_t started = 0;  // copies, in this program
  };
  // Threads that gather at one place until all have come.
  struct Meeting {
    int first = 0;  // the threads that take part: as many as `count`, from this one on
    int count = 0;
    uint64_t lanes = 0;  // not 0: those of the warp that begins at `first`, and `count` is their number
    int arrived = 0;
    int first_arrived = 0;

    int end() const { return lanes == 0 ? first + count : first + 64; }
    bool Takes(int thread) const { return lanes == 0 || (lanes >> (thread - first) & 1) != 0; }
  };
  // A barrier of some warps, whose threads need not wait once they have arrived. A warp arrives with the last of its
  // lanes.
  struct PartBarrier {
    uint64_t expected = 0;  // threads
    uint64_t arrived = 0;
    std::vector<int> waiting;
    emulated::ReleaseClocks::Times told;  // by those that have arrived
    struct Lanes {
      int count = 0;
      std::vector<int> waiting;
      emulated::ReleaseClocks::Times told;
    };
    std::map<int, Lanes> lanes;  // of warps that have not arrived yet
  };
  struct Warp {
    Meeting meeting;
    std::vector<uint32_t> values[2];  // of this shuffle and the one before, which slow lanes still read
    int turn = 0;
    std::vector<emulated::Lane> lanes;    // of the instruction that they meet at
    std::map<uint64_t, Meeting> partial;  // of some lanes, by their mask
    int gathered = 0;                     // lanes that wait for kOthersOfWarp
    emulated::AsynchronousProducts products;
  };

  static const char* WaitText(Wait wait);
  static void RunThread(void* thread);
  // False when the launch has failed, here or elsewhere: the thread must suspend itself and will not go on. What says
  // why is made and gone inside these functions, since the fiber's stack is abandoned.
  bool MayGoOn();
  bool MaySettle();
  bool MayAccess(const TritondHostSite* site, const void* address, uint64_t bytes, uint32_t kind);
  bool MayUpdate(const TritondHostSite* site, uint64_t address, uint32_t kind);
  bool IsAligned(const TritondHostSite* site, const void* address, uint64_t bytes);
  bool MayCopy(const Copy& copy);
  bool MayFinish(uint32_t num);
  static void Commit(Thread& thread);
  void Start(Thread& thread, const Copy& copy);
  absl::optional<std::string> Finish(Thread& thread, uint32_t pending);  // what is wrong, if anything
  absl::optional<std::string> FinishOne(Thread& thread);
  absl::optional<std::string> FinishFirst(Thread& thread, uint64_t started);
  bool MayShuffle(const TritondHostSite* site, uint32_t lane, int lanes);
  bool MayMeet(const Meeting& meeting, Wait wait, const TritondHostSite* site);
  std::unique_ptr<emulated::Machine> MakeRegisters();
  void Poll(const TritondHostSite* site);
  bool MayPoll(const TritondHostSite* site);
  const emulated::Instruction* InstructionNamed(const char* name);  // null as above
  bool MayExecute(const emulated::Instruction& instruction, const TritondHostSite* site, const char* name,
                  absl::Span<const emulated::Lane> lanes);
  bool MayExecuteTogether(const emulated::Instruction& instruction, const TritondHostSite* site, const char* name,
                          const Meeting& meeting);
  void ArriveAt(const emulated::Instruction& instruction, const TritondHostSite* site, const char* name,
                const uint64_t* in);
  bool MayArriveAt(const PartBarrier& barrier, const TritondHostSite* site, const char* name, const uint64_t* in);
  bool Arrive(PartBarrier& barrier, int warp);
  void StepAtCluster(emulated::ClusterStep step, const TritondHostSite* site);
  void Complete(PartBarrier& barrier);
  // Where the lanes that take part meet; null when this one is not among those that it names.
  Meeting* MeetingFor(const emulated::Instruction& instruction, const TritondHostSite* site, const char* name,
                      const uint64_t* in);
  // The same for an instruction that control flow may keep lanes away from. A lane waits until all others of its warp
  // have come to the call, or until nobody can go on.
  void Gather(const emulated::Instruction& instruction, const TritondHostSite* site, const char* name,
              const emulated::Lane& lane);
  bool HasGathered(const Warp& warp) const;
  // The lanes of the earliest call that lanes of `warp` wait at execute it, without those that wait elsewhere.
  bool RunGathered(Warp& warp);
  // Whether some could go on so, when no thread can.
  bool RunAnyGathered();
  bool Complain(absl::StatusCode code, absl::string_view what);  // false
  // Waits for the others of `meeting`; true in the thread that came last.
  bool Meet(Meeting& meeting, Wait wait, const TritondHostSite* site);
  void Suspend() { threads_[current_].fiber->Suspend(); }
  std::string Deadlock();
  Warp& CurrentWarp() { return warps_[current_ / launch_.warp_size]; }

  HostLaunch& launch_;
  StackPool& stacks_;
  HostCluster& cluster_;
  const int rank_;  // in the cluster
  std::unique_ptr<emulated::Machine> registers_;
  SharedMemory shared_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Meeting all_;
  std::vector<int> ready_;  // a circular queue: threads that can go on
  size_t ready_begin_ = 0;
  size_t ready_count_ = 0;
  uint32_t program_[3] = {0, 0, 0};
  uint64_t block_index_ = 0;  // in the grid
  int current_ = 0;
  int ended_ = 0;
  uint32_t ticks_ = 0;
  std::unordered_map<const char*, emulated::Instruction> instructions_;  // by the addresses of their names
  emulated::BulkCopies copies_;
  emulated::TensorMapLog maps_;
  emulated::TensorMemory tensors_;
  emulated::RegisterExchange exchange_;
  std::map<uint64_t, PartBarrier> barriers_;  // by their numbers
  std::vector<int> at_cluster_;               // threads that wait for other blocks
  int polls_ = 0;                             // in vain, since somebody last went on
  const MemoryRange* last_range_ = nullptr;   // where the last access of global memory was
};

// The functions that kernels call, on behalf of the program that the calling system thread runs.
const TritondHostRuntime& HostRuntime();

// Makes `program` the calling system thread's, for the time of this object's life.
class RunningProgram final {
 public:
  explicit RunningProgram(HostProgram& program);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_HOST_PROGRAM_H_
