// SPDX-License-Identifier: Apache-2.0
// Spreads the operations of a loop over stages. Each load with a tt.latency is started so many iterations before its
// first use:
//
//   %p = tt.addptr …                            loop.stage 0, loop.cluster 0
//   %a = tt.load %p {tt.latency = 2}            loop.stage 0, loop.cluster 0
//   %d = tt.dot %a, …                           loop.stage 2, loop.cluster 1
//
// The distance of an operation is the longest way, in latencies, from it to the end of the iteration. A load's stage is
// the largest distance minus its own. What a load needs for its address and mask, in this iteration or from those
// before, goes to the load's stage. All else to the last one. In an iteration of the new loop later stages come
// first, as they work on older iterations, but the last comes at the end. The copies of the iteration are then
// under way while it computes. Loads into registers are made just before the first dot. By then the values of the new
// iteration before have left the registers for shared memory. Those with loop.first come with what their addresses are
// made of. Copies with loop.in_place come last.
//
// A dot with loop.late is one stage behind all else, with what scales its accumulators; its load starts one iteration
// later. In an iteration of the new loop it then comes right after the dots that the next one waits for. It runs beside
// what threads compute of these:
//
//   %s = tt.dot %q, %k                          loop.stage 1, loop.cluster 2
//   %p = math.exp2 %s                           loop.stage 1, loop.cluster 4
//   %d = tt.dot %p, %v, %acc {loop.late}        loop.stage 2, loop.cluster 3
//
// A loop that has a schedule already keeps it. One whose loads depend on what the last stage of the iteration before
// has computed keeps its order.
#include "compiler/dots/late_dots.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_schedule.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SCHEDULELOOPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

class Scheduler final {
 public:
  explicit Scheduler(ForOp loop) : loop_(loop) {}

  void Run() {
    if (!FindDistances()) return Erase();
    if (max_stage_ < 1) return;
    late_ = FindLateDot(loop_);
    if (late_ && late_->dot->hasAttr(kLateAttr)) {
      if (RunLate()) return;
      late_->dot->removeAttr(kLateAttr);
      stages_.clear();
      arguments_.clear();
    }
    for (Operation& op : loop_.getBody()->without_terminator())
      stages_[&op] = LatencyOf(&op) > 0 ? max_stage_ - distances_[&op] : max_stage_;
    for (Operation& op : loop_.getBody()->without_terminator())
      if (LatencyOf(&op) > 0)
        for (Value operand : op.getOperands()) PullForward(operand, stages_[&op]);
    Write();
    if (!IsLegal()) Erase();
  }

 private:
  // False where there would be too many stages.
  bool FindDistances() {
    for (Operation& op : llvm::reverse(loop_.getBody()->without_terminator())) {
      int distance = 0;
      for (Operation* user : op.getUsers())
        distance = std::max(distance, distances_.lookup(loop_.getBody()->findAncestorOpInBlock(*user)));
      if (LatencyOf(&op) >= kMaxStages - distance) return false;
      distances_[&op] = distance + LatencyOf(&op);
      if (LatencyOf(&op) > 0) max_stage_ = std::max(max_stage_, distances_[&op]);
    }
    return true;
  }

  bool IsLegal() {
    std::optional<LoopSchedule> schedule = LoopSchedule::Read(loop_);
    return schedule && schedule->IsLegal(loop_);
  }

  // With the late dot in a stage of its own. False where that is not legal. In an iteration of the new loop there are
  //
  //   copies, and their addresses; later stages first
  //   what scales the accumulators of the late dot: no dot runs yet that would have to wait for it
  //   the dots that feed the late one, and what they are made of
  //   the late dot
  //   all else
  bool RunLate() {
    // Copies come too early for slots that are still to be read.
    if (llvm::any_of(loop_.getBody()->without_terminator(), [](Operation& op) { return IsCopyInPlace(&op); }))
      return false;
    const int last = max_stage_ + 1;
    mlir::Builder b(loop_.getContext());
    llvm::DenseMap<Operation*, int> clusters;
    auto body = loop_.getBody()->without_terminator();
    for (Operation& op : body) {
      const bool is_late = late_->operations.contains(&op), feeds = late_->feeding.contains(&op);
      stages_[&op] = is_late ? last : max_stage_;
      if (LatencyOf(&op) > 0) stages_[&op] = max_stage_ - distances_[&op] + (&op == late_->load.getOperation() ? 1 : 0);
      clusters[&op] = max_stage_ + (&op == late_->dot.getOperation() ? 2 : is_late ? 0 : feeds ? 1 : 3);
    }
    llvm::SetVector<Operation*> early;
    for (Operation& op : body)
      if (LatencyOf(&op) > 0) AddSlice(&op, early);
    for (Operation& op : body)
      if (LatencyOf(&op) > 0)
        for (Value operand : op.getOperands()) PullForward(operand, stages_[&op]);
    for (Operation* op : early) clusters[op] = std::max(0, max_stage_ - 1 - stages_[op]);
    for (Operation& op : body) {
      op.setAttr(kStageAttr, b.getI32IntegerAttr(stages_[&op]));
      op.setAttr(kClusterAttr, b.getI32IntegerAttr(clusters[&op]));
    }
    loop_->setAttr(kMaxStageAttr, b.getI32IntegerAttr(last));
    return IsLegal();
  }

