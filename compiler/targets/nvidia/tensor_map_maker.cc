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
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Value;

constexpr int kMapBytes = 128;

mlir::Block* EntryOf(mlir::Operation* op) { return &op->getParentOfType<tt::FuncOp>().getBody().front(); }

// PTX ISA, "tensormap.replace", elemtype: unsigned integers of this width.
int IntegerTypeNumber(int64_t bits) { return bits == 8 ? 0 : bits == 16 ? 1 : 2; }

// The same, swizzle_mode: none, 32, 64 or 128 bytes.
int SwizzleNumber(int64_t bytes) { return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3; }

// What the maps say, but for constants.
llvm::SmallVector<Value> PartsOf(llvm::ArrayRef<CopiedBlock> blocks) {
  llvm::SmallVector<Value> parts;
  for (const CopiedBlock& each : blocks) {
    tt::BlockMaskOp block = each.block;
    parts.push_back(block.getBase());
    llvm::append_range(parts, block.getShape());
    llvm::append_range(parts, block.getStrides());
    if (each.nan_flag) parts.push_back(each.nan_flag);
  }
  return parts;
}

// Moves `value`, which is at hand where the function begins, in front of `place`. False where it cannot.
bool MoveInFrontOf(Value value, mlir::Operation* place) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || op->isBeforeInBlock(place)) return true;
  if (!mlir::isPure(op) || op->getNumRegions() > 0) return false;
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return MoveInFrontOf(operand, place); })) return false;
  op->moveBefore(place);
  return true;
}

// A place in shared memory for a map, which it shares with no other one: they are made at once.
Value MakeSlot(mlir::Block* entry, mlir::Location loc) {
  mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(entry);
  return ttg::LocalAllocOp::create(b, loc, ttng::PlainBufferType({kMapBytes}, b.getI8Type()), Value(),
                                   b.getI32IntegerAttr(kMapBytes));
}

// Sets `b` behind all that the maps say; where there are maps already, in front of the first one's acquisition.
void SetBehind(mlir::OpBuilder& b, llvm::ArrayRef<CopiedBlock> blocks) {
  mlir::Block* entry = EntryOf(tt::BlockMaskOp(blocks.front().block));
  const llvm::SmallVector<Value> parts = PartsOf(blocks);
  auto acquisitions = entry->getOps<ttng::TensormapFenceproxyAcquireOp>();
  if (!acquisitions.empty()) {
    mlir::Operation* first = *acquisitions.begin();
    if (llvm::all_of(parts, [&](Value part) { return MoveInFrontOf(part, first); })) return b.setInsertionPoint(first);
  }
  mlir::Operation* last = nullptr;
  for (Value part : parts)
    if (mlir::Operation* op = part.getDefiningOp(); op && (!last || last->isBeforeInBlock(op))) last = op;
  last ? b.setInsertionPointAfter(last) : b.setInsertionPointToStart(entry);
}

// Writes the map, by one of the warps.
Value Create(mlir::OpBuilder& b, const CopiedBlock& copied, Value slot, int warp) {
  tt::BlockMaskOp block = copied.block;
  ttg::MemDescType buffer = copied.buffer;
  mlir::Location loc = block.getLoc();
  const int64_t bits = buffer.getElementType().getIntOrFloatBitWidth();
  auto i32 = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 32); };
  llvm::SmallVector<Value> box, sizes, strides;
  for (int64_t size : llvm::reverse(ttng::BoxOf(copied.sizes, buffer))) box.push_back(i32(size));
  for (Value size : llvm::reverse(block.getShape()))
    sizes.push_back(arith::TruncIOp::create(b, loc, b.getI32Type(), size));
  Value bytes = arith::ConstantIntOp::create(b, loc, bits / 8, 64);
  for (Value stride : llvm::reverse(block.getStrides().drop_back()))
    strides.push_back(arith::MulIOp::create(b, loc, stride, bytes));
  llvm::SmallVector<Value> ones(box.size(), i32(1));
  auto type = tt::PtrType::get(b.getIntegerType(8));
  Value map = ttg::GlobalScratchAllocOp::create(b, loc, type, kMapBytes, kMapBytes, nullptr, nullptr, nullptr);
  const int any_type = copied.nan_flag ? TypeNumber(buffer.getElementType()) : IntegerTypeNumber(bits);
  const int type_number = copied.type_number.value_or(any_type);
  ttng::TensormapCreateOp::create(b, loc, map, block.getBase(), box, sizes, strides, ones, slot, copied.nan_flag,
                                  type_number, /*interleave_layout=*/0, SwizzleNumber(ttng::SwizzleBytesOf(buffer)),
                                  /*fill_mode=*/0, warp);
  return map;
}

