// SPDX-License-Identifier: Apache-2.0
// Atomic read-modify-write, compare-and-swap and polling. One thread acts for each element; where others hold copies of
// the result and it is used, they get it through shared memory.
#include "compiler/analysis/barriers.h"
#include "compiler/analysis/scratch.h"
#include "compiler/lowering/memory_groups.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

// The element offset of a register, row-major in the tensor; 0 for a scalar.
Value RowMajorOffset(FunctionLowering& f, mlir::Type type, int r) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  Value offset = f.e.Int(0);
  if (!tensor) return offset;
  const LinearLayout& layout = f.LayoutOf(tensor);
  auto constant = layout.ApplyNamed({{"register", r}});
  for (auto [dim, name] : llvm::enumerate(ttg::DimNames(tensor.getRank()))) {
    Value coordinate = f.Coordinate(layout, name, f.ThreadPart(layout, name), constant[dim]);
    offset = f.e.Add(f.e.Mul(offset, f.e.Int(tensor.getDimSize(dim))), coordinate);
  }
  return offset;
}

// Whether nothing that `op` accesses beside shared memory is seen by others.
bool KeepsToBlock(mlir::Operation& op) {
  if (mlir::isMemoryEffectFree(&op)) return true;
  std::optional<llvm::SmallVector<mlir::MemoryEffects::EffectInstance>> effects = mlir::getEffectsRecursively(&op);
  return effects && llvm::all_of(*effects, [](const mlir::MemoryEffects::EffectInstance& effect) {
           return llvm::isa<ttg::SharedMemory>(effect.getResource());
         });
}

// Whether a kernel may access memory that others see after `op`. If not, there is nothing that `op` could acquire for.
bool AccessesMemoryAfter(mlir::Operation* op) {
  auto func = llvm::dyn_cast<tt::FuncOp>(op->getParentOp());
  if (!func || !func.isPublic()) return true;
  llvm::SetVector<mlir::Block*> after;
  const auto add_successors = [&](mlir::Block* block) { after.insert_range(block->getSuccessors()); };
  for (mlir::Operation* next = op->getNextNode(); next; next = next->getNextNode())
    if (!KeepsToBlock(*next)) return true;
  add_successors(op->getBlock());
  for (size_t i = 0; i < after.size(); ++i) {
    if (!llvm::all_of(*after[i], KeepsToBlock)) return true;
    add_successors(after[i]);
  }
  return false;
}

// The elements of a tensor have no order among each other. So where a thread has several operations, one fence before
// all of them releases, and one after them acquires, in place of one around each. A compare-and-swap keeps its own
// order, which users look for in the text.
struct Fences {
  bool join = false;  // the operations, which then have no order of their own
  bool before = false, after = false;
  Value predicate;  // of the threads that change an element; null: all do
};

template <typename Op>
Fences FencesOf(FunctionLowering& f, Op op, llvm::ArrayRef<size_t> places, ValueList masks, Value acts) {
  const tt::MemSemantic semantic = op.getSem();
  Fences fences;
  fences.join = places.size() > 1 && llvm::isa<tt::AtomicRMWOp>(op.getOperation()) && f.target.HasFences();
  if (semantic == tt::MemSemantic::kRelaxed || !fences.join) return fences;
  fences.before = semantic != tt::MemSemantic::kAcquire;
  fences.after = semantic != tt::MemSemantic::kRelease && AccessesMemoryAfter(op);
  fences.predicate = acts;
  if (masks.empty()) return fences;
  Value any = masks[places[0]];
  for (size_t place : places.drop_front()) any = f.e.Or(any, masks[place]);
  fences.predicate = acts ? f.e.And(any, acts) : any;
  return fences;
}

