// SPDX-License-Identifier: Apache-2.0
// A forward dataflow over blocks. The state at a point is the bytes that some thread may have read or written since the
// last barrier on some path. Blocks begin with the union of their predecessors' ends. Where an access conflicts with
// the state, a barrier goes in front of it, which empties the state. An iteration starts from empty states, with the
// barriers of the iterations before, and sweeps over the blocks to the fixpoint. A barrier that only a later sweep
// finds is news for what flowed past its place before, so the iteration starts anew. Else stale states would ask for
// barriers that nothing needs. In the end, barriers go out of loops where those in front of the loops do. Bytes that
// asynchronous copies write stay apart, whatever barriers there are, until the wait that makes them written. Accesses
// to global memory that conflict with others are kept one by one.
#include "compiler/analysis/barriers.h"

#include "compiler/analysis/barrier_effects.h"
#include "compiler/analysis/global_accesses.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "mlir/Analysis/CFGLoopInfo.h"

namespace tritond::compiler {
namespace {

using mlir::Block;
using mlir::Operation;

// What the threads do that run one region: the body of a function, or a partition, which starts after a barrier of all.
class Analysis final {
 public:
  Analysis(mlir::Region& body, const BufferAliases& aliases) : body_(body), aliases_(aliases) {}

  mlir::LogicalResult Prepare() {
    FindGlobalConflicts();
    for (Block& block : body_) {
      for (Operation& op : block) {
        Effect effect = EffectOf(&op, aliases_);
        if (!effect.IsNone() || globals_.contains(&op)) accesses_[&block].push_back({&op, std::move(effect)});
        if (failed(CheckRegions(op))) return mlir::failure();
      }
    }
    return mlir::success();
  }

  mlir::FailureOr<llvm::SmallVector<MissingBarrier>> Run() {
    if (accesses_.empty()) return llvm::SmallVector<MissingBarrier>();
    FindAll();
    if (returns_early_)
      return returns_early_->emitError("returns from a device function while asynchronous copies may be in flight");
    if (!barriers_.empty() && !body_.hasOneBlock()) LeaveLoops();
    llvm::SmallVector<MissingBarrier> result;
    for (Block& block : body_) {
      for (const auto& access : accesses_.lookup(&block)) {
        auto found = barriers_.find(access.first);
        if (found != barriers_.end()) result.push_back({found->first, found->second});
      }
      auto at_end = ends_.find(&block);
      if (at_end != ends_.end()) result.push_back({block.getTerminator(), at_end->second});
    }
    return result;
  }

 private:
  // Most kernels have none: then nothing is followed.
  void FindGlobalConflicts() {
    llvm::SmallVector<std::pair<Operation*, GlobalAccess>, 0> all;
    for (Block& block : body_)
      for (Operation& op : block)
        if (auto access = GlobalAccessOf(&op)) all.emplace_back(&op, *std::move(access));
    for (const auto& each : all)
      if (llvm::any_of(all, [&](const auto& other) { return each.second.ConflictsWith(other.second); }))
        globals_.insert(each);
  }

  bool ConflictsGlobally(Operation* op, const State& state) const {
    auto found = globals_.find(op);
    if (found == globals_.end()) return false;
    const auto conflicts = [&](Operation* other) { return found->second.ConflictsWith(globals_.find(other)->second); };
    return llvm::any_of(state.global_writes, conflicts) || llvm::any_of(state.global_reads, conflicts);
  }

  void AddGlobal(Operation* op, State& state) const {
    auto found = globals_.find(op);
    if (found == globals_.end()) return;
    (found->second.writes ? state.global_writes : state.global_reads).insert(op);
  }

  // Accesses may not hide in regions, where no path is followed.
  mlir::LogicalResult CheckRegions(Operation& op) const {
    mlir::LogicalResult result = mlir::success();
    if (llvm::isa<ttg::StartPartitionsOp>(op)) return result;  // other threads, who have an analysis of their own
    for (mlir::Region& region : op.getRegions()) {
      region.walk([&](Operation* inner) {
        if (EffectOf(inner, aliases_).IsNone()) return mlir::WalkResult::advance();
        result = inner->emitError("accesses shared memory within structured control flow; barriers need cf");
        return mlir::WalkResult::interrupt();
      });
    }
    return result;
  }

  void FindAll() {
    llvm::ReversePostOrderTraversal<mlir::Region*> order(&body_);
    while (!Iterate(order)) {
    }
  }

