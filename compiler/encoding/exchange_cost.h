// SPDX-License-Identifier: Apache-2.0
// What it costs that threads exchange elements, in instructions of one thread. These are issue slots of a
// multiprocessor that issues for four warps a cycle. In a cycle shared memory moves one word for each lane of one warp,
// and one warp shuffles; so either takes four slots.
#ifndef COMPILER_ENCODING_EXCHANGE_COST_H_
#define COMPILER_ENCODING_EXCHANGE_COST_H_

#include "compiler/ir/tt_dialect.h"
#include "compiler/layout/linear_layout.h"

namespace tritond::compiler {

inline constexpr double kBarrier = 40;      // two barriers and the addresses of a trip through shared memory
inline constexpr double kSharedWord = 6;    // a word stored or loaded there
inline constexpr double kVectorWord = 2;    // a word loaded there four at a time
inline constexpr double kShuffledWord = 4;  // a word sent to another lane

// A scan of operands under `layout`, which is scannable (IsScannable), as lowering does it.
double ScanCost(tt::ScanOp scan, const LinearLayout& layout);

// A reduction of operands under `layout`, which is reducible (IsReducible), as lowering does it.
double ReductionCost(tt::ReduceOp reduce, const LinearLayout& layout);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_EXCHANGE_COST_H_