// `emit` yields the results of `width` elements, from the given register on; at most so many are neighbours.
template <typename Op>
LogicalResult LowerAtomic(FunctionLowering& f, Op op, Value mask, int max_width,
                          llvm::function_ref<FailureOr<Values>(const AtomicAccess&, size_t first, int width)> emit) {
  Emitter& e = f.e;
  ValueList ptrs = f.Get(op.getPtr());
  ValueList masks = mask ? f.Get(mask) : ValueList();
  mlir::Type element = f.ConvertType(tt::ElementOf(op.getType()));
  auto [vec, copies] = GroupRegisters(f, op.getPtr(), mask, element);
  int width = std::min(vec, max_width);
  Value acts = FirstCopyOf(f, op.getPtr());
  if (BeginsWithBarrier(op)) f.Barrier();
  llvm::SmallVector<size_t> places;
  for (size_t first = 0; first < ptrs.size(); first += width)
    if (!(first & copies)) places.push_back(first);
  const Fences fences = FencesOf(f, op, places, masks, acts);
  if (fences.before) f.target.Fence(e.b, e.loc, /*releases=*/true, op.getScope(), fences.predicate);
  Values results(ptrs.size());
  for (size_t first : places) {
    AtomicAccess access{ptrs[first], acts, fences.join ? tt::MemSemantic::kRelaxed : op.getSem(), op.getScope()};
    access.result_is_used = !fences.join || !op->use_empty();
    if (!masks.empty()) access.predicate = acts ? e.And(masks[first], acts) : masks[first];
    FailureOr<Values> before = emit(access, first, width);
    if (failed(before)) return op.emitOpError() << "is not available for " << element << " on this target";
    llvm::copy(*before, results.begin() + first);
  }
  for (size_t r = 0; r < results.size(); ++r)
    if (!results[r]) results[r] = results[r & ~static_cast<size_t>(copies)];
  if (fences.after) f.target.Fence(e.b, e.loc, /*releases=*/false, op.getScope(), fences.predicate);
  if (ScratchBytes(op) > 0) results = ShareResults(f, op, acts, results);
  f.Set(op, results);
  return mlir::success();
}

LogicalResult LowerRmw(FunctionLowering& f, tt::AtomicRMWOp op) {
  ValueList values = f.Get(op.getVal());
  int max_width = op.getAtomicRmwOp() == tt::RmwOp::kFadd ? f.target.MaxAtomicAdds(values[0].getType()) : 1;
  auto emit = [&](const AtomicAccess& access, size_t first, int width) -> FailureOr<Values> {
    if (width > 1) return f.target.AtomicAdds(f.e.b, f.e.loc, access, values.slice(first, width));
    FailureOr<Value> before = f.target.AtomicRmw(f.e.b, f.e.loc, access, op.getAtomicRmwOp(), values[first]);
    return failed(before) ? FailureOr<Values>(mlir::failure()) : Values{*before};
  };
  return LowerAtomic(f, op, op.getMask(), max_width, emit);
}

LogicalResult LowerCas(FunctionLowering& f, tt::AtomicCASOp op) {
  ValueList compare = f.Get(op.getCmp()), values = f.Get(op.getVal());
  auto emit = [&](const AtomicAccess& access, size_t r, int) -> FailureOr<Values> {
    FailureOr<Value> before = f.target.AtomicCas(f.e.b, f.e.loc, access, compare[r], values[r]);
    return failed(before) ? FailureOr<Values>(mlir::failure()) : Values{*before};
  };
  return LowerAtomic(f, op, Value(), /*max_width=*/1, emit);
}