  // `op` and what it is made of in the body.
  void AddSlice(Operation* op, llvm::SetVector<Operation*>& slice) {
    if (!op || op->getBlock() != loop_.getBody() || !slice.insert(op)) return;
    for (Value use : UsesOf(op)) AddSlice(use.getDefiningOp(), slice);
  }

  // Makes `value` no later than in `stage`.
  void PullForward(Value value, int stage) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      if (argument.getOwner() != loop_.getBody() || argument == loop_.getInductionVar()) return;
      auto [pulled, is_new] = arguments_.try_emplace(argument, stage);
      if (!is_new && pulled->second <= stage) return;
      pulled->second = stage;
      return PullForward(loop_.getTiedLoopYieldedValue(argument)->get(), stage);
    }
    Operation* op = value.getDefiningOp();
    if (op->getBlock() != loop_.getBody() || LatencyOf(op) > 0 || stages_[op] <= stage) return;
    stages_[op] = stage;
    for (Value use : UsesOf(op)) PullForward(use, stage);
  }

  // Copies into the slots that their iteration of the new loop has read, and what they alone need in their stage.
  llvm::SmallPtrSet<Operation*, 8> CopiesInPlace() {
    llvm::SmallPtrSet<Operation*, 8> last;
    llvm::SmallSet<int, kMaxStages> stages;
    for (auto load : loop_.getBody()->getOps<tt::LoadOp>())
      if (IsCopyInPlace(load)) stages.insert(stages_[load]);
    for (Operation& op : llvm::reverse(loop_.getBody()->without_terminator())) {
      const int stage = stages_[&op];
      if (!stages.contains(stage) || op.hasAttr(kInRegistersAttr)) continue;
      const bool is_alone = llvm::all_of(op.getUsers(), [&](Operation* user) {
        user = loop_.getBody()->findAncestorOpInBlock(*user);
        return llvm::isa<mlir::scf::YieldOp>(user) || stages_[user] != stage || last.contains(user);
      });
      if (IsCopyInPlace(&op) || is_alone) last.insert(&op);
    }
    return last;
  }

  // Loads into registers have no slot.
  static bool IsCopyInPlace(Operation* op) { return op->hasAttr(kInPlaceAttr) && IsBuffered(op); }

  void Write() {
    mlir::Builder b(loop_.getContext());
    loop_->setAttr(kMaxStageAttr, b.getI32IntegerAttr(max_stage_));
    auto waiting = llvm::make_filter_range(loop_.getBody()->getOps<tt::LoadOp>(),
                                           [](tt::LoadOp load) { return load->hasAttr(kInRegistersAttr); });
    const auto copies_in_place = CopiesInPlace();
    const int into_registers = max_stage_ + 1, from_first_dot = max_stage_ + 2, in_place = max_stage_ + 3;
    int last_cluster = max_stage_;
    for (Operation& op : loop_.getBody()->without_terminator()) {
      int stage = stages_[&op], cluster = stage == max_stage_ ? last_cluster : max_stage_ - 1 - stage;
      // The first dot and what follows come after the loads into registers.
      if (stage == max_stage_ && last_cluster == max_stage_ && llvm::isa<tt::DotOpInterface>(op) && !waiting.empty())
        cluster = last_cluster = from_first_dot;
      if (op.hasAttr(kInRegistersAttr) && !op.hasAttr(kFirstAttr)) cluster = into_registers;
      if (copies_in_place.contains(&op)) cluster = in_place;
      op.setAttr(kStageAttr, b.getI32IntegerAttr(stage));
      op.setAttr(kClusterAttr, b.getI32IntegerAttr(cluster));
    }
  }

  void Erase() {
    loop_->removeAttr(kMaxStageAttr);
    for (Operation& op : *loop_.getBody()) EraseScheduleAttrs(&op);
  }

  ForOp loop_;
  int max_stage_ = 0;  // but for that of the late dot
  llvm::DenseMap<Operation*, int> distances_, stages_;
  llvm::DenseMap<Value, int> arguments_;
  std::optional<LateDot> late_;
};

class ScheduleLoopsPass : public impl::ScheduleLoopsPassBase<ScheduleLoopsPass> {
  void runOnOperation() override {
    getOperation().walk([](ForOp loop) {
      if (!loop->hasAttr(kMaxStageAttr)) Scheduler(loop).Run();
    });
  }
};

}  // namespace
}  // namespace tritond::compiler
