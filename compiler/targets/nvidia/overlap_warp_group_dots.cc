// SPDX-License-Identifier: Apache-2.0
// wgmma runs beside the threads that issued it. This pass lets it, and makes the threads wait as late as they can:
//
//   scf.for … iter_args(%sum = %zero) {                 %r = scf.for … iter_args(%sum = %zero) {
//     … copies …                                           … copies …
//     %d = ttng.warp_group_dot %a, %b, %sum                %d = ttng.warp_group_dot %a, %b, %sum {in_flight}
//     scf.yield %d                                  ->      ttng.warp_group_wait buffers %bufs {pending = 1}
//   }                                                      scf.yield %d
//   use %r                                              }
//                                                       %s = ttng.warp_group_wait %r buffers %bufs {pending = 0}
//                                                       use %s
//
// 1. Dots that are ready come before those that wait for threads; where none outlives its iteration, dots move up to
//    before its copies (hoist_dots.cc). Where all do, copies that wait for one move down after what threads compute,
//    or after the dot (delay_copies.cc).
// 2. A dot must have ended before the first operation, in the order of execution, that
//    - uses its accumulators, but as the c of another dot, which adds to the same registers;
//    - may write a buffer that it reads. Two slots of one multibuffer are apart if their distance, iterations counted,
//      is no multiple of its size;
//    - may write the registers of its operand a anew, in the next iteration (operand_registers.h). ptxas keeps them for
//      a dot in flight where the code does not write them, and reuses them at once where it does.
//    Where there is none up to the end of the iteration, the search goes on in the next one, up to the dot itself, and
//    the wait follows it: the tensor cores then have the next dot when the first one ends. Where threads fill a buffer
//    of the dot, the wait precedes it: the barrier after what they fill then orders their waits, too. Groups end in
//    order, so a wait leaves in flight as many dots as have been issued since the one that it is for. Those in inner
//    blocks do not count: fewer is safe.
//    A dot that nothing but the end of the block waits for ends with the next one whose result is used at once. There
//    it gives back its buffers.
//    Where only a branch uses the accumulators, and passes them on (carried_accumulators.h), the branch waits for
//    itself.
// 3. A dot that takes a from registers keeps these, and what it waits for keeps its own: where a multiprocessor would
//    hold fewer blocks of the grid for that, it ends in its iteration. Other blocks overlap with it better.
// 4. Dots in flight keep their buffers. Where a block of dots without a loop has more of these than there is room for,
//    the first dots end where the next buffer wants their room. So they do where a multiprocessor then holds more
//    blocks, which overlap with each other.
//
// The buffers of a dot that outlives its iteration have to outlive it too. They are multibuffers of the pipeline, those
// that multibuffer_operands.cc makes, or fixed. Barriers come later (insert_barriers.cc), and see that a wait ends
// reads of its buffers. What a thread fills after its own wait, the others have ended to read, too.
#include "compiler/analysis/alias.h"
#include "compiler/analysis/scratch.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/contains.h"
#include "compiler/targets/nvidia/carried_accumulators.h"
#include "compiler/targets/nvidia/delay_copies.h"
#include "compiler/targets/nvidia/dot_buffers.h"
#include "compiler/targets/nvidia/hoist_dots.h"
#include "compiler/targets/nvidia/multibuffer_operands.h"
#include "compiler/targets/nvidia/operand_registers.h"
#include "compiler/targets/nvidia/passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_OVERLAPWARPGROUPDOTSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

using mlir::Block;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;
using ttng::WarpGroupDotOp;

// What a thread has in registers beside accumulators and operands, in words, as measured of real kernels.
constexpr int64_t kOtherRegisters = 40;

// Whether the use adds to the accumulators where they are.
bool IsAddition(mlir::OpOperand& use, const Block* block) {
  auto dot = llvm::dyn_cast<WarpGroupDotOp>(use.getOwner());
  return dot && dot->getBlock() == block && ttng::AddsToResult(dot) && &use == &dot.getCMutable() &&
         use.get().hasOneUse();
}

// A branch that uses the accumulators of a dot, and its result that they are on either way.
struct Reader {
  mlir::scf::IfOp branch;
  WarpGroupDotOp dot;
  unsigned result;
};

// Where a dot has to have ended: before `op`, in its own iteration or in the next one.
struct End {
  Operation* op;
  bool in_next_iteration = false;
};

