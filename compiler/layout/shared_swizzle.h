// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_SHARED_SWIZZLE_H_
#define COMPILER_LAYOUT_SHARED_SWIZZLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/layout/linear_layout.h"
#include "compiler/layout/shared_memory_shape.h"

// Shared memory for a tensor on its way from one distributed layout to another. All offsets count elements.
namespace tritond::compiler {

struct SharedSwizzle {
  // offset -> tensor, with the outputs of `src`; one to one. Holds for block 0; block b holds the same XOR src(0, 0, 0,
  // b).
  LinearLayout memory;
  // (register, lane, warp, block) -> offset in the memory of that block, for `src` and for `dst`.
  LinearLayout store;
  LinearLayout load;
  // Elements of an access: powers of two, at most access_bits in all. See OrderByOffset for their registers.
  int32_t store_vec = 1;
  int32_t load_vec = 1;
};

// Chooses where elements lie so that src stores and dst loads are as wide as both allow and free of bank conflicts (see
// CountBankConflicts). Elements that a thread holds on both sides become the vectors; where these do not fill a word,
// registers of one side alone do. Where the shape has tiles (shared_tiles.h), a side may move by them, if that takes
// fewer cycles in all. `store_vec` and `load_vec` are then what single lanes could do. `element_bits` is 8, 16, 32
// or 64. Registers that repeat data are allowed, but each takes an access of its own unless the caller skips it.
// InvalidArgument for other sizes, for layouts that do not place one tensor, and when data would have to cross blocks.
absl::StatusOr<SharedSwizzle> ChooseSwizzle(const LinearLayout& src, const LinearLayout& dst, int32_t element_bits,
                                            const SharedMemoryShape& shape = {});

// The elements of the widest access that `to_offset`, (register, lane, ...) -> offset, permits. This is the largest
// power of two n, with n * element_bits <= max_bits, for which two conditions hold. Every thread's registers fall into
// groups that fill aligned runs of n offsets. The groups and their order are the same in all threads.
int32_t LargestAccess(const LinearLayout& to_offset, int32_t element_bits, int32_t max_bits);

// The registers by ascending offset, each offset once (the lowest of its registers). With vec = LargestAccess, entries
// [k * vec, (k + 1) * vec) make up access k: consecutive offsets, the first a multiple of vec.
std::vector<int32_t> OrderByOffset(const LinearLayout& to_offset);

// The extra cycles when all lanes of all warps of a block make their accesses of `vec` elements, as OrderByOffset gives
// them. They are the sum over warps, accesses and phases of (the most distinct words in one bank) - 1. 0 is
// conflict-free. Simulates every access; for tests and diagnostics. `vec` is at most LargestAccess.
int64_t CountBankConflicts(const LinearLayout& to_offset, int32_t element_bits, int32_t vec,
                           const SharedMemoryShape& shape = {});

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_SHARED_SWIZZLE_H_
