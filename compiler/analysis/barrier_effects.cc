// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/barrier_effects.h"

#include "compiler/analysis/barriers.h"
#include "compiler/analysis/scratch.h"
#include "compiler/ir/ttg_dialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::Value;

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

}  // namespace

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

}  // namespace tritond::compiler