// The dots of one block.
class DotsOfBlock final {
 public:
  // `missing_bytes`: by how much all buffers of the function, each in its own place, exceed shared memory.
  DotsOfBlock(Block& block, const BufferAliases& aliases, const BlockLimits& limits, int64_t missing_bytes)
      : block_(block),
        aliases_(aliases),
        limits_(limits),
        missing_bytes_(missing_bytes),
        loop_(llvm::dyn_cast_or_null<ForOp>(block.getParentOp())) {
    for (auto dot : block.getOps<WarpGroupDotOp>())
      if (ttng::AddsToResult(dot)) dots_.push_back(dot);
  }

  void Run() {
    Operation* waited_for = nullptr;  // the next dot that does not go on, and so ends those before it
    for (WarpGroupDotOp dot : llvm::reverse(dots_)) {
      End end = EndOf(dot);
      if (end.op == block_.getTerminator() && waited_for && !HasTensorMemory(dot)) end.op = waited_for->getNextNode();
      if (!end.in_next_iteration && !IsAnythingBetween(dot, end.op)) {
        waited_for = dot;
        continue;
      }
      ends_.push_back({dot, end});
    }
    std::reverse(ends_.begin(), ends_.end());
    EndForRoom();
    for (auto& [dot, end] : ends_) in_flight_.insert(dot);
    for (auto& [dot, end] : ends_) AddWait(dot, end);
    EndTogether();
    DropLateWaits();
    for (WarpGroupDotOp dot : in_flight_) dot.setInFlight(true);
    for (auto& [at, wait] : waits_) {
      mlir::OpBuilder b(at.first);
      Emit(b, at.first->getLoc(), wait);
    }
    for (const Reader& reader : readers_) EmitWaitsIn(reader);
    EmitWaitAfterLoop();
  }

 private:
  using Ends = llvm::SmallVector<std::pair<WarpGroupDotOp, End>>;

  struct Wait {
    llvm::SmallSetVector<Value, 2> accumulators, buffers;
    size_t pending = ttng::kMostPending;
  };

  End EndOf(WarpGroupDotOp dot) {
    Operation* terminator = block_.getTerminator();
    const auto makers = MakersOfOperandA(dot);
    auto uses = [&](Operation* op) { return !IsReader(op, dot) && UsesAccumulators(op, dot.getD()); };
    for (Operation* op = dot->getNextNode(); op != terminator; op = op->getNextNode())
      if (uses(op) || makers.contains(op) || MayWrite(op, dot, /*iterations=*/0, aliases_)) return {op};
    std::optional<CarriedAccumulators> carried = MayCarry(dot);
    if (!carried || CostsBlocks(dot)) return {carried && carried->reader ? carried->reader.getOperation() : terminator};
    for (Operation* op = &block_.front(); op != dot.getOperation(); op = op->getNextNode()) {
      if (UsesAccumulators(op, carried->next) || makers.contains(op) || MayWrite(op, dot, /*iterations=*/1, aliases_))
        return {op, /*in_next_iteration=*/true};
    }
    // The dot of the next iteration may wait behind this one. An mbarrier, which tcgen05 has, knows two phases only.
    // Sums that something else uses as well are copied in front of the dot.
    if (IsFilledByThreads(dot) || HasTensorMemory(dot) || UsesAccumulators(dot, carried->next))
      return {dot, /*in_next_iteration=*/true};
    return {dot->getNextNode(), /*in_next_iteration=*/true};
  }

  // The buffers of a dot that are made in its block.
  llvm::SmallSetVector<ttg::LocalAllocOp, 2> OwnBuffersOf(WarpGroupDotOp dot) {
    llvm::SmallSetVector<ttg::LocalAllocOp, 2> own;
    for (Value buffer : BuffersOf(dot))
      if (auto made = RootOf(buffer).getDefiningOp<ttg::LocalAllocOp>(); made && made->getBlock() == &block_)
        own.insert(made);
    return own;
  }

