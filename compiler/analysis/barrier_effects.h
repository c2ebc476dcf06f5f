// SPDX-License-Identifier: Apache-2.0
// What barriers.cc follows: the accesses since the last barrier, and what an operation adds to them.
#ifndef COMPILER_ANALYSIS_BARRIER_EFFECTS_H_
#define COMPILER_ANALYSIS_BARRIER_EFFECTS_H_

#include "compiler/analysis/alias.h"
#include "compiler/analysis/allocation.h"
#include "compiler/analysis/buffer_ranges.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

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
  llvm::SmallSetVector<mlir::Operation*, 4> global_reads, global_writes;

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

Effect EffectOf(mlir::Operation* op, const BufferAliases& aliases);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_BARRIER_EFFECTS_H_
