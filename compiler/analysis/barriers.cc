// SPDX-License-Identifier: Apache-2.0
// A forward dataflow over blocks. The state at a point is the bytes that some thread may have read or written since the
// last barrier on some path; blocks begin with the union of their predecessors' ends. Where an access conflicts with
// the state, a barrier goes in front of it, which empties the state. A round starts from empty states, with the
// barriers of the rounds before, and sweeps over the blocks to the fixpoint. A barrier that only a later sweep finds is
// news for what flowed past its place before, so the round starts anew; else stale states would ask for barriers that
// nothing needs. Bytes that asynchronous copies write stay apart, whatever barriers there are, until the wait that
// makes them written. Accesses to global memory that conflict with others are kept one by one.
#include "compiler/analysis/barriers.h"

#include <algorithm>

#include "compiler/analysis/alias.h"
#include "compiler/analysis/buffer_ranges.h"
#include "compiler/analysis/global_accesses.h"
#include "compiler/analysis/scratch.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Block;
using mlir::Operation;
using mlir::Value;

// A set of bytes: disjoint ranges by ascending address.
class Bytes final {
 public:
  bool Overlaps(const MemoryRange& range) const {
    return llvm::any_of(ranges_, [&](const MemoryRange& own) { return own.Overlaps(range); });
  }
  // True when this adds bytes.
  bool Add(MemoryRange range) {
    if (range.begin >= range.end) return false;
    for (const MemoryRange& own : ranges_) {
      if (own.begin <= range.begin && range.end <= own.end) return false;
    }
    llvm::erase_if(ranges_, [&](const MemoryRange& own) {
      if (own.end < range.begin || range.end < own.begin) return false;
      range = {std::min(range.begin, own.begin), std::max(range.end, own.end)};
      return true;
    });
    auto after = llvm::find_if(ranges_, [&](const MemoryRange& own) { return own.begin > range.begin; });
    ranges_.insert(after, range);
    return true;
  }
  bool empty() const { return ranges_.empty(); }
  bool Add(const Bytes& other) {
    bool added = false;
    for (const MemoryRange& range : other.ranges_) added |= Add(range);
    return added;
  }

 private:
  llvm::SmallVector<MemoryRange, 4> ranges_;
};

// Bytes that some thread may have read or written.
struct Accesses {
  Bytes reads;
  Bytes writes;
  Bytes copies;  // being written by asynchronous copies

  bool Add(const Accesses& other) {
    bool reads_added = reads.Add(other.reads), copies_added = copies.Add(other.copies);
    return writes.Add(other.writes) || reads_added || copies_added;
  }
  void Barrier() { reads = writes = Bytes(); }
  void EndCopies(bool all) {
    writes.Add(copies);
    if (all) copies = Bytes();
  }
};

struct State {
  Accesses others;
  Accesses ordered;  // by operations with kOrderedAttr
  llvm::SmallSetVector<Operation*, 4> global_reads, global_writes;

  bool Add(const State& other) {
    const bool ordered_added = ordered.Add(other.ordered);
    const size_t globals = global_reads.size() + global_writes.size();
    global_reads.insert(other.global_reads.begin(), other.global_reads.end());
    global_writes.insert(other.global_writes.begin(), other.global_writes.end());
    return others.Add(other.others) || ordered_added || globals != global_reads.size() + global_writes.size();
  }
  void Barrier() {
    others.Barrier();
    ordered.Barrier();
    global_reads.clear();
  }
  void EndOrder() {
    others.Add(ordered);
    ordered = Accesses();
  }
  void GlobalBarrier() {
    global_reads.clear();
    global_writes.clear();
  }
};

// What one operation does to shared memory.
struct Effect {
  MemoryRanges reads, writes;
  MemoryRanges copies;       // writes that go on after the operation
  MemoryRanges ongoing;      // reads that do
  MemoryRanges ended;        // such reads of earlier operations that are over with this one
  bool ends_copies = false;  // of which some have ended after this
  bool ends_all = false;     // and all of them
  bool returns = false;      // from a device function
  bool waits = false;        // holds a barrier between its writes and its reads, or is one
  bool reads_after = false;  // `waits`, and reads what it wrote after that
  bool orders_global = false;
  bool is_ordered = false;  // with others that are
  bool ends_order = false;  // of those before

