// SPDX-License-Identifier: Apache-2.0
// Prefetches of blocks of a matrix in memory, by the functions of OpenCL's extension cl_intel_subgroup_2d_block_io.
#ifndef COMPILER_TARGETS_INTEL_PLAN_BLOCK_PREFETCH_H_
#define COMPILER_TARGETS_INTEL_PLAN_BLOCK_PREFETCH_H_

#include <cstdint>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace tritond::compiler::intel {

// How the warps share the blocks of a tile. A block is `rows` rows of `bytes` bytes. Block b begins in row
// b / across * rows, at byte b % across * bytes. Warp w brings the blocks w, w + warps, …, as far as there are any. All
// numbers are powers of two.
struct BlockPrefetchPlan {
  int rows = 1, bytes = 32;
  int across = 1, blocks = 1;

  // "_Z45intel_sub_group_2d_block_prefetch_8b_16r32x2cPU3AS1viiiDv2_i". A cache does not care for elements: they are
  // bytes.
  std::string mangled() const;
};

// For a tile of so many rows of `row_bytes`, both powers of two: as many blocks as warps. There are more if blocks of
// the largest size do not cover the tile, and fewer if it has too few rows.
BlockPrefetchPlan PlanBlockPrefetch(int64_t rows, int64_t row_bytes, int warps);

// Whether a function that is called so, as mangled, is one of these.
bool IsBlockPrefetch(llvm::StringRef mangled);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_PLAN_BLOCK_PREFETCH_H_
