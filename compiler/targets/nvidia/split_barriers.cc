// SPDX-License-Identifier: Apache-2.0
// Lets the warp groups of a block run apart. The copies of a pipelined loop go to all warps' buffers, so that each
// iteration has a barrier of the block. All groups start their dots there at once: the tensor cores then stand still
// while all compute. Here the barrier is split: warps arrive early in an iteration at a mbarrier, for the wait at the
// beginning of the next one:
//
//                                                      %b = ttg.local_alloc, ttng.init_barrier %b, 8
//                                                      ttg.async_wait %g0
//                                                      ttng.arrive_barrier_by_warps %b
//   scf.for … iter_args(%u = %g0) {                    scf.for … iter_args(%u = %g0, %phase = 0) {
//     ttg.async_wait %u                                  ttng.wait_barrier %b, %phase
//     (a barrier, by insert_barriers.cc)                 ttg.async_copy_global_to_local …, %bufs[%i + 1] {ordered}
//     ttg.async_copy_global_to_local …, %bufs[%i + 1]    %g = ttg.async_commit_group
//     %g = ttg.async_commit_group                  ->    ttng.warp_group_dot %bufs[%i] {ordered}
//     ttng.warp_group_dot %bufs[%i]                      ttg.async_wait %g
//     … what threads compute                             ttng.arrive_barrier_by_warps %b
//     scf.yield %g                                       … what threads compute
//   }                                                    scf.yield %g, %phase ^ 1
//                                                      }
//                                                      ttng.wait_barrier, ttng.inval_barrier
//
// Between the arrival P(i) and the wait W(i + 1) other warps may be anywhere from P(i) to W(i + 2). What makes that
// safe:
// - What is read after W(i + 1) was there before P(i): the wait for the copies moves there.
// - A copy of iteration i + 1 goes to another slot of its multibuffer than any read of iterations i - 1 to i + 1, but
//   for reads that have ended before P(i).
// - Nothing else in the loop touches shared memory: it would need a barrier of the block anyway.
// - What is read before the loop, for iterations that begin there, is over: a barrier of the block comes first.
//
// Where all copies are of whole blocks that tensors' descriptors name, bulk copies take their place (bulk_copies.cc).
// These need no barrier of the block either, also where it has one warp group, or warps multiply alone (tt.dot). There
// the loop may touch other shared memory, with barriers of its own.
#include "compiler/analysis/barriers.h"
#include "compiler/analysis/scratch.h"
#include "compiler/targets/nvidia/block_limits.h"
#include "compiler/targets/nvidia/bulk_copies.h"
#include "compiler/targets/nvidia/dot_buffers.h"
#include "compiler/targets/nvidia/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SPLITBARRIERSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;
using ttng::WarpGroupDotOp;

constexpr int kGroupWarps = 4;
// Of shared memory: the mbarriers of a loop, tensor maps on their way, gaps in front of aligned buffers.
constexpr int64_t kSmallBytes = 1024;

// An access to buffers that goes on until `end`, in its own iteration or in the next one.
struct Read {
  Operation* op;
  llvm::SmallVector<Value> buffers;
  Operation* end;
  bool ends_in_next = false;
};

bool IsDot(Operation& op) { return llvm::isa<WarpGroupDotOp, tt::DotOp>(op); }