// The loop of the one thread that polls, from the builder's place on:
//
//       start = clock                   // with a timeout
//   again: if (load(ptr) == expected) goto after(true)
//       if (clock - start >= timeout) goto after(false)
//       goto again
LogicalResult EmitPolling(FunctionLowering& f, tt::AtomicPollOp op, mlir::Block* after) {
  Emitter& e = f.e;
  FailureOr<Value> start = Value();
  if (op.getTimeout() && failed(start = f.target.Nanoseconds(e.b, e.loc))) return mlir::failure();
  mlir::Block* begin = e.b.getInsertionBlock();
  mlir::Block* again = e.b.createBlock(after);
  e.b.setInsertionPointToEnd(begin);
  LLVM::BrOp::create(e.b, e.loc, again);
  e.b.setInsertionPointToEnd(again);
  AtomicAccess access{f.Scalar(op.getPtr()), Value(), op.getSem(), op.getScope()};
  Value expected = f.Scalar(op.getExpected());
  FailureOr<Value> seen = f.target.AtomicLoad(e.b, e.loc, access, expected.getType());
  if (failed(seen)) return op.emitOpError() << "is not available for " << expected.getType() << " on this target";
  Value is_there = LLVM::ICmpOp::create(e.b, e.loc, LLVM::ICmpPredicate::eq, *seen, expected);
  Value yes = e.Bool(true), no = e.Bool(false);
  if (!op.getTimeout()) {
    LLVM::CondBrOp::create(e.b, e.loc, is_there, after, mlir::ValueRange(yes), again, mlir::ValueRange());
    return mlir::success();
  }
  mlir::Block* absent = e.b.createBlock(after);
  e.b.setInsertionPointToEnd(again);
  LLVM::CondBrOp::create(e.b, e.loc, is_there, after, mlir::ValueRange(yes), absent, mlir::ValueRange());
  e.b.setInsertionPointToEnd(absent);
  FailureOr<Value> now = f.target.Nanoseconds(e.b, e.loc);
  if (failed(now)) return mlir::failure();
  Value waited = LLVM::SubOp::create(e.b, e.loc, *now, *start);
  Value too_long = LLVM::ICmpOp::create(e.b, e.loc, LLVM::ICmpPredicate::sge, waited, f.Scalar(op.getTimeout()));
  LLVM::CondBrOp::create(e.b, e.loc, too_long, after, mlir::ValueRange(no), again, mlir::ValueRange());
  return mlir::success();
}

// All threads wait for the one, also where nobody asks for the result: what follows may read what was waited for. The
// one waits for all before, whatever the ordering: the word may be one that another thread is about to write.
LogicalResult LowerPoll(FunctionLowering& f, tt::AtomicPollOp op) {
  Emitter& e = f.e;
  if (BeginsWithBarrier(op)) f.Barrier();
  Value acts = FirstCopyOf(f, op.getPtr()), no = e.Bool(false);
  mlir::Block* here = e.b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(e.b.getInsertionPoint());
  Value result = after->addArgument(e.b.getI1Type(), e.loc);
  mlir::Block* poll = e.b.createBlock(after);
  e.b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(e.b, e.loc, acts, poll, mlir::ValueRange(), after, mlir::ValueRange(no));
  e.b.setInsertionPointToEnd(poll);
  if (failed(EmitPolling(f, op, after))) return mlir::failure();
  e.b.setInsertionPointToStart(after);
  Values results = {result};
  if (ScratchBytes(op) > 0) {
    results = ShareResults(f, op, acts, results);
  } else {
    f.Barrier();
  }
  f.Set(op, results);
  return mlir::success();
}

}  // namespace

Values ShareResults(FunctionLowering& f, mlir::Operation* op, Value acts, const Values& results) {
  Emitter& e = f.e;
  Value base = f.ScratchOf(op);
  mlir::Type type = op->getResult(0).getType();
  mlir::Type element = results[0].getType(), stored = SharedType(e, element);
  Values slots;
  for (size_t r = 0; r < results.size(); ++r) slots.push_back(e.Gep(base, stored, RowMajorOffset(f, type, r)));
  mlir::Block* here = e.b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(e.b.getInsertionPoint());
  mlir::Block* write = e.b.createBlock(after);
  e.b.setInsertionPointToEnd(here);
  mlir::LLVM::CondBrOp::create(e.b, e.loc, acts, write, after);
  e.b.setInsertionPointToEnd(write);
  for (auto [result, slot] : llvm::zip(results, slots)) StoreVector(e, slot, {ToShared(e, result)});
  mlir::LLVM::BrOp::create(e.b, e.loc, after);
  e.b.setInsertionPointToEnd(after);
  f.Barrier();
  Values shared;
  for (Value slot : slots) shared.push_back(FromShared(e, LoadVector(e, slot, stored, 1)[0], element));
  return shared;
}

void AddAtomics(LoweringTable& table) {
  table.Add<tt::AtomicRMWOp>(LowerRmw);
  table.Add<tt::AtomicCASOp>(LowerCas);
  table.Add<tt::AtomicPollOp>(LowerPoll);
}

}  // namespace tritond::compiler
