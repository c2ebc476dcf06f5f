// SPDX-License-Identifier: Apache-2.0
// tt.gather, by the way that PlanGather chooses. An index outside the axis is undefined; it wraps, so that nothing
// beyond the tensor is read.
//
//   kMoves     %j = the neighbours at a distance, say: registers change their names, those of other lanes are shuffled
//   kShuffles  each register that may hold an element is shuffled from the lane that the index names; selects among
//              them
//   kShared    the source goes to shared memory in row-major order, then every thread reads the elements that its
//              indices name. Its warp waits for nobody else where it holds all that it wants.
//
// There, where indices are computed, as in tl.gather(x, i - shift), lanes often read at the distance at which they hold
// elements themselves. A thread of four neighbours is four words from the next one, so that 32 lanes meet in 8 banks.
// Then higher bits of an offset change its lowest ones: offset ^ (offset >> shift & mask).
#include "compiler/analysis/computed_values.h"
#include "compiler/analysis/gather_plan.h"
#include "compiler/analysis/scratch.h"
#include "compiler/layout/shared_swizzle.h"
#include "compiler/lowering/lane_gathers.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

// (register, lane, warp, block) -> row-major offset.
LinearLayout RowMajorOffsets(const LinearLayout& layout) {
  auto names = layout.OutNames();
  std::reverse(names.begin(), names.end());
  return layout.TransposeOuts(names).FlattenOuts("offset");
}

// How offsets are spread over banks.
struct BankSpread {
  int shift = 0, mask = 0;

  int Of(int offset) const { return offset ^ (offset >> shift & mask); }
  LinearLayout Of(const LinearLayout& to_offset) const {
    LinearLayout::Columns columns = to_offset.columns();
    for (uint64_t& column : columns) column = static_cast<uint64_t>(Of(static_cast<int>(column)));
    return LinearLayout::FromColumns(to_offset.InDims(), to_offset.OutDims(), columns);
  }
  Value Of(Emitter& e, Value offset) const {
    if (mask == 0) return offset;
    return e.Xor(offset, e.And(e.LShr(offset, shift), e.Int(mask)));
  }
};

// The spread with the fewest conflicts where each thread reads what is at the offsets of its own elements. Words of a
// bank stay whole.
BankSpread ChooseSpread(const LinearLayout& own, int element_bits, const SharedMemoryShape& shape) {
  constexpr int kMostSpread = 3;  // bits: lanes that are eight words apart
  const int word_bits = std::max(element_bits, shape.word_bits);
  const int in_word = llvm::Log2_32(word_bits / element_bits);
  BankSpread best;
  best.shift = llvm::Log2_32(shape.banks * shape.word_bits / word_bits);
  int64_t fewest = CountBankConflicts(own, element_bits, /*vec=*/1, shape);
  for (int bits = 1; bits <= kMostSpread && fewest > 0; ++bits) {
    BankSpread spread{best.shift, ((1 << bits) - 1) << in_word};
    const int64_t conflicts = CountBankConflicts(spread.Of(own), element_bits, /*vec=*/1, shape);
    if (conflicts >= fewest) continue;
    fewest = conflicts;
    best = spread;
  }
  return best;
}

// The indices as i32, inside of the axis.
Values IndicesOf(FunctionLowering& f, tt::GatherOp op) {
  Emitter& e = f.e;
  const int64_t size = llvm::cast<RankedTensorType>(op.getSrc().getType()).getDimSize(op.getAxis());
  Values indices;
  for (Value index : f.Get(op.getIndices())) {
    const unsigned bits = index.getType().getIntOrFloatBitWidth();
    indices.push_back(e.And(bits < 32 ? e.ZExt(index, 32) : e.Trunc(index, 32), e.Int(size - 1)));
  }
  return indices;
}

// `in_warp`: each warp holds what it wants.
Values ThroughSharedMemory(FunctionLowering& f, tt::GatherOp op, bool in_warp) {
  Emitter& e = f.e;
  auto src_type = llvm::cast<RankedTensorType>(op.getSrc().getType());
  auto type = llvm::cast<RankedTensorType>(op.getType());
  mlir::Type element = f.ConvertType(type.getElementType()), stored = SharedType(e, element);
  Value base = f.ScratchOf(op);
  const int bits = static_cast<int>(stored.getIntOrFloatBitWidth());
  BankSpread spread;
  if (type.getShape() == src_type.getShape() && IsComputed(op.getIndices()))
    spread = ChooseSpread(RowMajorOffsets(f.LayoutOf(type)), bits, f.target.SharedMemory());
  LinearLayout to_offset = spread.Of(RowMajorOffsets(f.LayoutOf(src_type)));
  StoreShared(f, to_offset, base, LargestAccess(to_offset, bits, 128), f.Get(op.getSrc()));
  in_warp ? f.WarpBarrier() : f.SharedBarrier();
  const LinearLayout& layout = f.LayoutOf(type);
  auto names = ttg::DimNames(type.getRank());
  Values results;
  for (auto [r, index] : llvm::enumerate(IndicesOf(f, op))) {
    Coordinates at = layout.ApplyNamed({{"register", static_cast<int>(r)}});
    Value offset = e.Int(0);
    for (int dim = 0; dim < type.getRank(); ++dim) {
      Value coordinate = dim == static_cast<int>(op.getAxis())
                             ? index
                             : f.Coordinate(layout, names[dim], f.ThreadPart(layout, names[dim]), at[dim]);
      offset = e.Add(e.Mul(offset, e.Int(src_type.getDimSize(dim))), coordinate);
    }
    results.push_back(FromShared(e, LoadVector(e, e.Gep(base, stored, spread.Of(e, offset)), stored, 1)[0], element));
  }
  return results;
}

LogicalResult LowerGather(FunctionLowering& f, tt::GatherOp op) {
  const GatherPlan plan = PlanGather(op);
  switch (plan.kind) {
    case GatherPlan::Kind::kMoves:
      f.Set(op.getResult(), MoveRegisters(f, plan.moves, f.Get(op.getSrc())));
      break;
    case GatherPlan::Kind::kShuffles:
      f.Set(op.getResult(), AskLanes(f, *plan.source, f.Get(op.getSrc()), IndicesOf(f, op)));
      break;
    case GatherPlan::Kind::kShared:
      f.Set(op.getResult(), ThroughSharedMemory(f, op, ScratchStaysInWarp(op)));
      break;
  }
  return mlir::success();
}

}  // namespace

void AddGathers(LoweringTable& table) { table.Add<tt::GatherOp>(LowerGather); }

}  // namespace tritond::compiler