  bool IsNone() const {
    return reads.empty() && writes.empty() && copies.empty() && ongoing.empty() && ended.empty() && !waits &&
           !ends_copies && !returns && !orders_global && !ends_order;
  }

  bool ConflictsWith(const State& state) const {
    return ConflictsWith(state.others) || (!is_ordered && ConflictsWith(state.ordered));
  }

  bool ConflictsWith(const Accesses& before) const {
    auto hits = [](const auto& ranges, const Bytes& bytes) {
      return llvm::any_of(ranges, [&](const MemoryRange& range) { return bytes.Overlaps(range); });
    };
    return hits(reads, before.writes) || hits(ongoing, before.writes) || hits(writes, before.writes) ||
           hits(writes, before.reads) || hits(copies, before.writes) || hits(copies, before.reads);
  }

  void ApplyTo(State& state) const {
    if (waits) state.Barrier();
    if (orders_global) state.GlobalBarrier();
    if (ends_order) state.EndOrder();
    if (ends_copies) {
      state.others.EndCopies(ends_all);
      state.ordered.EndCopies(ends_all);
    }
    AddTo(is_ordered ? state.ordered : state.others);
  }

  void AddTo(Accesses& accesses) const {
    for (const MemoryRange& range : copies) accesses.copies.Add(range);
    for (const MemoryRanges& ranges : {reads, ended})
      for (const MemoryRange& range : ranges) accesses.reads.Add(range);
    Bytes& written = waits && reads_after ? accesses.reads : accesses.writes;
    for (const MemoryRange& range : writes) written.Add(range);
  }
};

// Reads and writes of an operation on buffers, by its declared effects; both of all buffers if it declares none.
void AddBufferAccesses(Effect& effect, Operation* op, const BufferAliases& aliases) {
  llvm::SmallVector<Value> buffers;
  for (mlir::ValueRange values : {mlir::ValueRange(op->getOperands()), mlir::ValueRange(op->getResults())})
    for (Value value : values)
      if (llvm::isa<ttg::MemDescType>(value.getType())) buffers.push_back(value);
  if (buffers.empty() || op->hasTrait<mlir::OpTrait::IsTerminator>()) return;
  auto add = [&](MemoryRanges& ranges, Value only) {
    for (Value buffer : buffers)
      if (!only || only == buffer) llvm::append_range(ranges, RangesOf(buffer, aliases));
  };
  auto declared = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  if (!declared) return add(effect.reads, Value()), add(effect.writes, Value());
  llvm::SmallVector<mlir::MemoryEffects::EffectInstance> effects;
  declared.getEffects(effects);
  bool is_copy = llvm::isa<ttg::AsyncCopyGlobalToLocalOp>(op);
  for (const auto& each : effects) {
    effect.ends_order |= each.getResource() == OrderedAccesses::get();
    if (!each.getValue() && each.getResource() != ttg::SharedMemory::get()) continue;
    bool goes_on = each.getResource() == ttg::OngoingReads::get(), ends = each.getResource() == EndedReads::get();
    if (llvm::isa<mlir::MemoryEffects::Read>(each.getEffect()))
      add(goes_on ? effect.ongoing : ends ? effect.ended : effect.reads, each.getValue());
    if (llvm::isa<mlir::MemoryEffects::Write>(each.getEffect()))
      add(is_copy ? effect.copies : effect.writes, each.getValue());
  }
}

Effect EffectOf(ttg::BarrierOp barrier) {
  llvm::SmallVector<llvm::StringRef> spaces;
  barrier.getAddrSpace().split(spaces, '|');
  Effect effect;
  effect.waits = llvm::is_contained(spaces, "local") || llvm::is_contained(spaces, "all");
  effect.orders_global = barrier.getAddrSpace() != "local";
  return effect;
}