llvm::SmallVector<const void*> KeyOf(const CopiedBlock& copied) {
  tt::BlockMaskOp block = copied.block;
  ttg::MemDescType buffer = copied.buffer;
  llvm::SmallVector<const void*> key = {block.getBase().getAsOpaquePointer(), buffer.getEncoding().getAsOpaquePointer(),
                                        buffer.getElementType().getAsOpaquePointer()};
  key.push_back(mlir::DenseI64ArrayAttr::get(block.getContext(), copied.sizes).getAsOpaquePointer());
  for (Value size : block.getShape()) key.push_back(size.getAsOpaquePointer());
  for (Value stride : block.getStrides()) key.push_back(stride.getAsOpaquePointer());
  key.push_back(copied.nan_flag.getAsOpaquePointer());
  mlir::Builder b(block.getContext());
  key.push_back(copied.type_number ? b.getI32IntegerAttr(*copied.type_number).getAsOpaquePointer() : nullptr);
  return key;
}

}  // namespace

int TypeNumber(mlir::Type element) {
  if (element.isF16()) return 6;
  if (element.isBF16()) return 10;
  if (element.isF32()) return 7;
  return IntegerTypeNumber(element.getIntOrFloatBitWidth());
}

bool CanMakeTensorMap(const CopiedBlock& copied) {
  tt::BlockMaskOp block = copied.block;
  ttg::MemDescType buffer = copied.buffer;
  if (copied.nan_flag && buffer.getElementType().getIntOrFloatBitWidth() == 8) return false;
  auto is_at_hand = [entry = EntryOf(block)](Value value) { return value.getParentBlock() == entry; };
  return is_at_hand(block.getBase()) && llvm::all_of(block.getShape(), is_at_hand) &&
         llvm::all_of(block.getStrides(), is_at_hand) && (!copied.nan_flag || is_at_hand(copied.nan_flag)) &&
         ttng::IsMadeOfBoxes(copied.sizes, copied.buffer);
}

void TensorMapMaker::Make(llvm::ArrayRef<CopiedBlock> blocks) {
  llvm::SmallVector<CopiedBlock> missing;
  for (const CopiedBlock& each : blocks)
    if (made_.insert({KeyOf(each), Value()}).second) missing.push_back(each);
  if (missing.empty()) return;
  tt::BlockMaskOp front = missing.front().block;
  auto made = EntryOf(front)->getOps<ttng::TensormapCreateOp>();
  const auto made_before = static_cast<int>(std::distance(made.begin(), made.end()));
  mlir::OpBuilder b(front.getContext());
  SetBehind(b, missing);
  llvm::SmallVector<Value> maps;
  for (auto [i, each] : llvm::enumerate(missing)) {
    Value slot = MakeSlot(EntryOf(front), front.getLoc());
    maps.push_back(Create(b, each, slot, made_before + static_cast<int>(i)));
  }
  for (Value map : maps) ttng::TensormapFenceproxyAcquireOp::create(b, front.getLoc(), map);
  // Maps that are taken together have one barrier.
  while (b.getInsertionPoint() != b.getInsertionBlock()->end() &&
         llvm::isa<ttng::TensormapFenceproxyAcquireOp>(*b.getInsertionPoint()))
    b.setInsertionPointAfter(&*b.getInsertionPoint());
  for (auto [map, each] : llvm::zip(maps, missing)) {
    auto block = mlir::RankedTensorType::get(each.sizes, each.buffer.getElementType());
    made_[KeyOf(each)] =
        ttng::ReinterpretTensorDescOp::create(b, front.getLoc(), tt::TensorDescType::get(b.getContext(), block), map);
  }
}

Value TensorMapMaker::MapFor(const CopiedBlock& block) const { return made_.lookup(KeyOf(block)); }

}  // namespace tritond::compiler