  // Where a barrier of a loop is only there for accesses before the loop, one in front of the loop takes its place.
  void LeaveLoops() {
    mlir::DominanceInfo dominance(body_.getParentOp());
    mlir::CFGLoopInfo loops(dominance.getDomTree(&body_));
    for (mlir::CFGLoop* loop : loops.getLoopsInPreorder()) {
      Block* before = loop->getLoopPredecessor();
      const size_t inside = BarriersIn(*loop);
      if (inside == 0 || !before || before->getNumSuccessors() != 1) continue;
      const auto found = barriers_;
      ends_[before] =
          llvm::any_of(found, [&](const auto& each) { return each.second && loop->contains(each.first->getBlock()); });
      barriers_.clear();
      FindAll();
      if (BarriersIn(*loop) < inside) continue;
      barriers_ = found;
      ends_.erase(before);
    }
  }

  size_t BarriersIn(const mlir::CFGLoop& loop) const {
    return llvm::count_if(barriers_, [&](const auto& each) { return loop.contains(each.first->getBlock()); });
  }

  // To the fixpoint with the barriers known so far; false when that has to start anew.
  bool Iterate(llvm::ReversePostOrderTraversal<mlir::Region*>& order) {
    llvm::DenseMap<Block*, State> begins;
    bool changed = true;
    for (bool first_sweep = true; changed; first_sweep = false) {
      changed = false;
      for (Block* block : order) {
        State state = begins[block];
        for (const auto& [op, effect] : accesses_[block]) {
          bool found = Step(op, effect, state);
          if (found && !first_sweep) return false;
        }
        if (auto at_end = ends_.find(block); at_end != ends_.end()) Wait(state, /*orders_global=*/at_end->second);
        for (Block* successor : block->getSuccessors()) changed |= begins[successor].Add(state);
      }
    }
    return true;
  }

  // True when this found a new barrier, or that one has to order more.
  bool Step(Operation* op, const Effect& effect, State& state) {
    const bool is_global = ConflictsGlobally(op, state);
    bool found = false;
    if (is_global || effect.ConflictsWith(state)) {
      auto [barrier, is_new] = barriers_.try_emplace(op, is_global);
      found = is_new || (is_global && !barrier->second);
      barrier->second |= is_global;
    }
    if (auto barrier = barriers_.find(op); barrier != barriers_.end()) Wait(state, barrier->second);
    if (effect.returns && !(state.others.copies.empty() && state.ordered.copies.empty())) returns_early_ = op;
    effect.ApplyTo(state);
    AddGlobal(op, state);
    return found;
  }

  static void Wait(State& state, bool orders_global) {
    state.Barrier();
    if (orders_global) state.GlobalBarrier();
  }

  mlir::Region& body_;
  const BufferAliases& aliases_;
  llvm::DenseMap<Block*, llvm::SmallVector<std::pair<Operation*, Effect>, 0>> accesses_;
  llvm::DenseMap<Operation*, GlobalAccess> globals_;  // those that conflict with others
  llvm::DenseMap<Operation*, bool> barriers_;         // whether they order global memory, too
  llvm::DenseMap<Block*, bool> ends_;                 // barriers at the ends of blocks, likewise
  Operation* returns_early_ = nullptr;
};

}  // namespace

mlir::FailureOr<llvm::SmallVector<MissingBarrier>> FindMissingBarriers(tt::FuncOp function) {
  llvm::SmallVector<MissingBarrier> all;
  if (function.isExternal() || function->hasAttr(ttg::kOneThreadAttr)) return all;
  llvm::SmallVector<mlir::Region*> regions = {&function.getBody()};
  function.walk([&](ttg::StartPartitionsOp start) {
    for (mlir::Region& partition : start.getPartitionRegions()) regions.push_back(&partition);
  });
  BufferAliases aliases(function);
  for (mlir::Region* region : regions) {
    Analysis analysis(*region, aliases);
    if (failed(analysis.Prepare())) return mlir::failure();
    auto missing = analysis.Run();
    if (failed(missing)) return mlir::failure();
    all.append(*missing);
  }
  return all;
}

bool BeginsWithBarrier(mlir::Operation* op) {
  auto publishes = [](auto atomic) {
    bool releases = atomic.getSem() == tt::MemSemantic::kRelease || atomic.getSem() == tt::MemSemantic::kAcqRel;
    return releases && !llvm::isa<mlir::RankedTensorType>(atomic.getPtr().getType());
  };
  if (auto rmw = llvm::dyn_cast<tt::AtomicRMWOp>(op)) return publishes(rmw);
  if (auto cas = llvm::dyn_cast<tt::AtomicCASOp>(op)) return publishes(cas);
  return llvm::isa<tt::AtomicPollOp>(op);
}

}  // namespace tritond::compiler
