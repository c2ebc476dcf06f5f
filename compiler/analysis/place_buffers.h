// SPDX-License-Identifier: Apache-2.0
// Dynamic storage allocation: buffers with known lifetimes share one block of memory.
#ifndef COMPILER_ANALYSIS_PLACE_BUFFERS_H_
#define COMPILER_ANALYSIS_PLACE_BUFFERS_H_

#include <cstdint>

#include "absl/types/span.h"

namespace tritond::compiler {

// A buffer of `bytes` > 0 that lives in the steps [first, last) of a program.
struct TimedBuffer {
  int64_t bytes = 0;
  int64_t alignment = 1;  // a power of two
  int first = 0;
  int last = 0;
  int64_t offset = 0;  // the result
};

// Gives every buffer an offset, a multiple of its alignment, and returns the size of the memory. No two buffers that
// live in a common step overlap. The problem is NP-hard. This tries three greedy orders and stops early at one that
// needs no more than the buffers of the busiest step do. Deterministic. Takes O(n^2 log n) time.
int64_t PlaceBuffers(absl::Span<TimedBuffer> buffers);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_PLACE_BUFFERS_H_
