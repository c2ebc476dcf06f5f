// SPDX-License-Identifier: Apache-2.0
// A tensor map is 128 bytes of the program's own memory, filled before anything else. Each is made by another warp, as
// most of the time goes by in waiting:
//
//   %m = ttg.global_scratch_alloc {nbytes = 128}, %s = ttg.local_alloc
//   ttng.tensormap_create %m, %base, [64, 128], [%columns, %rows], [%stride * 2], [1, 1] slot %s  // the innermost
//   first ttng.tensormap_fenceproxy_acquire %m %d = ttng.reinterpret_tensor_descriptor %m
//
// Boxes are as wide as the swizzle of the buffer, as tensor_maps.cc copies them.
#include "compiler/targets/nvidia/tensor_map_maker.h"

#include "compiler/targets/nvidia/tensor_boxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Value;

constexpr int kMapBytes = 128;

mlir::Block* EntryOf(mlir::Operation* op) { return &op->getParentOfType<tt::FuncOp>().getBody().front(); }

// PTX ISA, "tensormap.replace", elemtype: unsigned integers of this width.
int TypeNumber(int64_t bits) { return bits == 8 ? 0 : bits == 16 ? 1 : 2; }

// The same, swizzle_mode: none, 32, 64 or 128 bytes.
int SwizzleNumber(int64_t bytes) { return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3; }

// Sets `b` behind all that the maps say.
void SetBehind(mlir::OpBuilder& b, llvm::ArrayRef<CopiedBlock> blocks) {
  mlir::Operation* last = nullptr;
  auto add = [&](Value value) {
    if (mlir::Operation* op = value.getDefiningOp(); op && (!last || last->isBeforeInBlock(op))) last = op;
  };
  for (CopiedBlock each : blocks) {
    add(each.block.getBase());
    llvm::for_each(each.block.getShape(), add);
    llvm::for_each(each.block.getStrides(), add);
  }
  last ? b.setInsertionPointAfter(last) : b.setInsertionPointToStart(EntryOf(tt::BlockMaskOp(blocks.front().block)));
}

Value MakeSlot(mlir::OpBuilder& b, mlir::Location loc) {
  mlir::MLIRContext* context = b.getContext();
  auto encoding = ttg::SwizzledSharedEncodingAttr::get(context, 1, 1, 1, {0});
  auto type = ttg::MemDescType::get(context, {kMapBytes}, b.getI8Type(), encoding,
                                    ttg::SharedMemorySpaceAttr::get(context), /*mutableMemory=*/true, {kMapBytes});
  return ttg::LocalAllocOp::create(b, loc, type, Value(), b.getI32IntegerAttr(kMapBytes));
}

// Writes the map, by one of the warps.
Value Create(mlir::OpBuilder& b, tt::BlockMaskOp block, ttg::MemDescType buffer, int warp) {
  mlir::Location loc = block.getLoc();
  const int64_t bits = buffer.getElementType().getIntOrFloatBitWidth();
  auto i32 = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 32); };
  llvm::SmallVector<Value> box, sizes, strides;
  for (int64_t size : llvm::reverse(ttng::BoxOf(block.getBlock(), buffer))) box.push_back(i32(size));
  for (Value size : llvm::reverse(block.getShape()))
    sizes.push_back(arith::TruncIOp::create(b, loc, b.getI32Type(), size));
  Value bytes = arith::ConstantIntOp::create(b, loc, bits / 8, 64);
  for (Value stride : llvm::reverse(block.getStrides().drop_back()))
    strides.push_back(arith::MulIOp::create(b, loc, stride, bytes));
  llvm::SmallVector<Value> ones(box.size(), i32(1));
  auto type = tt::PtrType::get(b.getIntegerType(8));
  Value map = ttg::GlobalScratchAllocOp::create(b, loc, type, kMapBytes, kMapBytes, nullptr, nullptr, nullptr);
  ttng::TensormapCreateOp::create(b, loc, map, block.getBase(), box, sizes, strides, ones, MakeSlot(b, loc),
                                  TypeNumber(bits), /*interleave_layout=*/0,
                                  SwizzleNumber(ttng::SwizzleBytesOf(buffer)), /*fill_mode=*/0, warp);
  return map;
}

llvm::SmallVector<const void*> KeyOf(const CopiedBlock& copied) {
  tt::BlockMaskOp block = copied.block;
  ttg::MemDescType buffer = copied.buffer;
  llvm::SmallVector<const void*> key = {block.getBase().getAsOpaquePointer(), buffer.getEncoding().getAsOpaquePointer(),
                                        buffer.getElementType().getAsOpaquePointer(),
                                        block.getBlockAttr().getAsOpaquePointer()};
  for (Value size : block.getShape()) key.push_back(size.getAsOpaquePointer());
  for (Value stride : block.getStrides()) key.push_back(stride.getAsOpaquePointer());
  return key;
}

}  // namespace

bool CanMakeTensorMap(tt::BlockMaskOp block, ttg::MemDescType buffer) {
  auto is_at_hand = [entry = EntryOf(block)](Value value) { return value.getParentBlock() == entry; };
  return is_at_hand(block.getBase()) && llvm::all_of(block.getShape(), is_at_hand) &&
         llvm::all_of(block.getStrides(), is_at_hand) && ttng::IsMadeOfBoxes(block.getBlock(), buffer);
}

void TensorMapMaker::Make(llvm::ArrayRef<CopiedBlock> blocks) {
  llvm::SmallVector<CopiedBlock> missing;
  for (const CopiedBlock& each : blocks)
    if (made_.insert({KeyOf(each), Value()}).second) missing.push_back(each);
  if (missing.empty()) return;
  mlir::OpBuilder b(missing.front().block.getContext());
  SetBehind(b, missing);
  llvm::SmallVector<Value> maps;
  for (auto [i, each] : llvm::enumerate(missing))
    maps.push_back(Create(b, each.block, each.buffer, static_cast<int>(i)));
  mlir::Location loc = missing.front().block.getLoc();
  for (Value map : maps) ttng::TensormapFenceproxyAcquireOp::create(b, loc, map);
  for (auto [map, each] : llvm::zip(maps, missing)) {
    auto block = mlir::RankedTensorType::get(each.block.getBlock(), each.buffer.getElementType());
    made_[KeyOf(each)] =
        ttng::ReinterpretTensorDescOp::create(b, loc, tt::TensorDescType::get(b.getContext(), block), map);
  }
}

Value TensorMapMaker::MapFor(const CopiedBlock& block) const { return made_.lookup(KeyOf(block)); }

}  // namespace tritond::compiler
