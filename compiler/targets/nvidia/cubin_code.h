// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_NVIDIA_CUBIN_CODE_H_
#define COMPILER_TARGETS_NVIDIA_CUBIN_CODE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tritond::compiler::nvidia {

// What the instructions of a kernel tell, by which two assemblies of one text are compared.
struct CubinCode {
  size_t bytes = 0;
  size_t loop_bytes = 0;  // of these, those of innermost loops
  size_t locals = 0;      // instructions of innermost loops that access local memory; without loops, of all code
  size_t all_locals = 0;  // the same of all code
  size_t waits = 0;       // for wgmma
  size_t barriers = 0;    // of innermost loops
  size_t specials = 0;    // instructions of innermost loops that read a special register, as the thread's number
  // Of innermost loops with products of mma: bytes, and the cycles in which a warp issues an iteration of each if it is
  // alone and waits for no memory; the same if it waits for what it reads from shared memory.
  size_t product_bytes = 0, product_cycles = 0, product_latency = 0;
  // What a thread loads from global memory in an iteration of each innermost loop, in bytes, and how long the iteration
  // takes: so many times as long as memory needs to answer. An instruction waits for the loads whose results it needs,
  // and for those that hold the same scoreboard. Without loops, the same of the whole code: of each way through it.
  int64_t loaded = 0;
  double latencies = 0;
  int ways = 0;                // loops or ways that load
  double least_latencies = 0;  // if each iteration or way waited once

  // Bytes that are on their way at once, on average; 0: none are loaded there.
  double AtOnce() const { return latencies > 0 ? static_cast<double>(loaded) / latencies : 0; }
};

// Nothing where the bytes are no cubin with this kernel. For devices from sm_80 on.
CubinCode CodeOfCubin(absl::string_view cubin, const std::string& kernel, int compute_capability);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_CUBIN_CODE_H_
