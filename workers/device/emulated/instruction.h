// SPDX-License-Identifier: Apache-2.0
// What the instructions of emulated GPUs do. Tables by name; nothing here knows who calls.
#ifndef WORKERS_DEVICE_EMULATED_INSTRUCTION_H_
#define WORKERS_DEVICE_EMULATED_INSTRUCTION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "workers/device/emulated/asynchronous_products.h"
#include "workers/device/emulated/bulk_copies.h"
#include "workers/device/emulated/release_clocks.h"
#include "workers/device/emulated/tensor_map_log.h"
#include "workers/device/emulated/tensor_memory.h"
#include "workers/device/host_abi.h"

namespace tritond::workers::emulated {

// What went wrong, or nothing.
using Fault = absl::optional<std::string>;

// One lane's side of an instruction: its operands, a value of at most 64 bits in each slot, as lowest bits. Null where
// control flow keeps the lane away.
struct Lane {
  int thread = 0;                // of the program
  const uint64_t* in = nullptr;  // null: the lane takes no part
  uint64_t* out = nullptr;
};

// What an instruction may touch besides registers. Implemented by the program that runs.
class Machine {
 public:
  virtual ~Machine() = default;

  // The `bytes` at a shared address, which `thread` accesses as `kind` says (host_abi.h) through the ordinary path.
  // Null, with *fault set, where it may not.
  virtual char* AccessShared(int thread, const TritondHostSite* site, uint64_t address, uint64_t bytes, uint32_t kind,
                             Fault* fault) = 0;
  // The same for a read through the path of asynchronous instructions, for all of the thread's warp. What was written
  // through the ordinary one needs a proxy fence.
  virtual const char* ReadSharedAsync(int thread, const TritondHostSite* site, uint64_t address, uint64_t bytes,
                                      Fault* fault) = 0;
  // The same for a read that an mbarrier ends, for all who wait there.
  virtual const char* PeekSharedAsync(int thread, const TritondHostSite* site, uint64_t address, uint64_t bytes,
                                      Fault* fault) = 0;
  // Global memory, checked likewise.
  virtual char* AccessGlobal(const TritondHostSite* site, uint64_t address, uint64_t bytes, uint32_t kind,
                             Fault* fault) = 0;
  // Shared memory that a bulk copy, started by `thread`, is going to write: who still accesses it races with `thread`.
  virtual char* StartReceiving(int thread, const TritondHostSite* site, uint64_t address, uint64_t bytes,
                               Fault* fault) = 0;
  // The same when the copy writes it: an mbarrier orders that, and no fence is needed.
  virtual char* ReceiveShared(const TritondHostSite* site, uint64_t address, uint64_t bytes, Fault* fault) = 0;
  // fence.proxy.async of `thread`.
  virtual void FenceAsyncProxy(int thread) = 0;
  // The matrix products in flight of the thread's warp.
  virtual AsynchronousProducts& ProductsOf(int thread) = 0;
  virtual BulkCopies& Copies() = 0;
  virtual TensorMapLog& Maps() = 0;
  // Adds to `times` what `thread` has seen and done so far; from now on it has seen what `times` says. Only the order
  // of accesses depends on it.
  virtual void Release(int thread, ReleaseClocks::Times* times) = 0;
  virtual void Acquire(int thread, const ReleaseClocks::Times& times) = 0;
  // What the thread's warp has done by now; whether `thread` knows, by barriers and what it has acquired, that it is
  // over.
  virtual Moment Now(int thread) = 0;
  virtual bool Knows(int thread, const Moment& moment) = 0;
  virtual TensorMemory& Tensors() = 0;
  // A copy of `read` bytes and then zeros, `bytes` in all, from global to shared memory, by `thread`. Until a wait,
  // what is there is undefined.
  virtual void StartCopy(int thread, const TritondHostSite* site, uint64_t to, uint64_t from, uint32_t bytes,
                         uint32_t read, Fault* fault) = 0;
  // What `thread` has started since it last did this, nothing perhaps, becomes a group of copies.
  virtual void CommitCopies(int thread) = 0;
  // `thread` waits until at most `pending` of its groups have not been copied.
  virtual void WaitForCopies(int thread, uint32_t pending, Fault* fault) = 0;
  // Whether `thread` has told the barrier that it comes, and has not waited there.
  virtual bool& HasSignalled(int thread) = 0;
  // How many copies `thread` has started in this program; the first `started` of them happen, if they have not.
  virtual uint64_t StartedCopies(int thread) = 0;
  virtual Fault FinishCopies(int thread, uint64_t started) = 0;
  // With which every thread of the program starts, where the kernel says so.
  virtual void StartWithRegisters(uint32_t registers) = 0;
  // The warp of `thread` asks for `registers` a thread, more than it had or less.
  virtual Fault SetRegisters(int thread, uint32_t registers, bool more) = 0;
  virtual void Print(absl::string_view text) = 0;
};

// One call of an instruction: by one lane, or by all of a warp, lane 0 first.
struct Call {
  Machine& machine;
  const TritondHostSite* site;
  absl::Span<const Lane> lanes;
};

using Runner = std::function<Fault(const Call&)>;

// What a thread does at the barrier of its program's blocks.
enum class ClusterStep { kNone, kArrive, kWait };

// An instruction with all its modifiers and the number of slots of each operand.
struct Instruction {
  bool is_collective = false;  // all lanes of a warp execute it together
  bool is_poll = false;        // asked again until its first result is true
  Runner run;
  int mask_slot = -1;  // the operand that says which lanes take part; -1: all of the warp
  // A barrier of some threads, which the program runs itself: operands are its number and how many threads it is for.
  bool is_barrier = false;
  bool waits = false;  // at the barrier, after it has arrived
  // The slot that says how early in the code the call is; -1: none. Of a collective instruction that some lanes of a
  // warp may execute while control flow keeps the others away: those that are earliest come first.
  int order_slot = -1;
  // Touches registers alone: whoever waits for something in a loop gets no nearer by it.
  bool is_arithmetic = false;
  ClusterStep cluster = ClusterStep::kNone;  // which the program's blocks run themselves
};

// The instruction of `name`, its operands' sizes after blanks: "ptx:mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// 4 2 1 4", results first. "host:barrier.sync 1 1" of the host; "amdgcn:" and "spirv:" and what ParseAmdName takes for
// AMD's and Intel's. InvalidArgument, naming it, when there is none. Slashes are as good as dots: the code has those.
absl::StatusOr<Instruction> FindInstruction(absl::string_view name);

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_INSTRUCTION_H_
