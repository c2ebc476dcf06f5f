// SPDX-License-Identifier: Apache-2.0
// Atomic read-modify-write and compare-and-swap. One thread acts for each element; where others hold copies of the
// result and it is used, they get it through shared memory.
#include "compiler/analysis/scratch.h"
#include "compiler/lowering/memory_groups.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

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

template <typename Op>
LogicalResult LowerAtomic(FunctionLowering& f, Op op, Value mask,
                          llvm::function_ref<FailureOr<Value>(const AtomicAccess&, size_t)> emit) {
  Emitter& e = f.e;
  ValueList ptrs = f.Get(op.getPtr());
  ValueList masks = mask ? f.Get(mask) : ValueList();
  mlir::Type element = f.ConvertType(tt::ElementOf(op.getType()));
  int copies = GroupRegisters(f, op.getPtr(), mask, element).copies;
  Value acts = FirstCopyOf(f, op.getPtr());
  // A scalar atomic that publishes is ordered behind what every thread of the program wrote.
  bool releases = op.getSem() == tt::MemSemantic::kRelease || op.getSem() == tt::MemSemantic::kAcqRel;
  if (!llvm::isa<RankedTensorType>(op.getPtr().getType()) && releases) f.target.Barrier(e.b, e.loc);
  Values results(ptrs.size());
  for (size_t r = 0; r < ptrs.size(); ++r) {
    if (r & copies) {
      results[r] = results[r & ~copies];
      continue;
    }
    AtomicAccess access{ptrs[r], acts, op.getSem(), op.getScope()};
    if (!masks.empty()) access.predicate = acts ? e.And(masks[r], acts) : masks[r];
    FailureOr<Value> result = emit(access, r);
    if (failed(result)) return op.emitOpError() << "is not available for " << element << " on this target";
    results[r] = *result;
  }
  if (ScratchBytes(op) > 0) results = ShareResults(f, op, acts, results);
  f.Set(op, results);
  return mlir::success();
}

LogicalResult LowerRmw(FunctionLowering& f, tt::AtomicRMWOp op) {
  ValueList values = f.Get(op.getVal());
  return LowerAtomic(f, op, op.getMask(), [&](const AtomicAccess& access, size_t r) {
    return f.target.AtomicRmw(f.e.b, f.e.loc, access, op.getAtomicRmwOp(), values[r]);
  });
}

LogicalResult LowerCas(FunctionLowering& f, tt::AtomicCASOp op) {
  ValueList compare = f.Get(op.getCmp()), values = f.Get(op.getVal());
  return LowerAtomic(f, op, Value(), [&](const AtomicAccess& access, size_t r) {
    return f.target.AtomicCas(f.e.b, f.e.loc, access, compare[r], values[r]);
  });
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
  e.b.create<mlir::LLVM::CondBrOp>(e.loc, acts, write, after);
  e.b.setInsertionPointToEnd(write);
  for (auto [result, slot] : llvm::zip(results, slots)) StoreVector(e, slot, {ToShared(e, result)});
  e.b.create<mlir::LLVM::BrOp>(e.loc, after);
  e.b.setInsertionPointToEnd(after);
  f.target.Barrier(e.b, e.loc);
  Values shared;
  for (Value slot : slots) shared.push_back(FromShared(e, LoadVector(e, slot, stored, 1)[0], element));
  return shared;
}

void AddAtomics(LoweringTable& table) {
  table.Add<tt::AtomicRMWOp>(LowerRmw);
  table.Add<tt::AtomicCASOp>(LowerCas);
}

}  // namespace tritond::compiler
