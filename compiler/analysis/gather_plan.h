// SPDX-License-Identifier: Apache-2.0
// By which way tt.gather takes its elements. This is the one place that allocation and lowering both ask.
#ifndef COMPILER_ANALYSIS_GATHER_PLAN_H_
#define COMPILER_ANALYSIS_GATHER_PLAN_H_

#include "compiler/ir/ttg_dialect.h"
#include "compiler/layout/bank_spread.h"
#include "compiler/layout/linear_layout.h"
#include "compiler/layout/register_moves.h"
#include "compiler/layout/shared_memory_shape.h"

namespace tritond::compiler {

struct GatherPlan {
  enum class Kind {
    kMoves,     // indices are known, and each warp holds what it wants: `moves`
    kShuffles,  // each warp holds the whole axis of what it wants: lanes ask others for what `source` says
    kShared,    // the source goes through shared memory
  };
  Kind kind = Kind::kShared;
  // From (register', lane', warp', block', "index") to (register, lane, warp, block) of the source (FindGatherSources),
  // where there is such a map.
  std::optional<LinearLayout> source;
  RegisterMoves moves;
  double slots = 0;  // issue slots of a warp
};

// The cheapest way. Both tensors have distributed encodings.
GatherPlan PlanGather(tt::GatherOp op);
// The same if its tensors had these layouts.
GatherPlan PlanGather(tt::GatherOp op, const LinearLayout& src, const LinearLayout& dst);

// How shared memory spreads the source, if the result has the layout `dst`. It does not where indices lead anywhere.
BankSpread SpreadOfGather(tt::GatherOp op, const LinearLayout& dst, const SharedMemoryShape& shape);

// The bits of a source register's number that depend on the index or the thread.
int32_t ChosenRegisters(const LinearLayout& source);
// Whether lanes find all that they want in their own registers.
bool StaysInLane(const LinearLayout& source);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_GATHER_PLAN_H_
