// SPDX-License-Identifier: Apache-2.0
// A forward dataflow over blocks. The state at a point is the bytes that some thread may have read or written since the
// last barrier on some path. Blocks begin with the union of their predecessors' ends. Where an access conflicts with
// the state, a barrier goes in front of it, which empties the state. An iteration starts from empty states, with the
// barriers of the iterations before, and sweeps over the blocks to the fixpoint. A barrier that only a later sweep
// finds is news for what flowed past its place before, so the iteration starts anew. Else stale states would ask for
// barriers that nothing needs. Bytes that asynchronous copies write stay apart, whatever barriers there are, until the
// wait that makes them written. Accesses to global memory that conflict with others are kept one by one.
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
  Bytes signals;  // used since
  Bytes sent;     // may be read by copies that go on
  Bytes copies;   // being written by asynchronous copies

  bool Add(const Accesses& other) {
    bool added = reads.Add(other.reads);
    added |= writes.Add(other.writes);
    added |= signals.Add(other.signals);
    added |= sent.Add(other.sent);
    return copies.Add(other.copies) || added;
  }
  void Barrier() { reads = writes = signals = Bytes(); }
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
  MemoryRanges signals;     // used
  MemoryRanges sent;        // read by a copy that goes on
  MemoryRanges delivered;   // written by none of the threads
  bool ends_sent = false;   // copies that read
  bool arrives = false;     // for all threads
  bool is_ordered = false;  // with others that are
  bool ends_order = false;  // of those before

  bool IsNone() const {
    return reads.empty() && writes.empty() && copies.empty() && ongoing.empty() && ended.empty() && !waits &&
           !ends_copies && !returns && !orders_global && signals.empty() && sent.empty() && delivered.empty() &&
           !ends_sent && !arrives && !ends_order;
  }

  bool ConflictsWith(const State& state) const {
    return ConflictsWith(state.others) || (!is_ordered && ConflictsWith(state.ordered));
  }

  bool ConflictsWith(const Accesses& before) const {
    auto hits = [](const auto& ranges, const Bytes& bytes) {
      return llvm::any_of(ranges, [&](const MemoryRange& range) { return bytes.Overlaps(range); });
    };
    if (arrives && !(before.reads.empty() && before.writes.empty())) return true;
    if (hits(signals, before.writes) || hits(writes, before.signals)) return true;
    if (hits(delivered, before.reads) || hits(delivered, before.writes)) return true;
    return hits(reads, before.writes) || hits(sent, before.writes) || hits(ongoing, before.writes) ||
           hits(writes, before.writes) || hits(writes, before.reads) || hits(copies, before.writes) ||
           hits(copies, before.reads);
  }

  void ApplyTo(State& state) const {
    if (waits) state.Barrier();
    if (orders_global) state.GlobalBarrier();
    if (ends_order) state.EndOrder();
    if (ends_copies) {
      state.others.EndCopies(ends_all);
      state.ordered.EndCopies(ends_all);
    }
    if (ends_sent) {
      state.others.reads.Add(state.others.sent);
      state.ordered.reads.Add(state.ordered.sent);
    }
    AddTo(is_ordered ? state.ordered : state.others);
  }

  void AddTo(Accesses& accesses) const {
    for (const MemoryRange& range : copies) accesses.copies.Add(range);
    for (const MemoryRange& range : signals) accesses.signals.Add(range);
    for (const MemoryRange& range : sent) accesses.sent.Add(range);
    for (const MemoryRanges& ranges : {reads, ended})
      for (const MemoryRange& range : ranges) accesses.reads.Add(range);
    Bytes& written = waits && reads_after ? accesses.reads : accesses.writes;
    for (const MemoryRange& range : writes) written.Add(range);
  }
};

