// SPDX-License-Identifier: Apache-2.0
// The schedule of a loop whose iterations shall overlap, and the attributes that carry it from pass to pass.
#ifndef COMPILER_PIPELINING_LOOP_SCHEDULE_H_
#define COMPILER_PIPELINING_LOOP_SCHEDULE_H_

#include <optional>

#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// The most stages of a loop: each but the last is a copy of the body in front of it.
inline constexpr int kMaxStages = 32;

// i32 attributes. Of a loop: the iterations that shall be in flight; the last stage of its schedule.
inline constexpr llvm::StringLiteral kNumStagesAttr = "tt.num_stages";
inline constexpr llvm::StringLiteral kMaxStageAttr = "tt.scheduled_max_stage";
// Of a load in a loop: the stages between its start, or that of its prefetch, and the first use of what it loads.
inline constexpr llvm::StringLiteral kLatencyAttr = "tt.latency";
// Beside a latency: what is loaded waits in registers, not in a buffer.
inline constexpr llvm::StringLiteral kInRegistersAttr = "loop.in_registers";
// Beside it: the load comes before what the iteration computes, and takes other registers than the one before.
inline constexpr llvm::StringLiteral kFirstAttr = "loop.first";
// Beside a latency: the buffer has one slot more, as a dot may read it until that of the next iteration has begun.
inline constexpr llvm::StringLiteral kReadOnAttr = "loop.read_on";
// Beside a latency: the buffer has one slot less. The copy goes where its iteration has read, after the reads.
inline constexpr llvm::StringLiteral kInPlaceAttr = "loop.in_place";
// Of a dot that shall be an iteration behind the dots that make its operand a (dots/late_dots.h).
inline constexpr llvm::StringLiteral kLateAttr = "loop.late";
// Of an operation of a loop's body: its stage, and its place among the operations of one iteration of the new loop.
// Lower clusters come first; within a cluster the old order stays.
inline constexpr llvm::StringLiteral kStageAttr = "loop.stage";
inline constexpr llvm::StringLiteral kClusterAttr = "loop.cluster";

// Zero without the attribute.
int LatencyOf(mlir::Operation* op);
// Whether what `op` loads shall go through a buffer in shared memory.
bool IsBuffered(mlir::Operation* op);
// Whether what `op` reads shall be brought into a cache that many iterations ahead; the read itself stays in place.
bool IsPrefetched(mlir::Operation* op);
// Takes the schedule's attributes off an operation of a loop's body.
void EraseScheduleAttrs(mlir::Operation* op);

// The values that `op` takes from outside, those that its regions capture included, each once.
llvm::SmallVector<mlir::Value> UsesOf(mlir::Operation* op);

// An operation of iteration i in stage s runs in iteration i + s of the new loop.
class LoopSchedule final {
 public:
  // Of the loop's attributes; nullopt when it has none, or such that make no sense. Operations without attributes are
  // in the last stage and cluster. Stages are within [0, max_stage()], those of results too.
  static std::optional<LoopSchedule> Read(mlir::scf::ForOp loop);

  int max_stage() const { return max_stage_; }
  // Whether the last stage is that of a late dot. It may run after the loop, so that the other stages need not run for
  // an iteration that the loop does not have.
  bool EndsLate() const { return ends_late_; }
  // The body's operations but for the terminator, in the order of one iteration.
  llvm::ArrayRef<mlir::Operation*> order() const { return order_; }
  int StageOf(mlir::Operation* op) const { return stages_.lookup(op); }
  // The stage from which on the results of `op` are there.
  int ResultStageOf(mlir::Operation* op) const {
    return StageOf(op) + (IsBuffered(op) || IsPrefetched(op) ? LatencyOf(op) : 0);
  }

  // True when two conditions hold. Every operation finds its operands made. Everything that may run for iterations that
  // the loop does not have can be kept from doing harm.
  bool IsLegal(mlir::scf::ForOp loop) const;

 private:
  bool IsThere(mlir::scf::ForOp loop, mlir::Value value, int stage, mlir::Operation* user, int depth) const;

  int max_stage_ = 0;
  bool ends_late_ = false;
  llvm::SmallVector<mlir::Operation*> order_;
  llvm::DenseMap<mlir::Operation*, int> stages_, positions_;
};

// Whether the operation may run for an iteration that does not exist. It is pure, or a load or division that can be
// told so (see pipeline.cc).
bool MayRunEarly(mlir::Operation* op);
bool IsDivision(mlir::Operation* op);

}  // namespace tritond::compiler

#endif  // COMPILER_PIPELINING_LOOP_SCHEDULE_H_
