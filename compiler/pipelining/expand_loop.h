// SPDX-License-Identifier: Apache-2.0
// Makes a loop in which iterations overlap out of one in which they follow each other.
#ifndef COMPILER_PIPELINING_EXPAND_LOOP_H_
#define COMPILER_PIPELINING_EXPAND_LOOP_H_

#include <functional>

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// What a step may ask while it is emitted for one iteration.
class StepContext {
 public:
  virtual ~StepContext() = default;
  // A value of the old loop's body, as it is in the step's iteration; one of the step's `uses`.
  virtual mlir::Value Get(mlir::Value value) = 0;
  // What this new iteration has made for `value`, one of an earlier step's `defines`, whatever iteration that step is
  // at.
  virtual mlir::Value OfNewIteration(mlir::Value value) = 0;
  // Whether the old loop has that iteration (i1); null: it has.
  virtual mlir::Value Exists() = 0;
  // Whether the old loop has run an iteration, this one or one before it.
  virtual bool HasRun() const = 0;
  // The slot (i32) of a multibuffer for the new iteration that is `ahead` new iterations from now. The multibuffer has
  // `size` slots and is advanced by one slot a new iteration. So it is the slot of the new iteration size - ahead new
  // iterations ago. `ahead` is less than 3.
  virtual mlir::Value Slot(int size, int ahead) = 0;
};

// Something done once in each iteration.
struct LoopStep {
  int stage = 0;
  llvm::SmallVector<mlir::Value> uses;     // values of the old loop's body or from outside
  llvm::SmallVector<mlir::Value> defines;  // values of the old loop's body
  bool runs_after = false;                 // also where the last stage alone runs after the loop
  // Emits code; the result stands for `defines`.
  std::function<llvm::SmallVector<mlir::Value>(mlir::OpBuilder&, StepContext&)> emit;
};

struct ExpandedLoop {
  mlir::scf::ForOp loop;
  mlir::Operation* end;  // the last operation that was made
};

// Whether the bounds are such that ExpandLoop can tell which iterations there are without overflow.
bool CanExpand(mlir::scf::ForOp loop);

// Replaces `loop` by one with the same bounds in whose new iteration t each step runs for iteration t - stage, in the
// order of `steps`. The first `max_stage` new iterations, of those steps that have an iteration already, come before
// the new loop. In its last `max_stage` new iterations steps run for iterations that are not there. `multibuffers`:
// sizes that steps ask slots of. The new loop has the old one's attributes. Every value must be made by a step before
// its uses: see LoopSchedule::IsLegal.
//
// `last_after`: the new loop has an iteration less. What steps of the last stage, and those with runs_after, do in it
// comes after the loop, also where the old loop has no iteration.
ExpandedLoop ExpandLoop(mlir::scf::ForOp loop, int max_stage, llvm::ArrayRef<LoopStep> steps,
                        llvm::ArrayRef<int> multibuffers, bool last_after = false);

}  // namespace tritond::compiler

#endif  // COMPILER_PIPELINING_EXPAND_LOOP_H_