  // Where the first dots in flight end where a buffer is made for which there is no room beside theirs. And what their
  // buffers then take at most.
  std::pair<Ends, int64_t> EndedForRoom(int64_t room) {
    Ends ends = ends_;
    int64_t held = 0, most = 0;
    llvm::DenseMap<ttg::LocalAllocOp, int> dots_of;  // that have not ended
    for (auto& [dot, end] : ends)
      for (ttg::LocalAllocOp made : OwnBuffersOf(dot)) ++dots_of[made];
    auto first = ends.begin();
    for (auto made : block_.getOps<ttg::LocalAllocOp>()) {
      for (; held + BufferBytes(made.getType()) > room && first != ends.end(); ++first) {
        auto& [dot, end] = *first;
        if (end.in_next_iteration || made->isBeforeInBlock(dot)) break;
        if (made->isBeforeInBlock(end.op)) end.op = made;
        for (ttg::LocalAllocOp each : OwnBuffersOf(dot))
          if (--dots_of[each] == 0) held -= BufferBytes(each.getType());
      }
      if (dots_of.contains(made)) held += BufferBytes(made.getType());
      most = std::max(most, held);
    }
    llvm::erase_if(ends, [](auto& each) {
      return !each.second.in_next_iteration && !IsAnythingBetween(each.first, each.second.op);
    });
    return {ends, most};
  }

  void EndForRoom() {
    int64_t own = 0, scratch = 0;
    for (auto made : block_.getOps<ttg::LocalAllocOp>()) own += BufferBytes(made.getType());
    if (missing_bytes_ > 0) ends_ = EndedForRoom(own - missing_bytes_).first;
    if (loop_ || limits_.registers == 0 || ends_.empty()) return;
    // Buffers that are made elsewhere stay; operations in between need room for themselves.
    for (Operation* op = ends_.front().first; op && op != ends_.back().second.op; op = op->getNextNode())
      scratch = std::max(scratch, ScratchBytes(op));
    const int64_t others = scratch - own;
    const int64_t words = PeakRegisters(block_) + kOtherRegisters;
    auto blocks = [&](int64_t bytes) { return limits_.Blocks(ends_.front().first, words, others + bytes); };
    const int64_t least = EndedForRoom(0).second, now = EndedForRoom(own).second;
    if (blocks(least) <= blocks(now)) return;
    ends_ = EndedForRoom(limits_.shared_bytes / blocks(least) - limits_.buffer_bytes - others).first;
  }

  bool IsFilledByThreads(WarpGroupDotOp dot) {
    const auto buffers = BuffersOf(dot);
    return llvm::any_of(block_.getOps<ttg::LocalStoreOp>(), [&](ttg::LocalStoreOp store) {
      return llvm::any_of(buffers, [&](Value buffer) { return RootOf(buffer) == RootOf(store.getDst()); });
    });
  }

  // Whether a multiprocessor holds fewer blocks if the dot outlives its iteration with its registers.
  bool CostsBlocks(WarpGroupDotOp dot) {
    auto a = llvm::dyn_cast<mlir::RankedTensorType>(dot.getA().getType());
    if (!a || limits_.registers == 0) return false;
    int64_t words = kOtherRegisters;
    for (WarpGroupDotOp each : dots_) words += Words(llvm::cast<mlir::RankedTensorType>(each.getType()));
    int64_t held = Words(a);
    int64_t threads = static_cast<int64_t>(ttg::NumWarps(dot)) * ttg::ThreadsPerWarp(dot);
    auto blocks = [&](int64_t of_thread) {
      return std::min(limits_.registers / (threads * std::min(of_thread, kMostRegisters)), limits_.most_blocks);
    };
    return blocks(words + held) < blocks(words);
  }

  static int64_t Words(mlir::RankedTensorType type) {
    return ttg::ToLinearLayout(type).InSize("register") * type.getElementTypeBitWidth() / 32;
  }

  // Where the accumulators are in the next iteration. Nullopt where the dot cannot be in flight until then.
  std::optional<CarriedAccumulators> MayCarry(WarpGroupDotOp dot) {
    std::optional<CarriedAccumulators> carried = CarriedAccumulatorsOf(dot);
    if (!carried || (carried->reader && HasTensorMemory(dot))) return std::nullopt;
    for (Value buffer : BuffersOf(dot))
      if (!loop_.isDefinedOutsideOfLoop(RootOf(buffer))) return std::nullopt;
    // Registers that the loop carries may be overwritten at the end of the iteration.
    if (auto a = llvm::dyn_cast<BlockArgument>(dot.getA()); a && a.getOwner() == &block_) return std::nullopt;
    return carried;
  }

  // Whether `op` is a branch that waits for the dot itself.
  bool IsReader(Operation* op, WarpGroupDotOp dot) {
    if (!llvm::isa<mlir::scf::IfOp>(op)) return false;
    std::optional<CarriedAccumulators> carried = MayCarry(dot);
    return carried && carried->reader == op;
  }

