// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipelining/loop_schedule.h"

#include "compiler/ir/prefetchable.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

std::optional<int> IntAttr(Operation* op, llvm::StringRef name) {
  auto value = op->getAttrOfType<mlir::IntegerAttr>(name);
  return value ? std::optional<int>(static_cast<int>(value.getInt())) : std::nullopt;
}

}  // namespace

int LatencyOf(Operation* op) { return IntAttr(op, kLatencyAttr).value_or(0); }

bool IsPrefetched(Operation* op) { return LatencyOf(op) > 0 && llvm::isa<ttg::PrefetchableOpInterface>(op); }

bool IsBuffered(Operation* op) { return LatencyOf(op) > 0 && !op->hasAttr(kInRegistersAttr) && !IsPrefetched(op); }

void EraseScheduleAttrs(Operation* op) {
  for (llvm::StringRef name :
       {kStageAttr, kClusterAttr, kLatencyAttr, kInRegistersAttr, kFirstAttr, kReadOnAttr, kInPlaceAttr, kLateAttr})
    op->removeAttr(name);
}

llvm::SmallVector<Value> UsesOf(Operation* op) {
  llvm::SetVector<Value> uses(op->operand_begin(), op->operand_end());
  for (mlir::Region& region : op->getRegions()) mlir::getUsedValuesDefinedAbove(region, uses);
  return uses.takeVector();
}

std::optional<LoopSchedule> LoopSchedule::Read(ForOp loop) {
  std::optional<int> max_stage = IntAttr(loop, kMaxStageAttr);
  if (!max_stage || *max_stage < 1 || *max_stage >= kMaxStages) return std::nullopt;
  LoopSchedule schedule;
  schedule.max_stage_ = *max_stage;
  int last_cluster = 0;
  for (Operation& op : loop.getBody()->without_terminator()) {
    int stage = IntAttr(&op, kStageAttr).value_or(*max_stage);
    int latency = LatencyOf(&op);
    if (stage < 0 || stage > *max_stage || latency < 0 || latency > *max_stage - stage) return std::nullopt;
    schedule.stages_[&op] = stage;
    schedule.ends_late_ |= op.hasAttr(kLateAttr) && stage == *max_stage;
    schedule.order_.push_back(&op);
    last_cluster = std::max(last_cluster, IntAttr(&op, kClusterAttr).value_or(0));
  }
  schedule.ends_late_ &= llvm::all_of(schedule.order_, [&](Operation* op) {
    return schedule.StageOf(op) < *max_stage || (mlir::isPure(op) && !IsDivision(op));
  });
  auto cluster = [&](Operation* op) { return IntAttr(op, kClusterAttr).value_or(last_cluster); };
  llvm::stable_sort(schedule.order_, [&](Operation* x, Operation* y) { return cluster(x) < cluster(y); });
  for (auto [position, op] : llvm::enumerate(schedule.order_)) schedule.positions_[op] = position;
  return schedule;
}

bool LoopSchedule::IsLegal(ForOp loop) const {
  for (Operation* op : order_) {
    int stage = StageOf(op);
    const bool is_last = stage == max_stage_ || (IsPrefetched(op) && ResultStageOf(op) == max_stage_);
    if (!is_last && !MayRunEarly(op)) return false;
    for (Value use : UsesOf(op))
      if (!IsThere(loop, use, stage, op, 0)) return false;
  }
  return llvm::all_of(loop.getYieldedValues(),
                      [&](Value value) { return IsThere(loop, value, max_stage_, nullptr, 0); });
}

// `user` is null where the value is needed only at the end of the new iteration.
bool LoopSchedule::IsThere(ForOp loop, Value value, int stage, Operation* user, int depth) const {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    if (argument.getOwner() != loop.getBody() || argument == loop.getInductionVar()) return true;
    // What the iteration before has yielded. A multibuffer of arguments that only move is followed once.
    if (depth > static_cast<int>(loop.getNumRegionIterArgs())) return true;
    return IsThere(loop, loop.getTiedLoopYieldedValue(argument)->get(), stage, nullptr, depth + 1);
  }
  Operation* op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody()) return true;
  int there = ResultStageOf(op);
  if (there != stage || !user || IsBuffered(op) || IsPrefetched(op)) return there <= stage;
  return positions_.lookup(op) < positions_.lookup(user);
}

bool IsDivision(Operation* op) {
  return llvm::isa<mlir::arith::DivSIOp, mlir::arith::DivUIOp, mlir::arith::RemSIOp, mlir::arith::RemUIOp,
                   mlir::arith::CeilDivSIOp, mlir::arith::CeilDivUIOp, mlir::arith::FloorDivSIOp>(op);
}

bool MayRunEarly(Operation* op) {
  if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) return !load.getIsVolatile();
  if (auto branch = llvm::dyn_cast<mlir::scf::IfOp>(op)) {
    auto result = branch->walk([&](Operation* inner) {
      const bool may = llvm::isa<mlir::scf::IfOp>(inner) || IsDivision(inner) || mlir::isPure(inner);
      return may ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
    });
    return !result.wasInterrupted();
  }
  return IsDivision(op) || mlir::isPure(op);
}

}  // namespace tritond::compiler