bool Touches(Operation* op) {
  auto result = op->walk([](Operation* inner) {
    auto is_buffer = [](mlir::Type type) { return llvm::isa<ttg::MemDescType>(type); };
    const bool touches = llvm::isa<tt::CallOp, ttg::BarrierOp>(inner) || ScratchBytes(inner) > 0 ||
                         (!IsView(inner) && (llvm::any_of(inner->getOperandTypes(), is_buffer) ||
                                             llvm::any_of(inner->getResultTypes(), is_buffer)));
    return touches ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

class LoopBarrier final {
 public:
  // `loop_maps`: tensor maps may be made in loops.
  LoopBarrier(ForOp loop, const BufferAliases& aliases, bool loop_maps)
      : loop_(loop), aliases_(aliases), loop_maps_(loop_maps) {}

  // Whether the loop can do without the barrier, and gains by it.
  bool Find() {
    if (!FindAccesses() || !FindEnds() || !FindFirstCopies()) return false;
    if (!FindArrival() && !MayArriveAtCopies()) return false;
    bulk_ = BulkCopies::Find(loop_, wait_, copies_, first_copies_, arrival_, loop_maps_);
    if (bulk_ && !bulk_->Pays()) bulk_.reset();
    return bulk_ || (has_group_dots_ && arrival_ && !has_barriers_ && ttg::NumWarps(loop_) > kGroupWarps);
  }

  // `may_keep_buffers`: they need not share their memory with anything.
  void Apply(TensorMapMaker& maps, bool may_keep_buffers);

 private:
  void Split();
  bool FindAccesses();
  bool MayTouchMultibuffers(Operation* op);
  bool FindEnds();
  bool FindFirstCopies();
  bool ReadsBefore();
  bool FindArrival();
  bool MayArrive(Operation* before);
  bool MayArriveAtCopies();
  bool Overlap(Operation* copy, const Read& read, int iterations) {
    return MayWrite(copy, read.buffers, loop_, iterations, aliases_);
  }
  bool IsOfMultibuffer(Value buffer) const { return llvm::is_contained(multibuffers_, RootOf(buffer)); }
  // Of the group that the next iteration's wait is for.
  Value NextToken() { return loop_.getTiedLoopYieldedValue(llvm::cast<BlockArgument>(wait_.getTokens()[0]))->get(); }

  ForOp loop_;
  const BufferAliases& aliases_;
  const bool loop_maps_;
  ttg::AsyncWaitOp wait_;
  llvm::SmallVector<Operation*> copies_, dot_waits_;  // of the body
  llvm::SmallVector<Operation*> first_copies_;        // before the loop
  llvm::SmallVector<Value> multibuffers_;
  llvm::SmallVector<Read> reads_;
  Operation* arrival_ = nullptr;  // in front of which warps arrive
  bool has_barriers_ = false;     // of the block, for other shared memory
  bool has_group_dots_ = false;
  std::optional<BulkCopies> bulk_;
};

// Whether `op` or what it contains accesses more than buffers of its own, or other ones than the copies fill.
bool LoopBarrier::MayTouchMultibuffers(Operation* op) {
  auto result = op->walk([&](Operation* inner) {
    auto is_multibuffer = [&](Value value) {
      return llvm::isa<ttg::MemDescType>(value.getType()) && IsOfMultibuffer(value);
    };
    const bool may =
        llvm::isa<tt::CallOp, ttg::AsyncWaitOp>(inner) || llvm::any_of(inner->getOperands(), is_multibuffer);
    return may ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool LoopBarrier::FindAccesses() {
  mlir::Block* body = loop_.getBody();
  llvm::SmallVector<Operation*> others;  // that touch shared memory
  for (Operation& op : body->without_terminator()) {
    if (auto wait = llvm::dyn_cast<ttg::AsyncWaitOp>(op)) {
      auto token = wait.getTokens().size() == 1 ? llvm::dyn_cast<BlockArgument>(wait.getTokens()[0]) : BlockArgument();
      if (wait_ || !token || token.getOwner() != body || !copies_.empty() || !reads_.empty()) return false;
      wait_ = wait;
    } else if (auto copy = llvm::dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(op)) {
      multibuffers_.push_back(RootOf(copy.getResult()));
      copies_.push_back(copy);
    } else if (auto dot = llvm::dyn_cast<WarpGroupDotOp>(op)) {
      reads_.push_back({dot, BuffersOf(dot), dot});
      has_group_dots_ = true;
    } else if (auto load = llvm::dyn_cast<ttg::LocalLoadOp>(op)) {
      reads_.push_back({load, {load.getSrc()}, load});
    } else if (llvm::isa<ttng::WarpGroupWaitOp>(op)) {
      dot_waits_.push_back(&op);
    } else if (!llvm::isa<ttg::AsyncCommitGroupOp>(op) && Touches(&op)) {
      others.push_back(&op);
    }
  }
  has_barriers_ = !others.empty();
  if (llvm::any_of(others, [&](Operation* op) { return MayTouchMultibuffers(op); })) return false;
  return wait_ && !copies_.empty() && llvm::all_of(multibuffers_, [&](Value buffer) {
           return buffer.getDefiningOp<ttg::LocalAllocOp>() && loop_.isDefinedOutsideOfLoop(buffer);
         });
}

// Dots that are not in flight end all dots before them. A wait that names a dot's buffers ends it unless the dot is one
// of those that it leaves in flight.
bool LoopBarrier::FindEnds() {
  for (Read& read : reads_) {
    auto dot = llvm::dyn_cast<WarpGroupDotOp>(read.op);
    if (!dot || !dot.getInFlight()) continue;
    auto names = [&](ttng::WarpGroupWaitOp wait) {
      return llvm::any_of(wait.getBuffers(), [&](Value buffer) {
        return llvm::any_of(read.buffers, [&](Value own) { return RootOf(own) == RootOf(buffer); });
      });
    };
    read.end = nullptr;
    size_t issued = 0;  // dots in flight after this one
    auto ends = [&](Operation& op) {
      if (auto wait = llvm::dyn_cast<ttng::WarpGroupWaitOp>(op)) return names(wait) && wait.getPending() <= issued;
      auto other = llvm::dyn_cast<WarpGroupDotOp>(op);
      issued += other ? 1 : 0;
      return other && !other.getInFlight();
    };
    mlir::Block* body = loop_.getBody();
    auto rest = llvm::make_range(std::next(dot->getIterator()), body->end());
    if (auto end = llvm::find_if(rest, ends); end != rest.end()) {
      read.end = &*end;
    } else if (auto next = llvm::find_if(*body, ends); next != body->end()) {
      read.end = &*next;
      read.ends_in_next = true;
    } else {
      return false;
    }
  }
  return true;
}

// The copies of the first iterations are in order with the loop's reads, too.
bool LoopBarrier::FindFirstCopies() {
  bool all_before = true;
  loop_->getParentOfType<tt::FuncOp>().walk([&](ttg::AsyncCopyGlobalToLocalOp copy) {
    if (!IsOfMultibuffer(copy.getResult()) || llvm::is_contained(copies_, copy)) return;
    all_before &= copy->getBlock() == loop_->getBlock() && copy->isBeforeInBlock(loop_);
    first_copies_.push_back(copy);
  });
  return all_before;
}

// Whether some of the buffers are read in front of the loop, for iterations that begin there.
bool LoopBarrier::ReadsBefore() {
  return llvm::any_of(*loop_->getBlock(), [&](Operation& op) {
    llvm::SmallVector<Value> buffers;
    if (auto dot = llvm::dyn_cast<WarpGroupDotOp>(op)) buffers = BuffersOf(dot);
    if (auto load = llvm::dyn_cast<ttg::LocalLoadOp>(op)) buffers = {load.getSrc()};
    return op.isBeforeInBlock(loop_) && llvm::any_of(buffers, [&](Value buffer) { return IsOfMultibuffer(buffer); });
  });
}

// Whether warps may arrive in front of `before`.
bool LoopBarrier::MayArrive(Operation* before) {
  for (const Read& read : reads_) {
    if (!llvm::any_of(read.buffers, [&](Value buffer) { return IsOfMultibuffer(buffer); })) continue;
    const bool ended = read.end->isBeforeInBlock(before);
    for (Operation* copy : copies_) {
      if (Overlap(copy, read, 0)) return false;
      if ((read.ends_in_next || !ended) && Overlap(copy, read, 1)) return false;
      if (read.ends_in_next && !ended && Overlap(copy, read, 2)) return false;
    }
  }
  return true;
}

// Whether warps are done in front of the body's copies with all that these write. Those of the iteration before are
// over there, and of those of the same iteration the ones that read the same slot.
bool LoopBarrier::MayArriveAtCopies() {
  Operation* first = copies_.front();
  return llvm::all_of(reads_, [&](const Read& read) {
    const bool has_ended = read.end->isBeforeInBlock(first);
    if (read.ends_in_next && !has_ended) return false;
    if (!read.ends_in_next && has_ended && read.op->isBeforeInBlock(first)) return true;
    return llvm::none_of(copies_, [&](Operation* copy) { return Overlap(copy, read, 0); });
  });
}

// As early as can be, so that groups may run far apart; but the first dot of the iteration does not wait for it.
bool LoopBarrier::FindArrival() {
  Operation* begin = &*llvm::find_if(*loop_.getBody(), IsDot);
  if (Operation* commit = NextToken().getDefiningOp(); commit && commit->getBlock() == loop_.getBody())
    if (begin->isBeforeInBlock(commit)) begin = commit;
  for (Operation* op = begin->getNextNode(); op; op = op->getNextNode()) {
    if (!MayArrive(op)) continue;
    arrival_ = op;
    return true;
  }
  return false;
}

void LoopBarrier::Apply(TensorMapMaker& maps, bool may_keep_buffers) {
  mlir::OpBuilder b(loop_);
  auto order = [&](llvm::ArrayRef<Operation*> ops) {
    for (Operation* op : ops) op->setAttr(kOrderedAttr, b.getUnitAttr());
  };
  for (const Read& read : reads_) order(read.op);
  order(dot_waits_);
  order(copies_);
  order(first_copies_);
  if (!bulk_) return Split();
  if (ReadsBefore()) {
    ttg::BarrierOp::create(b, loop_.getLoc(), "local");
  } else if (may_keep_buffers) {
    bulk_->GoOnFromTileToTile();
  }
  bulk_->Apply(maps);
}

void LoopBarrier::Split() {
  mlir::IRRewriter b(loop_);
  mlir::Location loc = loop_.getLoc();
  Value barrier = ttg::LocalAllocOp::create(b, loc, ttng::PlainBufferType({1}, b.getI64Type()), Value());
  ttng::InitBarrierOp::create(b, loc, barrier, ttg::NumWarps(loop_));
  Value token = loop_.getTiedLoopInit(llvm::cast<BlockArgument>(wait_.getTokens()[0]))->get();
  // Without it each iteration would have one.
  if (ReadsBefore()) ttg::BarrierOp::create(b, loc, "local");
  Value first = ttg::AsyncWaitOp::create(b, loc, token, static_cast<int>(wait_.getNum()));
  ttng::ArriveBarrierByWarpsOp::create(b, loc, barrier);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
  Value next = NextToken();
  auto yields = [&](mlir::OpBuilder& inner, mlir::Location at, llvm::ArrayRef<BlockArgument> arguments) {
    mlir::OpBuilder before(arrival_);
    auto moved = ttg::AsyncWaitOp::create(before, wait_.getLoc(), next, static_cast<int>(wait_.getNum()));
    ttng::ArriveBarrierByWarpsOp::create(before, wait_.getLoc(), barrier);
    Value one = arith::ConstantIntOp::create(inner, at, 1, 32);
    Value phase = arith::XOrIOp::create(inner, at, arguments[0], one);
    return llvm::SmallVector<Value>{phase, moved.getToken()};
  };
  auto loop = llvm::cast<ForOp>(
      (*loop_.replaceWithAdditionalYields(b, {zero, first}, /*replaceInitOperandUsesInLoop=*/false, yields))
          .getOperation());
  auto arguments = loop.getRegionIterArgs().take_back(2);
  auto wait_for = [&](Value phase) {
    ttng::WaitBarrierOp::create(b, loc, barrier, phase, /*pred=*/Value(), /*deps=*/mlir::ValueRange());
  };
  b.setInsertionPoint(wait_);
  wait_for(arguments[0]);
  b.replaceOp(wait_, arguments[1]);
  b.setInsertionPointAfter(loop);
  wait_for(loop.getResults().take_back(2)[0]);
  ttng::InvalBarrierOp::create(b, loc, barrier);
}

class SplitBarriersPass : public impl::SplitBarriersPassBase<SplitBarriersPass> {
 public:
  using SplitBarriersPassBase::SplitBarriersPassBase;

 private:
  // Whether as many blocks are resident where no two buffers share their memory.
  bool MayKeepBuffers(tt::FuncOp function) {
    const int64_t scratch = MostScratchBytes(function), buffers = AllocatedBytes(function) + kSmallBytes;
    if (buffers + scratch > max_shared_bytes) return false;
    const BlockLimits limits{registers, max_shared_bytes + reserved_shared_bytes, reserved_shared_bytes};
    const int64_t words = LeastRegisters(function);
    return limits.Blocks(function, words, buffers + scratch) ==
           limits.Blocks(function, words, std::max(buffers, scratch));
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      llvm::SmallVector<Operation*> dots;
      function.walk([&](Operation* op) {
        if (IsDot(*op)) dots.push_back(op);
      });
      TensorMapMaker maps;
      llvm::SmallPtrSet<Operation*, 8> seen;
      for (Operation* dot : dots) {
        auto loop = llvm::dyn_cast<ForOp>(dot->getParentOp());
        if (!loop || seen.contains(dot)) continue;
        for (Operation& other : *loop.getBody()) seen.insert(&other);
        BufferAliases aliases(function);
        LoopBarrier barrier(loop, aliases, loop_maps);
        if (barrier.Find()) barrier.Apply(maps, MayKeepBuffers(function));
      }
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
