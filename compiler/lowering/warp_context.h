// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_WARP_CONTEXT_H_
#define COMPILER_LOWERING_WARP_CONTEXT_H_

#include <optional>

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"

namespace tritond::compiler {

// The number of the barrier of a function's warps, where others are launched with them.
inline constexpr int kBarrierOfFunction = 0;

// The warps of a block that run a region together, and what lowering has computed once for all of the region. The body
// of a function has one; each partition of a warp-specialised kernel has another.
struct WarpContext {
  int num_warps = 0;
  int first_warp = 0;            // in the block
  std::optional<int> barrier;    // the number of theirs; none: the warps are those of the block
  mlir::Block* leave = nullptr;  // where a partition goes on after its end

  // Null until somebody asks.
  mlir::Value thread_id, lane, warp, global_scratch;
};

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_WARP_CONTEXT_H_
