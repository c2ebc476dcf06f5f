// SPDX-License-Identifier: Apache-2.0
// tt.histogram: counters in shared memory. All threads clear them, add their elements atomically, and read the counts
// that their part of the result asks for. Elements that do not count (masked, copies, no bin) add zero, so no branch is
// needed.
#include "compiler/analysis/scratch.h"
#include "compiler/lowering/memory_groups.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

// Thread t clears counters t, t + threads, …; where there are fewer counters than threads, some are cleared twice.
void ClearCounters(FunctionLowering& f, Value base, int64_t bins, int threads, mlir::Type type) {
  Emitter& e = f.e;
  Value thread = e.Add(e.Mul(f.Warp(), e.Int(f.target.WarpSize())), f.Lane());
  Value first = e.And(thread, e.Int(bins - 1));
  for (int64_t at = 0; at < bins; at += threads)
    LLVM::StoreOp::create(e.b, e.loc, e.Zero(type), e.Gep(base, type, e.Add(first, e.Int(at))));
}

LogicalResult LowerHistogram(FunctionLowering& f, tt::HistogramOp op) {
  Emitter& e = f.e;
  auto src_type = llvm::cast<RankedTensorType>(op.getSrc().getType());
  RankedTensorType type = llvm::cast<RankedTensorType>(op.getType());
  int64_t bins = type.getNumElements();
  mlir::Type counter = type.getElementType();
  unsigned width = counter.getIntOrFloatBitWidth();
  if (width != 32 && width != 64)
    return op.emitOpError() << "counts in " << counter << "; only i32 and i64 are supported";
  Value base = f.ScratchOf(op);
  ClearCounters(f, base, bins, f.NumThreads(), counter);
  f.SharedBarrier();
  int copies = GroupRegisters(f, op.getSrc(), Value(), e.IntOf(src_type.getElementType())).copies;
  Value first_copy = FirstCopyOf(f, op.getSrc());
  ValueList values = f.Get(op.getSrc()), masks = op.getMask() ? f.Get(op.getMask()) : ValueList();
  for (size_t r = 0; r < values.size(); ++r) {
    if (r & copies) continue;
    unsigned bits = values[r].getType().getIntOrFloatBitWidth();
    // A value type too narrow for the number of bins holds nothing else.
    Value counts = bits < 63 && (int64_t{1} << bits) <= bins
                       ? e.Bool(true)
                       : e.Compare(LLVM::ICmpPredicate::ult, values[r], e.Int(bins, bits));
    if (!masks.empty()) counts = e.And(counts, masks[masks.size() == 1 ? 0 : r]);
    if (first_copy) counts = e.And(counts, first_copy);
    Value index = bits < 32 ? e.ZExt(values[r], 32) : e.Trunc(values[r], 32);
    Value slot = e.Gep(base, counter, e.Select(counts, index, e.Int(0)));
    LLVM::AtomicRMWOp::create(e.b, e.loc, LLVM::AtomicBinOp::add, slot, e.ZExt(counts, width),
                              LLVM::AtomicOrdering::monotonic);
  }
  f.SharedBarrier();
  const LinearLayout& layout = f.LayoutOf(type);
  Values results;
  for (int r = 0; r < layout.InSize("register"); ++r) {
    Value at = f.Coordinate(layout, "dim0", f.ThreadPart(layout, "dim0"), layout.ApplyNamed({{"register", r}})[0]);
    results.push_back(LoadVector(e, e.Gep(base, counter, at), counter, 1)[0]);
  }
  f.Set(op, results);
  return mlir::success();
}

}  // namespace

void AddHistograms(LoweringTable& table) { table.Add<tt::HistogramOp>(LowerHistogram); }

}  // namespace tritond::compiler
