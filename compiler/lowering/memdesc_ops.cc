// SPDX-License-Identifier: Apache-2.0
// Buffers in shared memory: their loads and stores by any encoding on either side, and views of them.
//
// Where a tensor's elements lie follows from the two linear layouts: X with buffer(X(register, lane, warp)) =
// tensor(…). As all of this is linear, a part of a buffer is one more offset to XOR, however swizzled the buffer is:
//
//   %p = ttg.memdesc_subslice %b[8, 0]         {base of %b, offset of element (8, 0)}
//   %t = ttg.memdesc_trans %p                  the same; only the type's layout changes
//   %i = ttg.memdesc_index %b[%n]              {base + n * stride}: buffers of a row stand one after the other
#include "compiler/layout/layout_algebra.h"
#include "compiler/layout/shared_swizzle.h"
#include "compiler/lowering/shared_access.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

// Elements of the widest access that both layouts and the place permit.
int AccessSize(const LinearLayout& to_offset, const SharedPlace& place, mlir::Type stored) {
  return std::min(LargestAccess(to_offset, stored.getIntOrFloatBitWidth(), 128), place.run);
}

LogicalResult StoreToBuffer(FunctionLowering& f, mlir::Operation* op, Value src, Value buffer) {
  auto to_offset =
      OffsetsIn(f, op, llvm::cast<RankedTensorType>(src.getType()), llvm::cast<ttg::MemDescType>(buffer.getType()));
  if (failed(to_offset)) return mlir::failure();
  ValueList values = f.Get(src);
  SharedPlace place = PlaceOf(f, buffer);
  StoreShared(f, *to_offset, place, AccessSize(*to_offset, place, SharedType(f.e, values[0].getType())), values);
  return mlir::success();
}

LogicalResult LowerLocalAlloc(FunctionLowering& f, ttg::LocalAllocOp op) {
  f.Set(op, {f.ScratchOf(op)});
  return op.getSrc() ? StoreToBuffer(f, op, op.getSrc(), op) : mlir::success();
}

LogicalResult LowerLocalStore(FunctionLowering& f, ttg::LocalStoreOp op) {
  return StoreToBuffer(f, op, op.getSrc(), op.getDst());
}

LogicalResult LowerLocalLoad(FunctionLowering& f, ttg::LocalLoadOp op) {
  auto type = llvm::cast<RankedTensorType>(op.getType());
  auto to_offset = OffsetsIn(f, op, type, op.getSrc().getType());
  if (failed(to_offset)) return mlir::failure();
  mlir::Type element = f.ConvertType(type.getElementType());
  SharedPlace place = PlaceOf(f, op.getSrc());
  place.is_operand = llvm::isa<ttg::DotOperandEncodingAttr>(type.getEncoding());
  f.Set(op.getResult(),
        LoadShared(f, *to_offset, place, AccessSize(*to_offset, place, SharedType(f.e, element)), element));
  return mlir::success();
}

LogicalResult LowerLocalDealloc(FunctionLowering&, ttg::LocalDeallocOp) { return mlir::success(); }

LogicalResult LowerIndex(FunctionLowering& f, ttg::MemDescIndexOp op) {
  Emitter& e = f.e;
  ttg::MemDescType one = op.getType();
  int64_t elements = ttg::BufferElements(one), stride = ttg::PaddedOffset(elements, ttg::PaddingOf(one));
  ValueList src = f.Get(op.getSrc());
  Value index = f.Scalar(op.getIndex()), inside;
  if (src.size() == 2) {  // of a part: the offset says which buffer it begins with, and where in each
    index = e.Add(index, e.LShr(src[1], llvm::Log2_64(elements)));
    inside = e.And(src[1], e.Int(elements - 1));
  }
  mlir::Type stored = SharedType(e, f.ConvertType(one.getElementType()));
  Values result{e.Gep(src[0], stored, e.Mul(index, e.Int(stride)))};
  if (!ttg::HasAllocShape(one)) result.push_back(inside);
  f.Set(op, result);
  return mlir::success();
}

LogicalResult LowerSubslice(FunctionLowering& f, ttg::MemDescSubsliceOp op) {
  Emitter& e = f.e;
  ValueList src = f.Get(op.getSrc());
  auto inverse = PseudoInvert(ttg::ToLinearLayout(op.getSrc().getType()));
  if (!inverse.ok()) return op.emitOpError() << "cannot be addressed: " << std::string(inverse.status().message());
  int32_t first = 0;
  for (auto [dim, name] : llvm::enumerate(ttg::DimNames(op.getOffsets().size())))
    for (int bit = 0; bit < inverse->InBits(name); ++bit)
      if ((op.getOffsets()[dim] >> bit) & 1) first ^= inverse->Basis(name, bit, "offset");
  Values result{src[0]};
  if (!ttg::HasAllocShape(op.getType())) result.push_back(src.size() == 2 ? e.Xor(src[1], e.Int(first)) : e.Int(first));
  f.Set(op, result);
  return mlir::success();
}

// Views that have another type alone.
template <typename Op>
LogicalResult LowerRetyped(FunctionLowering& f, Op op) {
  f.Set(op, f.Get(op.getSrc()));
  return mlir::success();
}

}  // namespace

void AddMemDescOps(LoweringTable& table) {
  table.Add<ttg::LocalAllocOp>(LowerLocalAlloc);
  table.Add<ttg::LocalStoreOp>(LowerLocalStore);
  table.Add<ttg::LocalLoadOp>(LowerLocalLoad);
  table.Add<ttg::LocalDeallocOp>(LowerLocalDealloc);
  table.Add<ttg::MemDescIndexOp>(LowerIndex);
  table.Add<ttg::MemDescSubsliceOp>(LowerSubslice);
  table.Add<ttg::MemDescTransOp>(LowerRetyped);
  table.Add<ttg::MemDescReshapeOp>(LowerRetyped);
  table.Add<ttg::MemDescReinterpretOp>(LowerRetyped);
}

}  // namespace tritond::compiler