Effect EffectOf(Operation* op, const BufferAliases& aliases) {
  if (auto barrier = llvm::dyn_cast<ttg::BarrierOp>(op)) return EffectOf(barrier);
  Effect effect;
  if (auto wait = llvm::dyn_cast<ttg::AsyncWaitOp>(op)) {
    effect.ends_copies = true;
    effect.ends_all = wait.getNum() == 0;
    return effect;
  }
  if (llvm::isa<tt::ReturnOp>(op)) {
    effect.returns = !op->getParentOfType<tt::FuncOp>().isPublic();
    return effect;
  }
  AddBufferAccesses(effect, op, aliases);
  effect.is_ordered = op->hasAttr(kOrderedAttr);
  if (llvm::isa<ttg::LocalAllocOp>(op)) return effect;
  if (llvm::isa<tt::CallOp>(op)) {
    if (auto frame = AllocatedRange(op)) effect.writes.push_back(*frame);
    return effect;
  }
  auto offset = op->getAttrOfType<mlir::IntegerAttr>(kAllocationOffsetAttr);
  if (!offset) return effect;
  Scratch scratch = ScratchOf(op);
  effect.writes.push_back({offset.getInt(), offset.getInt() + scratch.bytes});
  effect.waits = effect.reads_after = !scratch.stays_in_warp;
  return effect;
}

class Analysis final {
 public:
  explicit Analysis(tt::FuncOp function) : function_(function) {}

  mlir::LogicalResult Prepare() {
    BufferAliases aliases(function_);
    FindGlobalConflicts();
    for (Block& block : function_.getBody()) {
      for (Operation& op : block) {
        Effect effect = EffectOf(&op, aliases);
        if (!effect.IsNone() || globals_.contains(&op)) accesses_[&block].push_back({&op, std::move(effect)});
        if (failed(CheckRegions(op, aliases))) return mlir::failure();
      }
    }
    return mlir::success();
  }

  mlir::FailureOr<llvm::SmallVector<MissingBarrier>> Run() {
    if (accesses_.empty()) return llvm::SmallVector<MissingBarrier>();
    llvm::ReversePostOrderTraversal<mlir::Region*> order(&function_.getBody());
    while (!Round(order)) {
    }
    if (returns_early_)
      return returns_early_->emitError("returns from a device function while asynchronous copies may be in flight");
    llvm::SmallVector<MissingBarrier> result;
    for (Block& block : function_.getBody()) {
      for (const auto& access : accesses_.lookup(&block)) {
        auto found = barriers_.find(access.first);
        if (found != barriers_.end()) result.push_back({found->first, found->second});
      }
    }
    return result;
  }

 private:
  // Most kernels have none: then nothing is followed.
  void FindGlobalConflicts() {
    llvm::SmallVector<std::pair<Operation*, GlobalAccess>> all;
    for (Block& block : function_.getBody())
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
  static mlir::LogicalResult CheckRegions(Operation& op, const BufferAliases& aliases) {
    mlir::LogicalResult result = mlir::success();
    for (mlir::Region& region : op.getRegions()) {
      region.walk([&](Operation* inner) {
        if (EffectOf(inner, aliases).IsNone()) return mlir::WalkResult::advance();
        result = inner->emitError("accesses shared memory within structured control flow; barriers need cf");
        return mlir::WalkResult::interrupt();
      });
    }
    return result;
  }

  // To the fixpoint with the barriers known so far; false when that has to start anew.
  bool Round(llvm::ReversePostOrderTraversal<mlir::Region*>& order) {
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
    if (auto barrier = barriers_.find(op); barrier != barriers_.end()) {
      state.Barrier();
      if (barrier->second) state.GlobalBarrier();
    }
    if (effect.returns && !(state.others.copies.empty() && state.ordered.copies.empty())) returns_early_ = op;
    effect.ApplyTo(state);
    AddGlobal(op, state);
    return found;
  }

  tt::FuncOp function_;
  llvm::DenseMap<Block*, llvm::SmallVector<std::pair<Operation*, Effect>, 0>> accesses_;
  llvm::DenseMap<Operation*, GlobalAccess> globals_;  // those that conflict with others
  llvm::DenseMap<Operation*, bool> barriers_;         // whether they order global memory, too
  Operation* returns_early_ = nullptr;
};

}  // namespace

mlir::FailureOr<llvm::SmallVector<MissingBarrier>> FindMissingBarriers(tt::FuncOp function) {
  if (function.isExternal()) return llvm::SmallVector<MissingBarrier>();
  Analysis analysis(function);
  if (failed(analysis.Prepare())) return mlir::failure();
  return analysis.Run();
}

}  // namespace tritond::compiler
