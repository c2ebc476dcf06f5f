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
// elements themselves. So the source is spread over the banks (BankSpread).
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
  const BankSpread spread = SpreadOfGather(op, f.LayoutOf(type), f.target.SharedMemory());
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
    results.push_back(
        FromShared(e, LoadVector(e, e.Gep(base, stored, SpreadOf(e, spread, offset)), stored, 1)[0], element));
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
