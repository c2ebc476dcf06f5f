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
#include "workers/device/host_abi.h"

namespace tritond::workers::emulated {

// What went wrong, or nothing.
using Fault = absl::optional<std::string>;

// One lane's side of an instruction: its operands, a value of at most 64 bits in each slot, as lowest bits.
struct Lane {
  int thread = 0;  // of the program
  const uint64_t* in = nullptr;
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
  // The same for a read through the path of asynchronous instructions, for all of the thread's warp: what was written
  // through the ordinary one needs a proxy fence.
  virtual const char* ReadSharedAsync(int thread, const TritondHostSite* site, uint64_t address, uint64_t bytes,
                                      Fault* fault) = 0;
  // Global memory, checked likewise.
  virtual char* AccessGlobal(const TritondHostSite* site, uint64_t address, uint64_t bytes, uint32_t kind,
                             Fault* fault) = 0;
  // Shared memory that a bulk copy writes: an mbarrier orders it, and no fence is needed.
  virtual char* ReceiveShared(const TritondHostSite* site, uint64_t address, uint64_t bytes, Fault* fault) = 0;
  // fence.proxy.async of `thread`.
  virtual void FenceAsyncProxy(int thread) = 0;
  // The matrix products in flight of the thread's warp.
  virtual AsynchronousProducts& ProductsOf(int thread) = 0;
  virtual BulkCopies& Copies() = 0;
  virtual void Print(absl::string_view text) = 0;
};

// One call of an instruction: by one lane, or by all of a warp, lane 0 first.
struct Call {
  Machine& machine;
  const TritondHostSite* site;
  absl::Span<const Lane> lanes;
};

using Runner = std::function<Fault(const Call&)>;

// An instruction with all its modifiers and the number of slots of each operand.
struct Instruction {
  bool is_collective = false;  // all lanes of a warp execute it together
  bool is_poll = false;        // asked again until its first result is true
  Runner run;
};

// The instruction of `name`, its operands' sizes behind blanks: "ptx:mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// 4 2 1 4", results first; "amdgcn:" and the name of LLVM's intrinsic for AMD's. InvalidArgument, naming it, when there
// is none.
// Slashes are as good as dots: the code has those.
absl::StatusOr<Instruction> FindInstruction(absl::string_view name);

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_INSTRUCTION_H_
