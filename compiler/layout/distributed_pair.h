// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_DISTRIBUTED_PAIR_H_
#define COMPILER_LAYOUT_DISTRIBUTED_PAIR_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/layout/linear_layout.h"

namespace tritond::compiler {

// The inputs of a distributed layout, from the narrowest scope to the widest. They are registers of a thread (one
// element each), threads of a warp, warps of a block, and blocks of a cluster.
inline constexpr absl::string_view kHardwareDims[] = {"register", "lane", "warp", "block"};

// Two placements of one tensor, spelled alike: both have exactly the inputs kHardwareDims, in that order, and the
// outputs of `src`, in its order. Hardware dimensions that a layout lacked have size 1.
struct DistributedPair {
  LinearLayout src;
  LinearLayout dst;
};

// InvalidArgument when the tensors' shapes differ, or a layout has an input that is none of kHardwareDims. Also when
// the two disagree on the number of lanes, warps or blocks.
absl::StatusOr<DistributedPair> MakeDistributedPair(const LinearLayout& src, const LinearLayout& dst);

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_DISTRIBUTED_PAIR_H_
