// SPDX-License-Identifier: Apache-2.0
// How far apart the numbers are that the iterations of a loop make.
#ifndef COMPILER_ANALYSIS_LOOP_STEPS_H_
#define COMPILER_ANALYSIS_LOOP_STEPS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/SetVector.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Value.h"

namespace tritond::compiler {

// Numbers of which any two differ by a multiple of `step`; 0: they are all the same.
struct LoopSteps {
  int64_t step = 0;
  std::optional<int64_t> span = 0;  // the largest is at most so much above the smallest; nothing: any
};

// Of what `value` is in the iterations of the loop that begins at `header`. What other loops count may be any of its
// numbers in each of them. Nothing where constants do not tell: the loop loads a number, or multiplies two of which no
// one is constant. Tensors have the steps that each of their elements has.
//
//   %i of 0, 3, 6, …      step 3
//   %i & 63               step 1, span 63
//   %i / 3 * 128          step 128
std::optional<LoopSteps> StepsIn(mlir::Block* header, mlir::Value value, mlir::DominanceInfo& dominance);

// Adds the headers of the loops that carry what `value` is computed from.
void AddLoopsOf(mlir::Value value, mlir::DominanceInfo& dominance, llvm::SetVector<mlir::Block*>& headers);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_LOOP_STEPS_H_
