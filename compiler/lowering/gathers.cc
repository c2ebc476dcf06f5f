// SPDX-License-Identifier: Apache-2.0
// tt.gather: the source goes to shared memory in row-major order, then every thread reads the elements that its indices
// name. An index outside the axis is undefined; it wraps, so that nothing beyond the tensor is read.
#include "compiler/layout/shared_swizzle.h"
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

LogicalResult LowerGather(FunctionLowering& f, tt::GatherOp op) {
  Emitter& e = f.e;
  auto src_type = llvm::cast<RankedTensorType>(op.getSrc().getType());
  auto type = llvm::cast<RankedTensorType>(op.getType());
  mlir::Type element = f.ConvertType(type.getElementType()), stored = SharedType(e, element);
  Value base = f.ScratchOf(op);
  LinearLayout to_offset = RowMajorOffsets(f.LayoutOf(src_type));
  StoreShared(f, to_offset, base, LargestAccess(to_offset, stored.getIntOrFloatBitWidth(), 128), f.Get(op.getSrc()));
  f.SharedBarrier();
  const LinearLayout& layout = f.LayoutOf(type);
  auto names = ttg::DimNames(type.getRank());
  ValueList indices = f.Get(op.getIndices());
  Values results;
  for (int32_t r = 0; r < layout.InSize("register"); ++r) {
    Coordinates at = layout.ApplyNamed({{"register", r}});
    Value offset = e.Int(0);
    for (int dim = 0; dim < type.getRank(); ++dim) {
      int64_t size = src_type.getDimSize(dim);
      Value coordinate;
      if (dim == static_cast<int>(op.getAxis())) {
        unsigned bits = indices[r].getType().getIntOrFloatBitWidth();
        Value index = bits < 32 ? e.ZExt(indices[r], 32) : e.Trunc(indices[r], 32);
        coordinate = e.And(index, e.Int(size - 1));
      } else {
        coordinate = f.Coordinate(layout, names[dim], f.ThreadPart(layout, names[dim]), at[dim]);
      }
      offset = e.Add(e.Mul(offset, e.Int(size)), coordinate);
    }
    results.push_back(FromShared(e, LoadVector(e, e.Gep(base, stored, offset), stored, 1)[0], element));
  }
  f.Set(op.getResult(), results);
  return mlir::success();
}

}  // namespace

void AddGathers(LoweringTable& table) { table.Add<tt::GatherOp>(LowerGather); }

}  // namespace tritond::compiler