  bool UsesAccumulators(Operation* op, Value accumulators) {
    return llvm::any_of(accumulators.getUses(), [&](mlir::OpOperand& use) {
      return op->isAncestor(use.getOwner()) && !IsAddition(use, &block_);
    });
  }

  // Whether it pays to let `dot` go on until `op`: something other than views of buffers comes in between.
  static bool IsAnythingBetween(WarpGroupDotOp dot, Operation* op) {
    for (Operation* between = dot->getNextNode(); between != op; between = between->getNextNode())
      if (!IsView(between) && !between->hasTrait<mlir::OpTrait::ConstantLike>()) return true;
    return false;
  }

  // The dots in flight that are issued after `dot` and before its end.
  size_t IssuedSince(WarpGroupDotOp dot, const End& end) const {
    size_t issued = 0;
    for (WarpGroupDotOp each : in_flight_) {
      Operation *op = each, *self = dot;
      bool after = self->isBeforeInBlock(op), before = op->isBeforeInBlock(end.op);
      issued += end.in_next_iteration ? after + before : after && before;
    }
    return issued;
  }

  void AddWait(WarpGroupDotOp dot, const End& end) {
    Wait& wait = waits_[{end.op, end.in_next_iteration}];
    wait.pending = std::min(wait.pending, IssuedSince(dot, end));
    if (!end.in_next_iteration) {
      wait.buffers.insert_range(BuffersOf(dot));
      if (llvm::any_of(dot->getUses(), [&](mlir::OpOperand& use) { return !IsAddition(use, &block_); }))
        wait.accumulators.insert(dot.getD());
      return;
    }
    auto [carried, reader] = *MayCarry(dot);
    if (reader) {
      auto result = llvm::cast<mlir::OpResult>(loop_.getTiedLoopYieldedValue(carried)->get());
      readers_.push_back({reader, dot, result.getResultNumber()});
    }
    for (Value buffer : BuffersOf(dot)) wait.buffers.insert(RootOf(buffer));
    if (llvm::any_of(carried.getUses(), [&](mlir::OpOperand& use) { return !IsAddition(use, &block_); }))
      wait.accumulators.insert(carried);
    outliving_.push_back({dot, loop_.getTiedLoopResult(carried)});
  }

  // Where threads read the accumulators of several dots of the iteration before, the first wait ends them all. ptxas
  // does not follow from one iteration to the next which of them a wait leaves in flight, and has all products wait
  // (C7514).
  void EndTogether() {
    auto read = llvm::make_filter_range(
        waits_, [](const auto& each) { return each.first.second && !each.second.accumulators.empty(); });
    if (llvm::range_size(read) < 2) return;
    for (auto& [at, wait] : waits_)
      if (at.second && !wait.accumulators.empty()) wait.pending = 0;
  }

  // A wait that comes when its dots have ended, by an earlier wait for others, becomes part of that one. ptxas takes it
  // for one that leaves accumulators in flight which threads read (C7514).
  void DropLateWaits() {
    llvm::SmallVector<std::pair<Operation*, int>> late;
    for (auto& [at, wait] : waits_) {
      if (!wait.accumulators.empty()) continue;
      for (auto& [other, earlier] : waits_) {
        if (other == at || llvm::is_contained(late, other)) continue;
        if (!EndsAllOf({at.first, at.second != 0}, other.first, earlier)) continue;
        earlier.buffers.insert_range(wait.buffers);
        late.push_back(at);
        break;
      }
    }
    for (const auto& at : late) waits_.erase(at);
  }

  // Whether the dots that have to have ended at `end` have done so behind `wait`, which is at `op`.
  bool EndsAllOf(End end, Operation* op, const Wait& wait) const {
    return llvm::all_of(ends_, [&](const auto& each) {
      if (each.second.op != end.op || each.second.in_next_iteration != end.in_next_iteration) return true;
      Operation* dot = each.first;
      auto ends = [&](bool next) { return wait.pending <= IssuedSince(each.first, {op, next}); };
      const bool precedes = op->isBeforeInBlock(end.op);
      if (dot->isBeforeInBlock(op) && (precedes || end.in_next_iteration) && ends(false)) return true;
      return precedes && end.in_next_iteration && ends(true);
    });
  }

