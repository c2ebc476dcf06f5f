// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_SHARED_MEMORY_SHAPE_H_
#define COMPILER_LAYOUT_SHARED_MEMORY_SHAPE_H_

#include <cstdint>

namespace tritond::compiler {

// Shared memory serves one word of each bank at a time. An access wider than a word is served in phases, each of as
// many consecutive lanes as fill all banks. With 32 banks these are 8 lanes for 128 bits, and 16 lanes for 64 bits
// (CUDA C++ Programming Guide, "Shared Memory"). Lanes that touch one word share it.
struct SharedMemoryShape {
  int32_t banks = 32;         // a power of two
  int32_t word_bits = 32;     // of one bank
  int32_t access_bits = 128;  // the widest access of one lane
  // Whether a warp loads and stores matrices at once (shared_tiles.h).
  bool tile_loads = false;
  bool tile_stores = false;
};

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_SHARED_MEMORY_SHAPE_H_
