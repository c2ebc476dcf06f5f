// SPDX-License-Identifier: Apache-2.0
// Candidates that are dropped before they cost anything. Those that a device cannot run are dropped before they compile
// where their options tell, and before they run where their binaries tell. So are those that spill where others do not.
#ifndef SERVER_AUTOTUNE_PRUNE_H_
#define SERVER_AUTOTUNE_PRUNE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tritond::server {

// What a device offers. 0: unknown, and no reason to drop anything.
struct DeviceLimits {
  uint32_t threads_per_program = 0;
  uint32_t programs_per_cluster = 0;
  uint64_t shared_bytes_per_program = 0;
  uint32_t registers_per_thread = 0;
  // Of a multiprocessor, which several programs share.
  uint32_t threads = 0;
  uint32_t programs = 0;
  uint64_t shared_bytes = 0;
  uint64_t registers = 0;
};

// What is known of a kernel; 0 where nothing is.
struct KernelFacts {
  uint32_t num_warps = 0;
  uint32_t warp_size = 32;
  uint32_t num_ctas = 1;
  uint64_t shared_bytes = 0;      // a program's
  uint32_t registers = 0;         // a thread's
  uint32_t spill_bytes = 0;       // a thread's
  uint32_t programs_at_once = 0;  // of a multiprocessor, as the driver says
  uint32_t Threads() const { return num_warps * warp_size; }
};

// Why the device cannot run such a kernel, as a sentence; "" when nothing speaks against it. Good for facts from
// options alone and for those of a binary.
std::string WhyImpossible(const KernelFacts& facts, const DeviceLimits& limits);

// How many programs a multiprocessor holds at once, by what each takes: the driver's word where it is known. 0 when
// the limits are unknown.
uint32_t ProgramsAtOnce(const KernelFacts& facts, const DeviceLimits& limits);

struct PrunePolicy {
  uint32_t spill_bytes = 256;  // a thread may spill so much more than the candidate that spills least
  // A multiprocessor holds fewer threads than this share of what the candidate with the most threads reaches. Few
  // threads can be right (large tiles of matrix products), so that the share is small.
  double occupancy_share = 1.0 / 32;
};

// For each kernel why it is not worth a run beside the others, or "". Kernels with `dropped` are left out of account.
// Never drops all.
std::vector<std::string> WhyUnpromising(const std::vector<KernelFacts>& kernels, const std::vector<bool>& dropped,
                                        const DeviceLimits& limits, const PrunePolicy& policy);

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_PRUNE_H_