  void Emit(mlir::OpBuilder& b, mlir::Location loc, const Wait& wait) {
    llvm::SmallVector<Value> accumulators(wait.accumulators.begin(), wait.accumulators.end());
    auto made = ttng::WarpGroupWaitOp::create(b, loc, mlir::ValueRange(accumulators).getTypes(), accumulators,
                                              wait.buffers.getArrayRef(), wait.pending);
    for (auto [sum, ended] : llvm::zip(accumulators, made.getResults()))
      sum.replaceUsesWithIf(ended, [&](mlir::OpOperand& use) {
        return use.getOwner() != made && !IsAddition(use, use.getOwner()->getBlock());
      });
  }

  // Where a branch uses the accumulators of a dot, it waits for all dots. So it does where it copies them to a result
  // of its own beside the one that keeps their registers.
  static void EmitWaitsIn(Reader reader) {
    WarpGroupDotOp dot = reader.dot;
    for (mlir::Region* region : {&reader.branch.getThenRegion(), &reader.branch.getElseRegion()}) {
      auto is_inside = [&](mlir::OpOperand& use) { return region->isAncestor(use.getOwner()->getParentRegion()); };
      auto reads = [&](mlir::OpOperand& use) {
        const bool is_yielded = use.getOwner() == region->front().getTerminator();
        return is_inside(use) && !(is_yielded && use.getOperandNumber() == reader.result);
      };
      if (llvm::none_of(dot.getD().getUses(), reads)) continue;
      mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(&region->front());
      auto wait = ttng::WarpGroupWaitOp::create(b, dot.getLoc(), dot.getD().getType(), dot.getD(), BuffersOf(dot),
                                                /*pending=*/0);
      dot.getD().replaceUsesWithIf(wait.getResults()[0],
                                   [&](mlir::OpOperand& use) { return is_inside(use) && use.getOwner() != wait; });
    }
  }

  void EmitWaitAfterLoop() {
    if (outliving_.empty()) return;
    Wait wait;
    wait.pending = 0;
    for (auto& [dot, result] : outliving_) {
      for (Value buffer : BuffersOf(dot)) wait.buffers.insert(RootOf(buffer));
      if (!result.use_empty()) wait.accumulators.insert(result);
    }
    mlir::OpBuilder b(block_.getParentOp());
    b.setInsertionPointAfter(loop_);
    Emit(b, loop_.getLoc(), wait);
  }

  Block& block_;
  const BufferAliases& aliases_;
  const BlockLimits limits_;
  const int64_t missing_bytes_;
  ForOp loop_;  // null: the block is no body of one
  llvm::SmallVector<WarpGroupDotOp> dots_;
  llvm::SmallSetVector<WarpGroupDotOp, 4> in_flight_;
  Ends ends_;
  llvm::MapVector<std::pair<Operation*, int>, Wait> waits_;        // by `op` and `in_next_iteration` of their end
  llvm::SmallVector<std::pair<WarpGroupDotOp, Value>> outliving_;  // with the loop's result
  llvm::SmallVector<Reader> readers_;
};

class OverlapWarpGroupDotsPass : public impl::OverlapWarpGroupDotsPassBase<OverlapWarpGroupDotsPass> {
 public:
  using OverlapWarpGroupDotsPassBase::OverlapWarpGroupDotsPassBase;

 private:
  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      if (!Contains<WarpGroupDotOp>(function)) continue;
      const int64_t buffers = AllocatedBytes(function);
      BlockLimits limits{registers, max_shared_bytes + reserved_shared_bytes, buffers + reserved_shared_bytes,
                         BlocksOfGrid(function, multiprocessors)};
      // That nothing in the function takes, if nothing shares its place.
      int64_t free_bytes = max_shared_bytes - buffers - 2 * MostScratchBytes(function);
      llvm::SmallVector<ForOp> loops;
      function.walk([&](ForOp loop) { loops.push_back(loop); });
      for (ForOp loop : loops) MultibufferOperands(loop, free_bytes, limits);
      BufferAliases aliases(function);
      llvm::SmallSetVector<Block*, 4> blocks;
      function.walk([&](WarpGroupDotOp dot) { blocks.insert(dot->getBlock()); });
      for (Block* block : blocks) AdvanceReadyDots(*block, aliases, limits);
      for (Block* block : blocks) HoistDots(*block, aliases);
      for (Block* block : blocks) DelayCopies(*block, aliases, limits, products);
      for (Block* block : blocks) DotsOfBlock(*block, aliases, limits, -free_bytes).Run();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