// Those of `effect` that reads of a resource belong to.
MemoryRanges& ReadsOf(Effect& effect, mlir::SideEffects::Resource* resource) {
  if (resource == Signals::get()) return effect.signals;
  if (resource == SentReads::get()) return effect.sent;
  if (resource == ttg::OngoingReads::get()) return effect.ongoing;
  return resource == EndedReads::get() ? effect.ended : effect.reads;
}

MemoryRanges& WritesOf(Effect& effect, mlir::SideEffects::Resource* resource, bool is_copy) {
  if (resource == Deliveries::get()) return effect.delivered;
  if (resource == Signals::get()) return effect.signals;
  return is_copy ? effect.copies : effect.writes;
}

// Whether `op` declares an effect on `resource` itself, not on what lies in it.
bool Touches(Operation* op, mlir::SideEffects::Resource* resource) {
  auto declared = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  if (!declared) return false;
  llvm::SmallVector<mlir::MemoryEffects::EffectInstance> effects;
  declared.getEffects(effects);
  return llvm::any_of(effects, [&](const auto& each) { return each.getResource() == resource && !each.getValue(); });
}

// Reads and writes of an operation on buffers, by its declared effects; both of all buffers if it declares none.
void AddBufferAccesses(Effect& effect, Operation* op, const BufferAliases& aliases) {
  llvm::SmallVector<Value> buffers;
  for (mlir::ValueRange values : {mlir::ValueRange(op->getOperands()), mlir::ValueRange(op->getResults())})
    for (Value value : values)
      if (llvm::isa<ttg::MemDescType>(value.getType())) buffers.push_back(value);
  if (buffers.empty()) effect.ends_sent = Touches(op, SentReads::get());
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
    effect.arrives |= each.getResource() == Arrivals::get();
    effect.ends_order |= each.getResource() == OrderedAccesses::get();
    if (!each.getValue() && each.getResource() != ttg::SharedMemory::get()) continue;
    if (llvm::isa<mlir::MemoryEffects::Read>(each.getEffect()))
      add(ReadsOf(effect, each.getResource()), each.getValue());
    if (llvm::isa<mlir::MemoryEffects::Write>(each.getEffect()))
      add(WritesOf(effect, each.getResource(), is_copy), each.getValue());
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

// All threads of the block wait, those of partitions too. What is captured lies in scratch, which partitions read at
// once and nobody writes before they are joined.
Effect EffectOfPartitions(Operation* op) {
  Effect effect;
  if (auto scratch = AllocatedRange(op)) effect.writes.push_back(*scratch);
  effect.waits = effect.reads_after = effect.orders_global = true;
  return effect;
}

Effect EffectOf(Operation* op, const BufferAliases& aliases) {
  if (auto barrier = llvm::dyn_cast<ttg::BarrierOp>(op)) return EffectOf(barrier);
  if (llvm::isa<ttg::StartPartitionsOp, ttg::JoinPartitionsOp>(op)) return EffectOfPartitions(op);
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
    llvm::ReversePostOrderTraversal<mlir::Region*> order(&body_);
    while (!Iterate(order)) {
    }
    if (returns_early_)
      return returns_early_->emitError("returns from a device function while asynchronous copies may be in flight");
    llvm::SmallVector<MissingBarrier> result;
    for (Block& block : body_) {
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

  mlir::Region& body_;
  const BufferAliases& aliases_;
  llvm::DenseMap<Block*, llvm::SmallVector<std::pair<Operation*, Effect>, 0>> accesses_;
  llvm::DenseMap<Operation*, GlobalAccess> globals_;  // those that conflict with others
  llvm::DenseMap<Operation*, bool> barriers_;         // whether they order global memory, too
  Operation* returns_early_ = nullptr;
};

}  // namespace

mlir::FailureOr<llvm::SmallVector<MissingBarrier>> FindMissingBarriers(tt::FuncOp function) {
  llvm::SmallVector<MissingBarrier> all;
  if (function.isExternal()) return all;
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

}  // namespace tritond::compiler
